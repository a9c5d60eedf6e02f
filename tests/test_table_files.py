"""Tables in files: one reader for all commands, so that no row or cell is lost or changed."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_problems import ORDER, done, refused, with_few_labels
from cli_problems import patients as cli_patients
from semiordinal import LinearOrdinalClassifier
from semiordinal._judge.held_out import predict_held_out
from semiordinal._tables.columns import choose_columns
from semiordinal._tables.encoding import TypedColumns
from semiordinal._tables.options import TableOptions
from semiordinal._tables.reading import TableError, TableFile
from semiordinal._tables.target import TargetReading, read_labels, read_target
from semiordinal._tables.text_stream import CheckedText
from semiordinal._tables.training import read_training_table

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of the columns a and b, with the classes 0 and 1."""
    folder = tmp_path_factory.mktemp("model")
    frame = pd.DataFrame(RNG.normal(size=(60, 2)).round(2), columns=["a", "b"])
    frame["y"] = (frame["a"] > 0).astype(int)
    frame.to_csv(folder / "t.csv", index=False)
    fit = ("fit", folder / "t.csv", "--target", "y", "--no-tune", "--out", folder / "m")
    done(*fit)
    return folder / "m"


def rows_of(path) -> list[list[str]]:
    """All cells by batches of two rows."""
    file = TableFile(path)
    return pd.concat(list(file.batches(file.columns(), rows=2))).to_numpy().tolist()


def table_with(row, place, folder):
    """A file of six rows of three cells, but for the one at a place."""
    lines = ["0.5,1.5,1"] * 6
    lines[place] = row
    path = folder / "t.csv"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    return path


@pytest.mark.parametrize("row", ["0.5,1.5,1,9", "0.5,1.5,1,"])
@pytest.mark.parametrize("place", [0, 3, 5])
def test_rows_of_more_cells_are_refused_wherever_they_are(tmp_path, model, place, row):
    """In any row, in any batch, for every command, and whichever columns are asked for."""
    path = table_with(row, place, tmp_path)
    counts = f"has 4 cells in line {place + 2}, "
    with pytest.raises(TableError, match=rf"t.csv' {counts}more than there are names \(3\)"):
        list(TableFile(path).batches(["a"], rows=2))
    for told in refusals(tmp_path, model, path):
        assert counts in told


def refusals(tmp_path, model, path):
    """What each command says of a table that it must refuse."""
    out = tmp_path / "out.csv"
    for command in (
        ("fit", path, "--target", "y", "--out", tmp_path / "new"),
        ("predict", model, path, "--out", out),
        ("evaluate", model, path),
        ("label", path, "--target", "y", "--order", "0,1"),
    ):
        yield refused(1, *command)
    assert not out.exists()


# As Excel writes lines where the last columns of neighbouring ones are empty.
@pytest.mark.parametrize("row", ["0.5,1.5", "0.5", '""', '" "', "\v"])
@pytest.mark.parametrize("place", [0, 3, 5])
def test_cells_that_are_left_out_at_the_end_are_empty(tmp_path, model, place, row):
    path = table_with(row, place, tmp_path)
    with pytest.warns(
        UserWarning, match=rf"1 row with fewer .* is row {place + 1}\. What is missing"
    ):
        found = rows_of(path)
    cells = [cell.strip('"') for cell in row.split(",")]
    assert found[place] == cells + [""] * (3 - len(cells))
    assert found[place - 1] == ["0.5", "1.5", "1"]
    with pytest.warns(UserWarning, match="1 row with fewer cells than there are names"):
        done("predict", model, path, "--out", tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == 6


@pytest.mark.parametrize("row", ["0.5,1.5", "0.5", '"0.5'])
def test_a_file_that_ends_amid_a_row_is_refused(tmp_path, model, row):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "0.5,1.5,1\n" * 6 + row)
    for told in refusals(tmp_path, model, path):
        assert "cut short" in told or "cannot be read" in told
        assert "line 8" in told or row.startswith('"')
    path.write_text("a,b,y\n" + "0.5,1.5,1\n" * 6 + "0.5,1.5,")
    assert len(rows_of(path)) == 7


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("buffer", [1, 2, 7, 262_144])
def test_cells_are_counted_whatever_is_in_them(tmp_path, monkeypatch, newline, buffer):
    """Line ends in quotes, long cells, blank lines before the names and amid the rows."""
    read = CheckedText.read
    monkeypatch.setattr(CheckedText, "read", lambda self, size=-1: read(self, buffer))
    long = "x" * (200_000 if buffer > 7 else 20)
    lines = ["", "a,b,y", "0.5,1.5,1", '"a ""quoted"",\nlong cell",,', "", " \t ", f"{long},1,2"]
    path = tmp_path / "t.csv"
    path.write_bytes(newline.join([*lines, '5" pipe,2,']).encode())
    assert [row[0][:4] for row in rows_of(path)] == ["0.5", 'a "q', long[:4], '5" p']
    path.write_bytes(newline.join([*lines, '"x\ny",2']).encode())
    limit = csv.field_size_limit()
    with pytest.raises(TableError, match="ends in line 9 after 2 cells"):
        rows_of(path)
    assert csv.field_size_limit() == limit


