"""Class order and missing labels, in every dress that labels come in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semiordinal._rows.labels import ClassOrderWarning, encode_labels, known_codes

NUMBERS = [
    np.array([3.0, np.nan, 1.0, 7.0]),
    [3, None, 1, 7],
    np.array([3, None, 1, 7], dtype=object),
    pd.Series([3, None, 1, 7]),
    pd.Series([3, pd.NA, 1, 7], dtype="Int64"),
    pd.Series([3, None, 1, 7], dtype="float64"),
    pl.Series([3, None, 1, 7]),
    pl.Series([3.0, None, 1.0, 7.0]),
]


@pytest.mark.parametrize(
    "y", NUMBERS, ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', '')}"
)
def test_numbers_by_value(y):
    labels = encode_labels(y)
    np.testing.assert_array_equal(labels.codes, [1, -1, 0, 2])
    np.testing.assert_array_equal(labels.classes.astype(float), [1, 3, 7])


NAMES = [
    ["mid", None, "low", "high"],
    np.array(["mid", None, "low", "high"], dtype=object),
    np.array(["mid", np.nan, "low", "high"], dtype=object),
    pd.Series(["mid", None, "low", "high"]),
    pd.Series(["mid", pd.NA, "low", "high"], dtype="string"),
    pl.Series(["mid", None, "low", "high"]),
]


@pytest.mark.parametrize(
    "y", NAMES, ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', '')}"
)
def test_names_by_the_order_given(y):
    labels = encode_labels(y, classes=["low", "mid", "high"])
    np.testing.assert_array_equal(labels.codes, [1, -1, 0, 2])
    with pytest.warns(ClassOrderWarning, match="high, low, mid"):
        assert list(encode_labels(y).classes) == ["high", "low", "mid"]


def test_names_that_say_none_are_labels():
    assert encode_labels(["None", "nan"], classes=["nan", "None"]).codes.tolist() == [1, 0]


ORDERED = [
    pd.Series(pd.Categorical(["b", None, "a"], categories=["b", "a", "z"], ordered=True)),
    pd.Categorical(["b", None, "a"], categories=["b", "a", "z"], ordered=True),
    pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a", "z"])),
]


@pytest.mark.parametrize("y", ORDERED, ids=lambda y: type(y).__module__)
def test_ordered_categoricals_by_their_own_order(y):
    labels = encode_labels(y)
    np.testing.assert_array_equal(labels.codes, [0, -1, 1])
    assert list(labels.classes) == ["b", "a", "z"]


def test_two_names_need_no_order():
    assert list(encode_labels(["yes", "no", None]).classes) == ["no", "yes"]


def test_missing_label_beside_nan():
    labels = encode_labels(np.array([-1.0, 2.0, np.nan, 0.0]), missing_label=-1)
    np.testing.assert_array_equal(labels.codes, [-1, 1, -1, 0])
    assert encode_labels(["?", "a", "b"], missing_label="?").codes.tolist() == [-1, 0, 1]


def test_minus_one_among_negative_labels_is_a_label():
    labels = encode_labels([-2, -1, 0, 1])
    assert labels.classes.tolist() == [-2, -1, 0, 1]


def test_half_stars_are_classes():
    labels = encode_labels(np.array([1.0, 1.5, 4.5, np.nan]))
    assert labels.codes.tolist() == [0, 1, 2, -1]


def test_far_apart_numbers():
    labels = encode_labels(np.array([10**12, 5, 5, 10**6]))
    assert labels.codes.tolist() == [2, 0, 0, 1]


def test_booleans():
    assert encode_labels(np.array([True, False])).codes.tolist() == [1, 0]


def test_dtype_of_the_classes_is_kept():
    assert encode_labels(np.array([3, 1], dtype=np.int8)).classes.dtype == np.int8
    assert encode_labels(np.array([3.0, 1.0], dtype=np.float32)).classes.dtype == np.float32


def test_dates_without_a_date_are_missing():
    labels = encode_labels(np.array(["2020-01-01", "NaT", "2019-01-01"], dtype="datetime64[D]"))
    assert labels.codes.tolist() == [1, -1, 0]


def test_infinity_among_objects():
    with pytest.raises(ValueError, match="infinity"):
        encode_labels(np.array([1.0, np.inf, None], dtype=object))


@pytest.mark.parametrize("y", ORDERED[:1] + ORDERED[2:], ids=["pandas", "polars"])
def test_a_frame_of_one_column_is_that_column(y):
    labels = encode_labels(y.to_frame(name="y"))
    np.testing.assert_array_equal(labels.codes, [0, -1, 1])
    assert list(labels.classes) == ["b", "a", "z"]


def test_classes_of_several_types():
    labels = encode_labels(np.array(["a", 1, None], dtype=object), classes=[1, "a"])
    assert labels.codes.tolist() == [1, 0, -1]


def test_labels_that_a_model_does_not_know():
    with pytest.raises(ValueError, match=r"does not know: 9\..*classes 1, 2"):
        known_codes([1, 9], np.array([1, 2]))
    assert known_codes([np.nan, np.nan], np.array([1, 2])).tolist() == [-1, -1]
