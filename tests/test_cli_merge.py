"""Labels that were given to the rows that ``next`` asked for, put into their table."""

from __future__ import annotations

import pandas as pd
import pytest

from cli_problems import done, refused

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
        "2,None,no,Mild,why,26,'+fast,9.1\n"
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
    assert after["note"].tolist() == ["NA", "'+fast", "a, b", "", "'=x"]  # no formulas in CSV
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