def test_decimal_commas_do_not_shift_cells(tmp_path, model):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "0,12,-1,25,1\n" * 9)
    told = refused(1, "predict", model, path, "--out", tmp_path / "out.csv")
    assert "5 cells in line 2, more than there are names (3)" in told


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_in_a_single_column_every_line_is_a_row(tmp_path, newline):
    path = tmp_path / "t.csv"
    path.write_bytes(newline.join(["", "a", "1", "", "3", '""', " ", "5"]).encode())
    assert rows_of(path) == [["1"], [""], ["3"], [""], [" "], ["5"]]
    assert TableFile(path).read()["a"].tolist() == ["1", "", "3", "", " ", "5"]
    path.write_bytes(newline.join(["", "a,b", "1,2", "", "3,"]).encode())
    assert rows_of(path) == [["1", "2"], ["3", ""]], "with more columns, a blank line is none"


def test_as_many_predictions_as_rows_of_one_column(tmp_path):
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20) // 10})
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("fit", tmp_path / "t.csv", "--target", "y", "--keep", "x", "--no-tune")
    done(*asked, "--out", tmp_path / "m")
    (tmp_path / "n.csv").write_text("x\n1\n\n19\n\n5\n")
    done("predict", tmp_path / "m", tmp_path / "n.csv", "--out", tmp_path / "p.csv")
    assert len(pd.read_csv(tmp_path / "p.csv")) == 5


@pytest.mark.parametrize("written", ["-1", "-1.0", " -1 ", "-1.00", "-1e0"])
@pytest.mark.parametrize("given", ["-1", "-1.0"])
def test_a_number_that_marks_a_missing_label_is_known_however_it_is_written(written, given):
    for others in (["0", "1.0", "2"], ["low", "high"]):
        found = read_labels(
            pd.Series([written, *others], dtype=object), TargetReading(missing_label=given)
        )
        assert found[0] is None
        assert all(label is not None for label in found[1:])
    for numbers in ([-1, 0, 1], [-1.0, 0.0, np.nan]):
        assert read_labels(pd.Series(numbers), TargetReading(missing_label=given))[0] is None


def test_missing_labels_as_pandas_writes_them(tmp_path):
    labels = RNG.permutation(np.repeat([-1.0, 0.0, 1.0, np.nan], 15))
    frame = pd.DataFrame({"x": np.where(labels > 0, 5, 0) + RNG.normal(size=60), "y": labels})
    for name, write in (("t.csv", frame.to_csv), ("t.parquet", frame.to_parquet)):
        write(tmp_path / name, index=False)
        fit = ("fit", tmp_path / name, "--target", "y", "--missing-label", "-1", "--no-tune")
        found = done(*fit, "--out", tmp_path / f"{name}.m", "--json").json
        assert found["class_counts"] == {"0": 15, "1": 15}
        assert found["unlabeled"] == 30
        evaluate = ("evaluate", tmp_path / f"{name}.m", tmp_path / name)
        assert done(*evaluate, "--missing-label", "-1", "--json").json["rows"] == 30


@pytest.mark.parametrize("kind", ["int", "text", "float text"])
def test_large_labels_are_told_apart_or_refused(kind):
    def column(numbers):
        ends = {"int": int, "text": str, "float text": lambda n: f"{n}.0"}
        return pd.Series([ends[kind](n) for n in numbers], dtype=object)

    near = [2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, -(2**62) - 1]
    target = read_target(column(near))
    assert target.labels.tolist() == near
    assert target.classes == sorted(near)
    for beyond in (2**63, -(2**63), 10**30):
        with pytest.raises(TableError, match="ids rather than classes"):
            read_target(column([1, 2, beyond]))


