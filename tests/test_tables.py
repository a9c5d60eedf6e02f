"""Tables: what columns are taken for, and how they are encoded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from semiordinal import LinearOrdinalClassifier
from semiordinal._tables.columns import ColumnChoice, choose_columns
from semiordinal._tables.dates import to_days
from semiordinal._tables.encoding import encoded_names, table_pipeline
from semiordinal._tables.orders import suggest_order
from semiordinal._tables.target import read_target

N = 60
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (RNG.normal(size=N), "numbers"),
        (np.arange(N) % 7, "numbers"),
        ([f" {v:.2f} " for v in RNG.normal(size=N)], "numbers"),
        (["1e3", "-2", "NA", ""] * 15, "numbers"),
        ([1, None, 3] * 20, "numbers"),
        (["2024-01-31", "2023-12-01", ""] * 20, "dates"),
        (["2024-01-31 10:00", "2023-12-01T08:30:00Z", ""] * 20, "dates"),
        (["31/12/2023", "01/02/2024"] * 30, "dates"),
        (["11.12.2023", "01.02.2024"] * 30, "dates"),
        (pd.date_range("2020-01-01", periods=N), "dates"),
        (pd.date_range("2020-01-01", periods=N, tz="Asia/Tokyo"), "dates"),
        (["a", "b", "NA"] * 20, "categories"),
        ([True, False] * 30, "categories"),
        (["01", "02", "10"] * 20, "categories"),
        (pd.Categorical(["a", "b"] * 30), "categories"),
        (["1", "2", "x"] * 20, "categories"),
    ],
    ids=str,
)
def test_kinds(values, kind):
    choice = choose_columns(pd.DataFrame({"c": values}))
    assert getattr(choice, kind) == ["c"], choice


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("customer_id", RNG.permutation(10**6)[:N], "id"),
        ("userId", [f"u{i}" for i in range(N)], "id"),
        ("anything", np.arange(N)[::-1] + 1000, "counts the rows"),
        ("comment", [f"they said {i}" for i in range(N)], "free text"),
        ("empty", [None] * N, "empty"),
        ("same", ["x", ""] * 30, "never changes"),
        ("day", ["11/12/2023", "01/02/2024"] * 30, "--day-first"),
        ("wait", pd.to_timedelta(np.arange(N), unit="D"), "durations"),
    ],
    ids=str,
)
def test_columns_of_no_use(name, values, reason):
    choice = choose_columns(pd.DataFrame({name: values}))
    assert reason in choice.dropped[name]
    assert choice.features == []


def test_distinct_numbers_are_not_all_ids():
    choice = choose_columns(pd.DataFrame({"income": RNG.permutation(10**6)[:N]}))
    assert choice.numbers == ["income"]


def test_dates_are_days_wherever_they_come_from():
    texts = pd.Series(["2024-03-01", "2024-03-02 12:00", None])
    stamps = pd.to_datetime(texts, format="ISO8601")
    for column in (texts, stamps, stamps.dt.tz_localize("UTC"), texts.astype("category")):
        found = to_days(column)
        assert found[1] - found[0] == 1.5
        assert np.isnan(found[2])


def test_rare_categories_share_a_column_and_names_fit():
    """150 categories: every name stands over the column that its category sets."""
    many = [f"c{i:03d}" for i in range(150)]
    common = many[::2]
    frame = pd.DataFrame({"x": np.arange(450) % 5, "c": many + common * 4})
    frame["x"] = frame["x"].astype(float)
    y = (np.arange(450) % 3).astype(float)
    choice = ColumnChoice(numbers=["x"], categories=["c"])
    pipeline = table_pipeline(choice, LinearOrdinalClassifier()).fit(frame, y)
    names = encoded_names(pipeline)
    assert len(names) == len(pipeline[-1].coef_) == 101
    for category in (common[0], common[-1], many[1]):
        row = pd.DataFrame({"x": [0.0], "c": [category]})
        encoded = pipeline[:-1].transform(row)
        encoded = encoded.toarray() if hasattr(encoded, "toarray") else encoded
        set_names = [name for name, value in zip(names, encoded[0], strict=True) if value]
        expected = f"c = {category}" if f"c = {category}" in names else "c = (rare)"
        assert set_names == [expected]
    assert "c = (rare)" in names


def test_the_pipeline_can_be_cloned_and_filled_gaps_are_medians():
    frame = pd.DataFrame({"x": ["1", "2", "9", ""], "c": ["a", "", "a", "b"]})
    choice = ColumnChoice(numbers=["x"], categories=["c"])
    pipeline = clone(table_pipeline(choice, LinearOrdinalClassifier())).fit(frame, [1, 2, 2, 1])
    encoded = np.asarray(pipeline[:-1].transform(frame))
    np.testing.assert_array_equal(encoded[:, 0], [1, 2, 9, 2])
    assert encoded_names(pipeline) == ["x", "c = (missing)", "c = a", "c = b"]
    np.testing.assert_array_equal(encoded[:, 1:].sum(axis=1), 1)


@pytest.mark.parametrize(
    ("column", "classes", "labels"),
    [
        (pd.Series(["3", "", "1", "2"]), [1, 2, 3], [3, None, 1, 2]),
        (pd.Series([2.0, np.nan, 1.0]), [1, 2], [2, None, 1]),
        (pd.Series([0.5, 1.0, None]), [0.5, 1.0], [0.5, 1.0, None]),
        (pd.Series([True, False, True]), ["False", "True"], ["True", "False", "True"]),
        (pd.Series([2, 1, None], dtype="Int64"), [1, 2], [2, 1, None]),
        (
            pd.Series(pd.Categorical(["b", None, "a"], ["b", "a"], ordered=True)),
            ["b", "a"],
            ["b", None, "a"],
        ),
    ],
    ids=str,
)
def test_targets(column, classes, labels):
    target = read_target(column)
    assert target.classes == classes
    assert target.labels.tolist() == labels
    assert [type(c) for c in target.classes] == [type(c) for c in classes]


@pytest.mark.parametrize(
    "order",
    [
        ["poor", "fair", "good", "excellent"],
        ["very low", "low", "medium", "high", "very high"],
        ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
        ["none", "mild", "moderate", "severe"],
        ["grade 2", "grade 9", "grade 10"],
    ],
    ids=str,
)
def test_suggested_orders(order):
    assert suggest_order(set(order)) == order
