"""Tables drawn at random: CSV, Parquet and batches hold the same, and every row has an answer."""

from __future__ import annotations

import csv
import io
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("hypothesis", reason="of the extra dev")
from hypothesis import assume, given
from hypothesis import strategies as st

from cli_problems import done, few_folds, semiordinal
from property_settings import examples
from semiordinal._tables.columns import choose_columns
from semiordinal._tables.encoding import typed_columns
from semiordinal._tables.reading import TableError, TableFile
from semiordinal._tables.target import TargetReading, read_labels
from semiordinal._tables.writing import escape_formulas

# All but halves of pairs, which no file holds, and NUL, which is refused.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.text(CHARACTERS, max_size=6)
WORDS = st.sampled_from(["", "NA", "None", "nan", " ", "01", "1", "-1.0", "1e3", "a", "now", "é"])
NAMES = st.text(CHARACTERS, min_size=1, max_size=6)


def column(cells: st.SearchStrategy, dtype: object) -> st.SearchStrategy:
    """A function of the number of rows that draws a column."""
    return st.just(
        lambda n: st.lists(cells, min_size=n, max_size=n).map(lambda v: pd.Series(v, dtype=dtype))
    )


DATES = st.datetimes(pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01"))
FINITE = st.floats(allow_infinity=False, width=64)
COLUMNS = st.one_of(
    column(st.integers(-(2**63), 2**63 - 1), "int64"),
    column(st.none() | st.integers(-(2**63), 2**63 - 1), "Int64"),
    column(st.integers(-3, 3), "int8"),
    column(FINITE, "float64"),
    column(st.booleans(), "bool"),
    column(st.none() | st.booleans(), "boolean"),
    column(st.none() | TEXTS | WORDS, object),
    column(st.none() | WORDS, "category"),
    column(st.none() | DATES, "datetime64[us]"),
    column(DATES, "datetime64[us, UTC]"),
)


@st.composite
def tables(draw: st.DrawFn, min_columns: int = 1) -> pd.DataFrame:
    """A table of all types that pandas writes to both kinds of files."""
    n_rows = draw(st.integers(1, 12))
    names = draw(st.lists(NAMES, min_size=min_columns, max_size=5, unique=True))
    return pd.DataFrame({name: draw(draw(COLUMNS)(n_rows)) for name in names})


@st.composite
def texts(draw: st.DrawFn) -> pd.DataFrame:
    """A table of texts."""
    n_columns, n_rows = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    names = draw(st.lists(NAMES, min_size=n_columns, max_size=n_columns, unique=True))
    cells = st.lists(TEXTS | WORDS, min_size=n_columns, max_size=n_columns)
    return pd.DataFrame(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), columns=names)