def test_large_labels_beside_fractions_are_refused():
    with pytest.raises(TableError, match="ids rather than classes"):
        read_target(pd.Series(["0.5", "9007199254740993"]))


def test_large_classes_are_predicted(tmp_path):
    classes = np.array([2**53, 2**53 + 1, 2**53 + 2])
    code = np.resize([0, 1, 2], 60)
    frame = pd.DataFrame({"x": code * 4 + RNG.normal(size=60), "y": classes[code]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    done("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", "--no-tune")
    for out in ("p.csv", "p.parquet"):
        done("predict", tmp_path / "m", tmp_path / "t.csv", "--out", tmp_path / out)
    assert set(pd.read_csv(tmp_path / "p.csv")["prediction"]) == set(classes)
    assert set(pd.read_parquet(tmp_path / "p.parquet")["prediction"]) == set(classes)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.to_datetime(["2024-01-01", "2024-01-02"] * 10), "dates"),
        (pd.to_datetime(["2024-01-01", "2024-01-02"] * 10, utc=True), "dates"),
        (pd.to_timedelta([1, 2] * 10, unit="s"), "durations"),
        ([[1], [2]] * 10, "lists"),
        ([{"a": 1}, {"a": 2}] * 10, "lists, records"),
        ([b"a", b"b"] * 10, "bytes"),
    ],
    ids=["timestamps", "with zone", "durations", "lists", "structs", "bytes"],
)
def test_targets_of_other_types_are_refused(tmp_path, values, kind):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": RNG.normal(size=20), "y": values}).to_parquet(path)
    for command in ("fit", "compare", "diagnose"):
        out = ("--out", tmp_path / "m") if command == "fit" else ()
        told = refused(1, command, path, "--target", "y", *out)
        assert "'y' holds" in told
        assert kind in told


def test_a_target_that_is_a_map_is_refused(tmp_path):
    maps = pa.array([[("a", 1)], [("b", 2)]] * 10, pa.map_(pa.string(), pa.int64()))
    table = pa.table({"x": RNG.normal(size=20), "y": maps})
    pq.write_table(table, tmp_path / "t.parquet")
    fit = ("fit", tmp_path / "t.parquet", "--target", "y", "--out", tmp_path / "m")
    assert "lists, records" in refused(1, *fit)


def test_many_whole_numbers_are_no_classes(tmp_path):
    frame = pd.DataFrame({"x": RNG.normal(size=900), "y": np.arange(900) % 300})
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m")
    assert "300 distinct numbers, which are a measurement" in refused(1, *fit)


def test_labels_mean_in_a_batch_what_they_meant_in_the_fit(tmp_path, monkeypatch):
    """Names that look like numbers, in a batch without the others."""
    monkeypatch.setattr("semiordinal._tables.reading._BATCH_ROWS", 20)
    labels = np.repeat(["01", "1", "x"], 20)
    frame = pd.DataFrame({"x": np.arange(60) + RNG.normal(size=60), "y": labels})
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--order", "01,1,x", "--no-tune")
    done(*fit, "--out", tmp_path / "m")
    found = done("evaluate", tmp_path / "m", tmp_path / "t.csv", "--json").json
    assert np.sum(found["confusion"], axis=1).tolist() == [20, 20, 20]


# Files that are damaged, or unusual.


