"""Tables as people have them: each variant is read as the clean table, or what is wrong is named.

Three tables, whose clean cells are known, are written in more than sixty ways.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_problems import patients, with_few_labels
from semiordinal._tables.options import TableOptions
from semiordinal._tables.reading import OptionError, TableError, TableFile
from semiordinal._tables.training import TrainingTable, read_training_table

Cells = pd.DataFrame
N_ROWS = 120


def _texts(frame: pd.DataFrame) -> Cells:
    """Cells as a plain CSV file holds them; gaps are empty."""
    return frame.map(lambda cell: "" if pd.isna(cell) else str(cell)).astype(object)


def _hospital() -> tuple[Cells, str, TableOptions]:
    rng = np.random.default_rng(0)
    frame = with_few_labels(patients(N_ROWS).drop(columns="born"), 0.7)
    frame["bmi"] = rng.normal(26, 4, N_ROWS).round(2)
    frame["cost"] = rng.uniform(100, 9000, N_ROWS).round(1)
    return _texts(frame), "severity", TableOptions(order=["mild", "moderate", "severe"])


def _wine() -> tuple[Cells, str, TableOptions]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "alcohol": rng.uniform(8, 14, N_ROWS).round(1),
            "acid": rng.normal(0, 2, N_ROWS).round(3),
            "sugar": rng.integers(1, 9000, N_ROWS) + 0.5,
        }
    )
    latent = frame["alcohol"] + frame["acid"] + rng.normal(size=N_ROWS)
    grade = pd.Series(np.digitize(latent, [9.5, 11, 12.5]) + 3, dtype=object)
    frame["grade"] = grade.mask(rng.random(N_ROWS) < 0.3)
    return _texts(frame), "grade", TableOptions()


def _stones() -> tuple[Cells, str, TableOptions]:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "price": rng.uniform(300, 90_000, N_ROWS).round(2),
            "carat": rng.uniform(0.2, 3, N_ROWS).round(2),
            "color": rng.choice(["D", "E", "F"], N_ROWS),
            "sold": pd.to_datetime("2021-01-01")
            + pd.to_timedelta(rng.integers(0, 700, N_ROWS), unit="D"),
            "cut": rng.choice(["Fair", "Good", "Ideal"], N_ROWS),
        }
    )
    frame["sold"] = frame["sold"].dt.strftime("%Y-%m-%d")
    frame["cut"] = frame["cut"].mask(rng.random(N_ROWS) < 0.3)
    return _texts(frame), "cut", TableOptions(order=["Fair", "Good", "Ideal"])


def _made_once(make: Callable[[], tuple]) -> Callable[[], tuple]:
    """The table, made once, as a copy that may be changed."""
    cells, target, options = make()
    return lambda: (cells.copy(), target, options)


TABLES = {
    "hospital": _made_once(_hospital),
    "wine": _made_once(_wine),
    "stones": _made_once(_stones),
}
NUMBERS = {
    "hospital": ["age", "bmi", "cost"],
    "wine": ["alcohol", "acid", "sugar"],
    "stones": ["price", "carat"],
}
# Columns of values in the thousands.
LARGE = {"hospital": "cost", "wine": "sugar", "stones": "price"}


def _on_numbers(change: Callable[[str], str]) -> Callable[[Cells, str], Cells]:
    def changed(cells: Cells, name: str) -> Cells:
        columns = {c: [change(x) if x else "" for x in cells[c]] for c in NUMBERS[name]}
        return cells.assign(**columns)

    return changed


def _on_large(change: Callable[[str], str]) -> Callable[[Cells, str], Cells]:
    def changed(cells: Cells, name: str) -> Cells:
        return cells.assign(**{LARGE[name]: [change(x) for x in cells[LARGE[name]]]})

    return changed


def _grouped(mark: str, decimal: str = ".") -> Callable[[str], str]:
    def change(text: str) -> str:
        return f"{float(text):,}".replace(".", "\0").replace(",", mark).replace("\0", decimal)

    return change


def _with_gaps(word: str) -> Callable[[Cells, str], Cells]:
    """A word in place of a tenth of all features, which the clean table leaves empty."""
    return lambda cells, name: cells.replace("", word)


SEMICOLON = {"sep": ";"}
GERMAN = str.maketrans(".", ",")
# How cells are changed, and how the file is written.
RIGHT: dict[str, tuple[Callable[[Cells, str], Cells], dict]] = {
    "decimal commas": (_on_numbers(lambda x: x.translate(GERMAN)), SEMICOLON),
    "decimal commas, tabs": (_on_numbers(lambda x: x.translate(GERMAN)), {"sep": "\t"}),
    "decimal commas, quoted": (_on_numbers(lambda x: x.translate(GERMAN)), {}),
    "thousands by commas": (_on_large(_grouped(",")), {}),
    "thousands by commas, semicolons": (_on_large(_grouped(",")), SEMICOLON),
    "thousands by points": (_on_large(_grouped(".", ",")), SEMICOLON),
    "thousands by blanks": (_on_large(_grouped(" ", ",")), SEMICOLON),
    "thousands by narrow blanks": (_on_large(_grouped("\u202f", ",")), SEMICOLON),
    "thousands by apostrophes": (_on_large(_grouped("'")), {}),
    "per cent": (_on_numbers(lambda x: f"{x}%"), {}),
    "per cent, apart": (_on_numbers(lambda x: f"{x} %"), {}),
    "dollars": (_on_large(lambda x: f"${_grouped(',')(x)}"), {}),
    "euros": (_on_large(lambda x: f"{_grouped('.', ',')(x)} €"), SEMICOLON),
    "real minus signs": (_on_numbers(lambda x: x.replace("-", "−")), {}),
    "accountants' minus signs": (
        _on_numbers(lambda x: f"({x[1:]})" if x.startswith("-") else x),
        {},
    ),
    "blanks around": (lambda cells, _: cells.map(lambda x: f" {x}  " if x else ""), {}),
    "all quoted": (lambda cells, _: cells, {"quoting": csv.QUOTE_ALL}),
    "other line ends": (lambda cells, _: cells, {"lineterminator": "\r\n"}),
    "a mark in front": (lambda cells, _: cells, {"encoding": "utf-8-sig"}),
    **{
        f"{word} for gaps": (_with_gaps(word), {})
        for word in ("NA", "N/A", "?", "-", "unknown", "Unknown", "null", "missing", ".", "#N/A")
    },
}


def read(cells: Cells, path: Path, name: str, options: TableOptions | None = None, **how):
    """The table that the reader makes of the cells."""
    _, target, usual = TABLES[name]()
    cells.to_csv(path, index=False, **how)
    return read_training_table(TableFile(path), target, options or usual)


def assert_same(table: TrainingTable, clean: TrainingTable) -> None:
    assert table.target.labels.tolist() == clean.target.labels.tolist()
    assert table.choice == clean.choice
    pd.testing.assert_frame_equal(table.typed_frame, clean.typed_frame, check_dtype=False)


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    return {name: read(make()[0], folder / f"{name}.csv", name) for name, make in TABLES.items()}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("variant", RIGHT)
def test_read_as_the_clean_table(tmp_path, clean, variant, name):
    change, how = RIGHT[variant]
    cells = change(TABLES[name]()[0], name)
    if variant == "- for gaps":
        cells[TABLES[name]()[1]] = TABLES[name]()[0][TABLES[name]()[1]]
    assert_same(read(cells, tmp_path / "t.csv", name, **how), clean[name])


@pytest.mark.parametrize("name", TABLES)
def test_what_is_done_to_cells_is_said(tmp_path, name):
    cells, _, _ = TABLES[name]()
    large = LARGE[name]
    commas = read(
        _on_numbers(lambda x: x.translate(GERMAN))(cells, name), tmp_path / "a.csv", name, sep=";"
    )
    assert any("Decimal commas in" in note and "--decimal ." in note for note in commas.notes)
    grouped = read(_on_large(_grouped(","))(cells, name), tmp_path / "b.csv", name)
    assert any(f"Thousands separators in {large}" in note for note in grouped.notes)
    asked = cells.assign(**{large: ["?", *cells[large][1:]]})
    gaps = read(asked, tmp_path / "c.csv", name)
    assert any(f"'?' (1 cell: {large})" in note and "--keep-na '?'" in note for note in gaps.notes)
    assert gaps.typed_frame[large].isna().sum() == 1


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("odd", ["see file", "<5", "12,5,3", "1.2.3"])
def test_a_few_odd_cells_are_named_and_the_column_stays_numbers(tmp_path, clean, name, odd):
    cells, _, _ = TABLES[name]()
    large = LARGE[name]
    cells.loc[3, large] = odd
    found = read(cells, tmp_path / "t.csv", name)
    assert any(repr(odd) in note and f"--category {large}" in note for note in found.notes)
    expected = clean[name].typed_frame[large].mask(np.arange(N_ROWS) == 3)
    np.testing.assert_array_equal(found.typed_frame[large], expected)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("word", ["?", "unknown", "-", "n.a."])
def test_words_that_fill_the_target_need_a_decision(tmp_path, name, word):
    """Where they are few they are gaps, and said to be; where they are most, the command stops."""
    cells, target, options = TABLES[name]()
    few = cells.assign(**{target: cells[target].mask(cells[target] == "", word)})
    some = read(few, tmp_path / "few.csv", name)
    assert some.target.is_labeled.tolist() == (cells[target] != "").tolist()
    assert any(note.startswith("Target:") and repr(word) in note for note in some.notes)
    is_hidden = np.arange(N_ROWS) % 5 > 0
    most = cells.assign(**{target: cells[target].mask(is_hidden, word)})
    with pytest.raises(OptionError, match="probably are rows without a label") as error:
        read(most, tmp_path / "most.csv", name)
    assert "--missing-label" in str(error.value)
    assert "--keep-na" in str(error.value)
    decided = TableOptions(order=options.order, missing_label=word)
    found = read(most, tmp_path / "most.csv", name, decided)
    assert not found.target.is_labeled[is_hidden].any()
    assert word not in found.target.classes


@pytest.mark.parametrize(
    ("code", "share", "stops"),
    [
        ("99", 0.2, False),
        ("99", 0.9, True),
        ("0", 0.93, True),
        ("0", 0.6, False),
        ("-1", 0.3, False),
    ],
)
def test_numbers_that_may_stand_for_a_missing_label(tmp_path, code, share, stops):
    cells, target, _ = _wine()
    labels = cells[target].replace("", "4").astype(int) - 2
    cells[target] = labels.astype(str).mask(np.arange(N_ROWS) < share * N_ROWS, code)
    if stops:
        with pytest.raises(OptionError, match=f"--missing-label {code}"):
            read(cells, tmp_path / "t.csv", "wine")
    else:
        found = read(cells, tmp_path / "t.csv", "wine")
        assert any(f"--missing-label {code}" in note for note in found.notes)


def test_grades_that_begin_with_zero_are_classes(tmp_path):
    cells, target, _ = _wine()
    cells[target] = (cells[target].replace("", "4").astype(int) - 3).astype(str)
    found = read(cells, tmp_path / "t.csv", "wine")
    assert found.target.classes == [0, 1, 2, 3]
    assert not any("--missing-label" in note for note in found.notes)


def test_labels_with_decimal_commas(tmp_path, clean):
    cells, target, _ = _wine()
    written = _on_numbers(lambda x: x.translate(GERMAN))(cells, "wine")
    written[target] = [f"{x},0" if x else "" for x in cells[target]]
    assert_same(read(written, tmp_path / "t.csv", "wine", sep=";"), clean["wine"])


@pytest.mark.parametrize(
    ("written", "day_first", "is_read"),
    [
        ("%d/%m/%Y", None, True),
        ("%m/%d/%Y", None, True),
        ("%d.%m.%Y", None, True),
        ("%Y/%m/%d", None, True),
        ("%d-%m-%Y 10:30", None, True),
        ("0%w/%m/%Y", None, False),
        ("%d %B %Y", None, False),
    ],
)
def test_dates(tmp_path, clean, written, day_first, is_read):
    cells, _, _ = _stones()
    cells["sold"] = pd.to_datetime(cells["sold"]).dt.strftime(written)
    found = read(cells, tmp_path / "t.csv", "stones")
    if not is_read:
        assert "YYYY-MM-DD" in found.choice.dropped["sold"]
        return
    hours = 10.5 / 24 if ":" in written else 0
    expected = clean["stones"].typed_frame["sold"] + hours
    np.testing.assert_allclose(found.typed_frame["sold"], expected, atol=1e-6)


def test_dates_that_can_be_read_two_ways_are_read_as_the_user_says(tmp_path):
    cells, _, options = _stones()
    cells["sold"] = [f"{i % 12 + 1:02d}/{i % 7 + 1:02d}/2020" for i in range(N_ROWS)]
    cells.to_csv(tmp_path / "t.csv", index=False)
    for day_first, written in ((True, "%d/%m/%Y"), (False, "%m/%d/%Y")):
        said = TableOptions(order=options.order, day_first=day_first)
        found = read_training_table(TableFile(tmp_path / "t.csv"), "cut", said)
        days = pd.to_datetime(cells["sold"], format=written) - pd.Timestamp("1970-01-01")
        np.testing.assert_array_equal(found.typed_frame["sold"], days.dt.days)


def test_the_user_has_the_last_word(tmp_path):
    """--decimal, --thousands, --na-values, --keep-na and --category undo what was found."""
    cells = pd.DataFrame(
        {
            "a": np.resize(["1,234", "2,500", "1,001"], 60),
            "land": np.resize(["NA", "DE", "FR"], 60),
            "age": np.resize(["31", "47", "99", "52.5"], 60),
            "ward": np.resize(["1", "2", "3"], 60),
            "y": np.resize([1, 2, 3, 2], 60),
        }
    )
    cells.to_csv(tmp_path / "t.csv", index=False)
    file = TableFile(tmp_path / "t.csv")

    def typed(**said):
        return read_training_table(file, "y", TableOptions(**said)).typed_frame

    assert typed()["a"].max() == 2500
    assert typed(decimal=",")["a"].max() == 2.5
    assert typed(thousands="none", decimal=".")["a"].dtype == object
    assert typed()["land"].isna().sum() == 20
    assert typed(keep_na=("NA",))["land"].isna().sum() == 0
    assert typed(keep_na=("land=NA",))["land"].isna().sum() == 0
    assert typed()["age"].max() == 99
    assert typed(na_values=("age=99",))["age"].max() == 52.5
    assert typed(na_values=("99",))["age"].max() == 52.5
    assert typed(category=("ward",))["ward"].tolist()[:2] == ["1", "2"]


def test_ordered_columns(tmp_path):
    sizes = ["S", "M", "L"]
    frame = pd.DataFrame({"size": np.resize(sizes, 60), "y": np.resize([1, 2, 3, 2], 60)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    file = TableFile(tmp_path / "t.csv")
    found = read_training_table(file, "y", TableOptions(ordered=("size=S,M,L",)))
    assert found.typed_frame["size"].tolist() == np.resize([0.0, 1, 2], 60).tolist()
    with pytest.raises(OptionError, match="Did you mean: --ordered size=S,M,L"):
        read_training_table(file, "y", TableOptions(ordered=("size=s,M,L",)))
    frame["size"] = pd.Categorical(frame["size"], sizes, ordered=True)
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_training_table(TableFile(tmp_path / "t.parquet"), "y")
    assert found.choice.ordered == {"size": sizes}


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet", ".xlsx"])
@pytest.mark.parametrize("name", TABLES)
def test_other_kinds_of_files(tmp_path, clean, name, suffix):
    cells, target, options = TABLES[name]()
    path = tmp_path / f"t{suffix}"
    numbers = {c: pd.to_numeric(cells[c]) for c in NUMBERS[name]}
    if suffix == ".csv.gz":
        cells.to_csv(path, index=False)
    elif suffix == ".parquet":
        cells.assign(**numbers).to_parquet(path)
    else:
        pytest.importorskip("openpyxl", reason="of the extra excel")
        dates = {c: pd.to_datetime(cells[c]) for c in ("visit", "sold") if c in cells}
        cells.assign(**numbers, **dates).replace("", None).to_excel(path, index=False)
    assert_same(read_training_table(TableFile(path), target, options), clean[name])


def test_sheets_are_chosen_by_name(tmp_path):
    pytest.importorskip("openpyxl", reason="of the extra excel")
    cells, target, options = _wine()
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"nothing": [1]}).to_excel(book, sheet_name="notes", index=False)
        cells.to_excel(book, sheet_name="data", index=False)
    table = read_training_table(TableFile(tmp_path / "t.xlsx", sheet="data"), target, options)
    assert len(table.frame) == N_ROWS
    with pytest.raises(TableError, match=r"no sheet 'dat'; there are: notes, data"):
        TableFile(tmp_path / "t.xlsx", sheet="dat").columns()