@given(texts(), st.integers(1, 13), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n", "\r"]))
@examples(200)
def test_texts_come_back_as_they_were_written(frame, rows, delimiter, newline):
    """In one piece and in batches of any size; Python's own reader agrees."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "t.csv")
        frame.to_csv(
            path, index=False, sep=delimiter, lineterminator=newline, quoting=csv.QUOTE_ALL
        )
        file = TableFile(path)
        assert file.columns() == frame.columns.tolist()
        written = frame.to_numpy().tolist()
        assert file.read().to_numpy().tolist() == written
        batches = list(file.batches(file.columns(), rows))
        assert [cell for batch in batches for cell in batch.to_numpy().tolist()] == written
        last = file.columns()[-1]
        assert [x for b in file.batches([last], rows) for x in b[last]] == [x[-1] for x in written]
        with path.open(encoding="utf-8", newline="") as stream:
            assert list(csv.reader(stream, delimiter=delimiter))[1:] == written


SCRAPS = st.lists(st.sampled_from([*'abc ,,,,""', "\n", "\n", '"x,\ny"', "\t", "\xa0", "\v"]))


@given(st.integers(1, 3), SCRAPS.map("".join), st.integers(1, 13), st.booleans())
@examples(200)
def test_any_text_is_refused_or_read_as_python_reads_it(n_columns, text, rows, is_whole):
    """Stray quotation marks, rows of any length: no cell is left out or shifted."""
    text = ",".join(f"c{i}" for i in range(n_columns)) + "\n" + text
    if is_whole:  # which random texts of several columns hardly ever are
        text = "".join(
            f"{line}{',' * (n_columns - 1 - line.count(','))}\n" for line in text.splitlines()
        )
    lines, expected = csv.reader(io.StringIO(text, newline="")), []
    for row in lines:
        # Of several columns, a blank line without quotation marks is no row.
        if n_columns == 1 or text.split("\n")[lines.line_num - 1].strip(" \t"):
            expected.append(row or [""])
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "t.csv")
        path.write_text(text, encoding="utf-8", newline="")
        file, refusal, found = TableFile(path), "", []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # rows with fewer cells
                for batch in file.batches(file.columns(), rows):
                    found += batch.to_numpy().tolist()
        except TableError as error:
            refusal = str(error)
    is_wide = any(len(row) > n_columns for row in expected)
    is_open = bool(text.rpartition("\n")[2].strip(" \t"))
    is_cut = not is_wide and len(expected[-1]) < n_columns and is_open
    assert ("more than there are names" in refusal) == is_wide
    assert ("seems to be cut short" in refusal) == is_cut
    if not refusal:
        assert found == [row + [""] * (n_columns - len(row)) for row in expected[1:]]
    elif not is_wide and not is_cut:
        assert "EOF inside string" in refusal


@given(tables(), st.integers(1, 13))
@examples(200)
def test_csv_and_parquet_mean_the_same(frame, rows):
    """The same kinds of columns, and the same numbers and texts, whole or in batches."""
    with tempfile.TemporaryDirectory() as place:
        frame.to_csv(Path(place, "t.csv"), index=False, quoting=csv.QUOTE_NONNUMERIC)
        frame.to_parquet(Path(place, "t.parquet"))
        found = []
        choices = []
        for name in ("t.csv", "t.parquet"):
            file = TableFile(Path(place, name))
            whole = file.read()
            assert len(whole) == len(frame)
            choice = choose_columns(whole)
            choices.append(choice)
            typed = typed_columns(choices[0]).fit(None)
            found.append(typed.transform(whole))
            batches = file.batches(choices[0].features, rows) if choices[0].features else []
            parts = [typed.transform(batch) for batch in batches]
            if parts:
                pd.testing.assert_frame_equal(
                    pd.concat(parts, ignore_index=True), found[-1], check_dtype=False
                )
        assert choices[0] == choices[1]
        pd.testing.assert_frame_equal(found[0], found[1], check_dtype=False)


GRADES = st.one_of(
    st.integers(-(2**62), 2**62), st.integers(-1, 5), st.floats(-9, 9).map(lambda x: round(x, 1))
)


def labels_or_refusal(column: pd.Series, missing_label: str | None) -> list | str:
    """Of texts such as 1E100, which is a number, but no class."""
    try:
        return read_labels(column, TargetReading(missing_label=missing_label)).tolist()
    except TableError as error:
        return str(error)


@given(
    st.lists(st.none() | GRADES, min_size=1, max_size=12)
    | st.lists(st.none() | WORDS | TEXTS, min_size=1, max_size=12),
    st.sampled_from([None, "-1", "-1.0", "NA", "a"]),
)
@examples(200)
def test_labels_are_those_that_were_written(labels, missing_label):
    """From CSV and Parquet, against what Python itself makes of each cell."""
    is_text = any(isinstance(label, str) for label in labels)
    whole = all(isinstance(label, int) for label in labels if label is not None)
    assume(is_text or whole or all(abs(label or 0) < 2**53 for label in labels))
    dtype = object if is_text else "Int64" if whole else "float64"
    frame = pd.DataFrame({"y": pd.Series(labels, dtype=dtype)})
    with tempfile.TemporaryDirectory() as place:
        frame.to_csv(Path(place, "t.csv"), index=False)
        frame.to_parquet(Path(place, "t.parquet"))
        assume("\r" not in "".join(map(str, labels)))  # pandas does not quote it
        found = [
            labels_or_refusal(TableFile(Path(place, name)).read()["y"], missing_label)
            for name in ("t.csv", "t.parquet")
        ]
    assert found[0] == found[1]
    if not is_text:
        gap = float(missing_label) if missing_label in ("-1", "-1.0") else None
        expected = [None if label is None or label == gap else label for label in labels]
        assert found[0] == expected


@given(tables())
@examples(200)
def test_written_formulas_are_escaped_and_all_else_is_kept(frame):
    safe = escape_formulas(frame)
    assert safe.shape == frame.shape
    for name, column in zip(frame.columns, safe.columns, strict=True):
        assert column in (name, f"'{name}")
        for before, after in zip(frame[name], safe[column], strict=True):
            if isinstance(before, str):
                assert after in (before, f"'{before}")
                assert not after.startswith(("=", "@", "＝"))


@given(
    tables(min_columns=2),
    st.integers(0, 2**32 - 1),
    st.sampled_from([("t.csv", "t.parquet"), ("t.parquet", "t.csv")]),
    st.booleans(),
)
@examples(200)
def test_any_table_goes_through_the_commands(frame, seed, names, is_evaluated):
    """fit on one kind of file, predict for the other: as many rows out as in.

    Where the model is evaluated, on the first, errors are those of the predictions. What is
    refused is refused in one line, for both.
    """
    rng = np.random.default_rng(seed)
    frame = pd.concat([frame] * (30 // len(frame) + 1), ignore_index=True)
    frame["score"] = rng.normal(size=len(frame))
    frame["grade"] = np.digitize(frame["score"], [-0.5, 0.5])
    with tempfile.TemporaryDirectory() as place, few_folds():
        folder = Path(place)
        frame.to_csv(folder / "t.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
        frame.to_parquet(folder / "t.parquet")
        first, other = (folder / name for name in names)
        fit = ("--target", "grade", "--no-tune", "--out", folder / "m")
        answer = semiordinal("fit", first, *fit)
        if answer.exit_code:
            # Numbers that are too large for sums of squares, say.
            assert answer.exit_code == 1
            assert semiordinal("fit", other, *fit).err == answer.err
            return
        done("predict", folder / "m", other, "--out", folder / "p.csv")
        predicted = pd.read_csv(folder / "p.csv")["prediction"]
        assert len(predicted) == len(frame)
        if is_evaluated:
            found = done("evaluate", folder / "m", first, "--json").json
            assert found["rows"] == len(frame)
            errors = np.mean(predicted.to_numpy() != frame["grade"])
            assert found["scores"]["MZE"] == pytest.approx(errors)