@pytest.mark.parametrize("end", [-1, -8, -30, 40])
def test_compressed_files_that_are_cut_short_or_damaged(tmp_path, model, end):
    text = "a,b\n" + "".join(f"{x},{y}\n" for x, y in RNG.normal(size=(500, 2)))
    whole = gzip.compress(text.encode())
    damaged = bytearray(whole)
    damaged[len(whole) // 2 : len(whole) // 2 + 20] = bytes(range(20))
    for content in (whole[:end], bytes(damaged), b"\x1f\x8b", b"no gzip"):
        (tmp_path / "t.csv.gz").write_bytes(content)
        told = refused(1, "predict", model, tmp_path / "t.csv.gz", "--out", tmp_path / "p.csv")
        assert "t.csv.gz' " in told
        assert "cut short" in told or "cannot be read" in told
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv.gz"]


def test_a_first_line_of_any_length(tmp_path):
    names = [f"a column with quite a long name, number {i}" for i in range(5000)]
    frame = pd.DataFrame(np.arange(10_000).reshape(2, 5000), columns=names)
    frame.to_csv(tmp_path / "t.csv", index=False)
    file = TableFile(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().index("\n") > 2**17
    assert file.columns() == names
    np.testing.assert_array_equal(file.read().astype(int), frame)


def test_names_with_delimiters_quotes_and_lines(tmp_path):
    names = ["a;b", 'c"d', "e\nf", "g,h", "i|j", "k\tl"]
    pd.DataFrame([range(6)], columns=names).to_csv(tmp_path / "t.csv", index=False)
    file = TableFile(tmp_path / "t.csv")
    assert file.columns() == names
    assert file.read().columns.tolist() == names
    assert rows_of(tmp_path / "t.csv") == [list("012345")]


def test_text_with_nul_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\n1,2\n".encode("utf-16-le"))
    with pytest.raises(TableError, match="utf-16-le"):
        TableFile(tmp_path / "t.csv").columns()
    assert TableFile(tmp_path / "t.csv", "utf-16-le").read().to_numpy().tolist() == [["1", "2"]]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("buffer", [1, 2, 7, 262_144])
def test_a_carriage_return_amid_a_line_is_refused_unless_quoted(
    tmp_path, monkeypatch, newline, buffer
):
    """pandas writes it without quotes, but ends a row there where it reads."""
    read = CheckedText.read
    monkeypatch.setattr(CheckedText, "read", lambda self, size=-1: read(self, buffer))
    cells = [["a", "b\nc"], ["x", "\ry"], ['"', "1\r"], ["", "\r\n"]]
    path = tmp_path / "t.csv"
    lines = [",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in cells]
    path.write_bytes(newline.join([*lines, ""]).encode())
    assert TableFile(path).columns() == cells[0]
    assert rows_of(path) == cells[1:]
    path.write_bytes(newline.join(["a,b", "1,2", "3,x\ry", "4,5", ""]).encode())
    with pytest.raises(TableError, match=r"t.csv' has a carriage return .* amid a line"):
        TableFile(path).read()
    path.write_bytes(b'a,"b\nc"\r1,2\r')  # where all lines end so, it is no more than that
    assert rows_of(path) == [["1", "2"]]


def parquet_with(path, frame: pd.DataFrame, metadata: bytes | None):
    table = pa.Table.from_pandas(frame)
    kept = {b"pandas": metadata} if metadata is not None else table.schema.metadata
    pq.write_table(table.replace_schema_metadata(kept), path)


@pytest.mark.parametrize("metadata", [None, b"{", b"[]", b'{"columns": [{}]}', b"\xff"])
def test_what_pandas_notes_in_parquet_does_not_matter(tmp_path, metadata):
    x = RNG.normal(size=40)
    frame = pd.DataFrame({0: x, 1: RNG.normal(size=40), "y": (x > 0).astype(int)})
    frame.columns = frame.columns.astype(str)
    shuffled = frame.sample(frac=1, random_state=0)
    parquet_with(tmp_path / "t.parquet", shuffled, metadata)
    fit = ("fit", tmp_path / "t.parquet", "--target", "y", "--no-tune", "--out", tmp_path / "m")
    found = done(*fit, "--json").json
    assert found["features"]["numbers"] == ["0", "1"], "an index is no feature"
    assert list(found["dropped"]) == ["__index_level_0__"]
    frame.to_parquet(tmp_path / "plain.parquet", index=False)
    frame.to_csv(tmp_path / "plain.csv", index=False)
    predicted = {}
    for name in ("t.parquet", "plain.parquet", "plain.csv"):
        out = tmp_path / f"{name}.predicted.csv"
        done("predict", tmp_path / "m", tmp_path / name, "--out", out)
        predicted[name] = pd.read_csv(out)["prediction"].to_numpy()
    np.testing.assert_array_equal(predicted["plain.csv"], predicted["plain.parquet"])
    np.testing.assert_array_equal(predicted["plain.csv"][shuffled.index], predicted["t.parquet"])
    (tmp_path / "rows").mkdir()
    parquet_with(tmp_path / "rows" / "t.parquet", shuffled, metadata)
    done("predict", tmp_path / "m", tmp_path / "rows", "--out", tmp_path / "parts")
    part = pd.read_parquet(tmp_path / "parts" / "t.parquet")
    np.testing.assert_array_equal(part["prediction"], predicted["t.parquet"])


def test_parquet_with_whole_numbers_as_names(tmp_path):
    frame = pd.DataFrame(RNG.normal(size=(40, 3)))
    frame[2] = (frame[0] > 0).astype(int)
    frame.to_parquet(tmp_path / "t.parquet")
    fit = ("fit", tmp_path / "t.parquet", "--target", "2", "--no-tune", "--out", tmp_path / "m")
    assert done(*fit, "--json").json["features"]["numbers"] == ["0", "1"]


def test_a_named_index_is_a_column_for_fit_and_predict(tmp_path):
    x = RNG.normal(size=40)
    frame = pd.DataFrame(
        {"z": RNG.normal(size=40), "y": (x > 0).astype(int)}, pd.Index(x, name="x")
    )
    frame.to_parquet(tmp_path / "t.parquet")
    fit = ("fit", tmp_path / "t.parquet", "--target", "y", "--no-tune", "--out", tmp_path / "m")
    assert set(done(*fit, "--json").json["features"]["numbers"]) == {"x", "z"}
    done("predict", tmp_path / "m", tmp_path / "t.parquet", "--out", tmp_path / "p.csv")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("numbers", pd.to_datetime(["2024-01-01", None])),
        ("numbers", pd.to_timedelta([5, None], unit="s")),
        ("numbers", [[1.0], [2.0]]),
        ("dates", [5, 6]),
        ("dates", [5.0, np.nan]),
        ("dates", ["now", "today"]),
        ("categories", [["a"], ["b"]]),
    ],
    ids=str,
)
def test_columns_of_another_type_than_in_the_fit_are_refused(kind, values):
    """Not turned into numbers by the units that pandas happens to count in, nor by the clock."""
    columns = {"numbers": [], "dates": [], "categories": [], kind: ["c"]}
    typed = TypedColumns(**columns).fit(None)
    with pytest.raises(ValueError, match=r"Column 'c' holds .* where the model expects"):
        typed.transform(pd.DataFrame({"c": values}))


@pytest.mark.parametrize("name", ["Unnamed: 0", "ID", "Customer_ID", "__index_level_0__"])
def test_row_numbers_under_names_of_any_case_are_no_features(name):
    frame = pd.DataFrame({name: RNG.permutation(200)[:60], "x": RNG.normal(size=60)})
    assert choose_columns(frame).numbers == ["x"]


def test_tables_beyond_memory(tmp_path, monkeypatch, model):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")

    def full(*args, **options):
        raise MemoryError

    monkeypatch.setattr(pd, "concat", full)
    fit = ("fit", tmp_path / "t.csv", "--target", "b", "--out", tmp_path / "m")
    assert "does not fit in memory" in refused(1, *fit)


def test_json_of_a_target_with_a_large_class_is_exact(tmp_path):
    frame = pd.DataFrame({"x": RNG.normal(size=40), "y": np.resize([1, 2**53 + 1], 40)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", "--no-tune")
    found = json.loads(done(*fit, "--json").out)
    assert list(found["class_counts"]) == ["1", str(2**53 + 1)]


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_cells_are_read_once_and_not_again_in_every_fold(tmp_path, monkeypatch, command):
    calls = []
    transform = TypedColumns.transform

    def counted(self, frame):
        calls.append(len(frame))
        return transform(self, frame)

    monkeypatch.setattr(TypedColumns, "transform", counted)
    frame = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["a", "b", "c"])
    frame.assign(y=(frame["a"] > 0).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    options = {"fit": ("--out", tmp_path / "m"), "compare": ("--methods", "SV", "--repeats", "2")}
    done(command, tmp_path / "t.csv", "--target", "y", *options[command])
    assert 1 <= len(calls) <= 2


def test_folds_of_typed_columns_give_what_folds_of_cells_give(tmp_path):
    patients = with_few_labels(cli_patients(120))
    patients.to_csv(tmp_path / "t.csv", index=False)
    table = read_training_table(
        TableFile(tmp_path / "t.csv"), "severity", TableOptions(order=ORDER.split(","))
    )
    estimator = LinearOrdinalClassifier(classes=table.target.classes)
    for fold in table.folds(0)[:2]:
        data = table.target.labels, table.target.classes, fold
        _, cells = predict_held_out(table.pipeline(estimator), table.frame, *data)
        _, typed = predict_held_out(table.typed_pipeline(estimator), table.typed_frame, *data)
        np.testing.assert_array_equal(cells.predicted, typed.predicted)
