"""Labels that were given to the rows that ``next`` asked for, put into their table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cli_problems import done, refused
from semiordinal._tables.writing import table_writer

TABLE = """batch,note,alcohol,quality
00025,NA,9.50,None
00026,+fast,9.1,
00027,"a, b",10.0,Severe
00028,,11.25,
00029,=x,8.0,
"""


def text(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.fixture
def files(tmp_path):
    """A table, and three of its rows as next writes them: a label, a class None, a skipped row."""
    (tmp_path / "wine.csv").write_text(TABLE)
    (tmp_path / "to-label.csv").write_text(
        "row,quality,chosen,prediction,reason,batch,note,alcohol\n"
        "5,Mild,yes,Mild,why,00029,'=x,8\n"
        '2,None,no,Mild,why,26,\'+fast,"9,1"\n'
        "4,,yes,Mild,why,00028,,11.25\n"
    )
    return tmp_path


def words(folder, *more, table="wine.csv", labeled="to-label.csv", out="new.csv"):
    paths = (folder / table, folder / labeled)
    return ("merge", *paths, "--target", "quality", "--out", folder / out, *more)


def test_only_cells_of_labelled_rows_change(files):
    told = done(*words(files)).out
    assert "2 labels put into 5 rows" in told
    assert "--target quality --chosen chosen" in told
    before, after = text(files / "wine.csv"), text(files / "new.csv")
    assert after["quality"].tolist() == ["None", "None", "Severe", "", "Mild"]
    assert after["chosen"].tolist() == ["", "no", "", "", "yes"]
    assert after["batch"].tolist() == before["batch"].tolist()
    assert after["alcohol"].tolist() == before["alcohol"].tolist()
    assert after["note"].tolist() == before["note"].tolist()
    # Once more: nothing is new, and marks of before stay.
    again = done(*words(files, "--json", table="new.csv", out="again.csv")).json
    assert again == {"rows": 5, "new_labels": 0, "file": str(files / "again.csv")}
    assert text(files / "again.csv").equals(after)


def test_parquet_with_numbers_and_another_column_of_labels(tmp_path):
    table = pd.DataFrame({"x": [0.5, 1.5, 2.5], "quality": pd.array([3, None, None], "Int64")})
    table.to_parquet(tmp_path / "wine.parquet")
    (tmp_path / "export.csv").write_text("id,row,class\n7,2,4\n8,3,2..3\n")
    asked = ("--labels", "class")
    done(*words(tmp_path, *asked, table="wine.parquet", labeled="export.csv", out="n.parquet"))
    found = pd.read_parquet(tmp_path / "n.parquet")
    assert found["quality"].tolist() == ["3", "4", "2..3"]
    assert found["x"].tolist() == [0.5, 1.5, 2.5]
    assert list(found) == ["x", "quality"]
    (tmp_path / "export.csv").write_text("id,row,class\n7,2,4\n")
    asked = words(tmp_path, *asked, table="wine.parquet", labeled="export.csv", out="n.parquet")
    done(*asked, "--force")
    found = pd.read_parquet(tmp_path / "n.parquet")["quality"]
    assert found.dtype == "Int64"
    assert found.dropna().tolist() == [3, 4]


@pytest.mark.parametrize(
    ("cells", "labels", "expected"),
    [
        (np.array([0.1, 0.6, np.nan, np.nan], "float32"), ["0.6", "1,1"], [0.6, 1.1]),
        (pd.array([True, False, None, None], "boolean"), ["True", "False"], [True, False]),
        (
            pd.Categorical(["low", None, None, None], ["low", "mid", "high"], ordered=True),
            ["high", "low"],
            ["high", "low"],
        ),
        (["-", "++", None, None], ["++", "-"], ["++", "-"]),
    ],
    ids=["float32", "boolean", "ordered", "signs"],
)
def test_columns_keep_their_type(tmp_path, cells, labels, expected):
    """Labels and other cells of any type, against the file as next writes it."""
    table = pd.DataFrame(
        {
            "flag": [True, False, True, False],
            "day": pd.date_range("2020-01-01", periods=4),
            "hash": np.arange(2**64 - 4, 2**64, dtype="uint64"),
            "large": [2e20, -0.1, 1e-9, 3.5],
            "sign": ["-0,5", "+", "=a", "-"],
            "quality": cells,
        }
    )
    table.to_parquet(tmp_path / "wine.parquet")
    asked = table.drop(columns="quality").iloc[2:].assign(row=[3, 4], quality=labels)
    with table_writer(tmp_path / "done.csv", pa.Schema.from_pandas(asked)) as write:
        write(asked)
    done(*words(tmp_path, table="wine.parquet", labeled="done.csv", out="n.parquet"))
    found, before = (pd.read_parquet(tmp_path / name) for name in ("n.parquet", "wine.parquet"))
    pd.testing.assert_frame_equal(found.drop(columns="quality"), before.drop(columns="quality"))
    types = [str(each["quality"].dtype).removesuffix("ean") for each in (found, before)]
    assert types[0] == types[1]  # pandas has another type of truth values where some are missing
    assert found["quality"].iloc[2:].tolist() == pytest.approx(expected)
    assert found["quality"].iloc[:1].tolist() == before["quality"].iloc[:1].tolist()


def test_rows_that_are_alike_but_for_an_id_are_not_mixed_up(tmp_path):
    (tmp_path / "wine.csv").write_text("id,a,b,c,quality\n9007199254740993,1,1,1,\n")
    (tmp_path / "to-label.csv").write_text("row,quality,id,a,b,c\n1,2,9007199254740995,1,1,1\n")
    assert "'id' is '9007199254740993'" in refused(1, *words(tmp_path))


def test_marks_for_missing_encodings_and_a_table_without_labels(tmp_path):
    (tmp_path / "wine.csv").write_bytes(
        "ort,quality\nKöln,-1\nUlm,NA\nBonn,1.0\n".encode("latin-1")
    )
    (tmp_path / "to-label.csv").write_text("row,ort,quality\n1,Köln,mäßig\n2,Ulm,-1\n3,Bonn,1\n")
    more = ("--encoding", "latin-1", "--missing-label", "-1")
    assert done(*words(tmp_path, "--json", *more)).json["new_labels"] == 1
    assert (tmp_path / "new.csv").read_text() == "ort,quality\nKöln,mäßig\nUlm,NA\nBonn,1.0\n"
    (tmp_path / "wine.csv").write_text("ort\nKöln\nUlm\nBonn\n")
    done(*words(tmp_path, "--force", "--missing-label", "-1"))
    assert text(tmp_path / "new.csv")["quality"].tolist() == ["mäßig", "", "1"]


def test_words_that_python_takes_for_numbers_are_themselves(tmp_path):
    long = "9" * 400
    (tmp_path / "wine.csv").write_text(f"a,b,c,quality\nnan,inf,{long},\n")
    (tmp_path / "to-label.csv").write_text(f"row,a,b,c,quality\n1,nan,inf,{long},2\n")
    done(*words(tmp_path))
    assert (tmp_path / "new.csv").read_text() == f"a,b,c,quality\nnan,inf,{long},2\n"


def test_marks_of_before_stay(tmp_path):
    (tmp_path / "wine.csv").write_text("a,chosen,quality\n1,yes,2\n2,,\n")
    (tmp_path / "to-label.csv").write_text("row,a,chosen,quality\n1,1,,2\n2,2,no,1\n")
    done(*words(tmp_path))
    assert text(tmp_path / "new.csv")["chosen"].tolist() == ["yes", "no"]
    (tmp_path / "wine.csv").write_text("a,chosen,quality\n1,plan A,2\n2,,\n")
    assert "needs another name" in refused(2, *words(tmp_path, "--force"))


def test_labels_from_label_studio(tmp_path):
    """The export is as label-studio-sdk 2.1.2 writes it for tasks of next; the table has an id."""
    (tmp_path / "wine.csv").write_text("id,age,quality\nP1,4,mild\nP2,5,\n")
    header = "annotation_id,annotator,cells,chosen,class,created_at,id,lead_time,prediction,row"
    line = '1,"a@b.c","{""age"": ""5"", ""id"": ""P2""}","yes","severe","2026-01-01",7,1.0,"mild",2'
    export = tmp_path / "export.csv"
    export.write_text(f"{header}\n{line}\n")
    asked = words(tmp_path, "--labels", "class", labeled="export.csv")
    done(*asked)
    assert (tmp_path / "new.csv").read_text() == (
        "id,age,quality,chosen\nP1,4,mild,\nP2,5,severe,yes\n"
    )
    export.write_text(f"{header}\n{line}\n".replace("P2", "P1").replace('""5""', '""4""'))
    assert "Row 2 is not the same" in refused(1, *asked, "--force")
    export.write_text(f"{header}\n{line}\n".replace("{", "["))
    assert "not as Label Studio writes it" in refused(1, *asked, "--force")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("5,Mild,yes", "6,Mild,yes", "'6' in the column 'row' is no row of a table of 5 rows"),
        ("5,Mild,yes", "x,Mild,yes", "'x' in the column 'row'"),
        ("5,Mild,yes", "2,Mild,yes", "labelled twice: 2"),
        ("5,Mild,yes", "1,Mild,yes", "Row 1 is not the same in both tables: 'batch' is '00025'"),
        ("row,", "line,", "no column 'row'"),
    ],
)
def test_rows_that_are_not_those_of_the_table_are_refused(files, old, new, message):
    path = files / "to-label.csv"
    path.write_text(path.read_text().replace(old, new))
    assert message in refused(1, *words(files))
    assert not (files / "new.csv").exists()


def test_no_label_is_overwritten_and_no_file(files):
    table = (files / "wine.csv").read_text()
    (files / "other.csv").write_text(table.replace("8.0,", "8.0,Severe"))
    told = refused(1, *words(files, table="other.csv"))
    assert "Row 5 has the label 'Severe' already, and 'Mild' now" in told
    assert "overwrite what is read" in refused(2, *words(files, "--force", out="wine.csv"))
    assert "no column 'rank'" in refused(2, *words(files, "--labels", "rank"))
    assert (files / "wine.csv").read_text() == table
