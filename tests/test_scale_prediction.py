"""Predictions for Parquet files: parts that are whole, and runs that go on where they were."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from cli_problems import done, refused
from scale_problems import labeled, unlabeled, write_parts
from semiordinal import LinearOrdinalClassifier
from semiordinal._rows import SourceError
from semiordinal._utils.files import OutputError
from semiordinal.scale import predict_parquet

X, Y = labeled()
ROWS = unlabeled(9000)
MODEL = LinearOrdinalClassifier().fit(X, Y)


@pytest.fixture
def folder(tmp_path):
    return write_parts(tmp_path / "parts", ROWS, row_group=1000)


def read_all(parts) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(part) for part in parts], ignore_index=True)


def test_predictions_are_those_of_the_model(folder, tmp_path):
    parts = predict_parquet(MODEL, folder, tmp_path / "out", keep=["id"], proba=True)
    assert [part.name for part in parts] == [f"part-{i}.parquet" for i in range(3)]
    found = read_all(parts)
    np.testing.assert_array_equal(found["id"], np.arange(9000))
    np.testing.assert_array_equal(found["prediction"], MODEL.predict(ROWS))
    probabilities = found[[f"probability_{label}" for label in MODEL.classes_]]
    np.testing.assert_allclose(probabilities, MODEL.predict_proba(ROWS), rtol=1e-6)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [p.name for p in parts]


class Limited:
    """A model that gives up after some rows."""

    def __init__(self, most):
        self.left = most
        self.classes_, self.feature_names_in_ = MODEL.classes_, MODEL.feature_names_in_

    def __getstate__(self):
        return {"same": True}

    def predict(self, frame):
        self.left -= len(frame)
        if self.left < 0:
            raise KeyboardInterrupt
        return MODEL.predict(frame)


def test_a_run_that_was_broken_off_goes_on(folder, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        predict_parquet(Limited(4000), folder, out)
    assert [part.name for part in out.iterdir()] == ["part-0.parquet"]
    written = os.stat(out / "part-0.parquet").st_mtime_ns
    # The rest is within what is left; all of it would not be.
    parts = predict_parquet(Limited(6000), folder, out)
    np.testing.assert_array_equal(read_all(parts)["prediction"], MODEL.predict(ROWS))
    assert os.stat(out / "part-0.parquet").st_mtime_ns == written


def test_other_predictions_are_not_overwritten(folder, tmp_path):
    out = tmp_path / "out"
    predict_parquet(MODEL, folder, out)
    other = LinearOrdinalClassifier(loss="ls").fit(X, Y)
    for model, settings in ((other, {}), (MODEL, {"keep": ["id"]}), (MODEL, {"proba": True})):
        with pytest.raises(OutputError, match=r"part-0.parquet' exists already, and holds other"):
            predict_parquet(model, folder, out, **settings)
    parts = predict_parquet(other, folder, out, force=True)
    np.testing.assert_array_equal(read_all(parts)["prediction"], other.predict(ROWS))
    write_parts(folder, ROWS[::-1])
    with pytest.raises(OutputError, match="other rows"):
        predict_parquet(other, folder, out)


def test_bad_rows_are_named_and_leave_no_part(folder, tmp_path):
    out = tmp_path / "out"
    spoilt = pd.read_parquet(folder / "part-1.parquet")
    spoilt.loc[2500, "dose"] = np.nan
    spoilt.to_parquet(folder / "part-1.parquet", row_group_size=1000, index=False)
    with pytest.raises(
        SourceError, match=r"part-1.parquet', row group 0, row 0 and following.*NaN"
    ):
        predict_parquet(MODEL, folder, out)
    assert [part.name for part in out.iterdir()] == ["part-0.parquet"]
    spoilt.drop(columns="dose").to_parquet(folder / "part-1.parquet", index=False)
    with pytest.raises(SourceError, match=r"part-1.parquet' lacks the column 'dose'"):
        predict_parquet(MODEL, folder, out)


def test_bad_arguments(folder, tmp_path):
    with pytest.raises(ValueError, match="without names of features"):
        predict_parquet(LinearOrdinalClassifier().fit(X.to_numpy(), Y), folder, tmp_path / "out")
    with pytest.raises(OutputError, match="is that of the rows"):
        predict_parquet(MODEL, folder, folder)
    with pytest.raises(SourceError, match="lacks the column 'name'"):
        predict_parquet(MODEL, folder, tmp_path / "out", keep=["name"])
    with pytest.raises(AttributeError, match="no honest probabilities"):
        predict_parquet(LinearOrdinalClassifier(loss="ls").fit(X, Y), folder, "x", proba=True)
    assert not (tmp_path / "out").exists()


def test_files_of_one_name_in_two_folders(tmp_path):
    (tmp_path / "rows").mkdir()
    for name, rows in (("a", ROWS[:300]), ("b", ROWS[300:500])):
        write_parts(tmp_path / "rows" / name, rows, n_files=1)
    parts = predict_parquet(MODEL, tmp_path / "rows", tmp_path / "out")
    names = [part.relative_to(tmp_path / "out").as_posix() for part in parts]
    assert names == ["a/part-0.parquet", "b/part-0.parquet"]
    np.testing.assert_array_equal(read_all(parts)["prediction"], MODEL.predict(ROWS[:500]))


def test_every_file_has_a_part_of_its_own_whatever_its_name(tmp_path):
    """Names that are alike once folders become part of them, and folders that lead back."""
    rows = tmp_path / "rows"
    names = ["p.parquet", "2024/p.parquet", "2024-p.parquet", "2024/2024-p.parquet", "a/b.c/p.pq"]
    for i, name in enumerate(names):
        (rows / name).parent.mkdir(parents=True, exist_ok=True)
        ROWS[100 * i : 100 * (i + 1)].to_parquet(rows / name, index=False)
    (rows / "2024" / "up").symlink_to(rows, target_is_directory=True)
    (rows / "again").symlink_to(rows / "a", target_is_directory=True)
    (rows / "z.parquet").symlink_to(rows / "p.parquet")
    parts = predict_parquet(MODEL, rows, tmp_path / "out")
    found = {part.relative_to(tmp_path / "out").as_posix(): pd.read_parquet(part) for part in parts}
    assert sorted(found) == sorted(names)
    for i, name in enumerate(names):
        expected = MODEL.predict(ROWS[100 * i : 100 * (i + 1)])
        np.testing.assert_array_equal(found[name]["prediction"], expected)
    listed = [rows / names[1], rows / names[0], rows / names[1]]
    assert len(predict_parquet(MODEL, listed, tmp_path / "list")) == 2
    with pytest.raises(OutputError, match="inside it"):
        predict_parquet(MODEL, rows, rows / "out")


def test_a_damaged_part_is_named(folder, tmp_path):
    out = tmp_path / "out"
    predict_parquet(MODEL, folder, out)
    whole = (out / "part-1.parquet").read_bytes()
    for damaged in (whole[:-100], b"", b"mine"):
        (out / "part-1.parquet").write_bytes(damaged)
        with pytest.raises(OutputError, match=r"part-1.parquet' exists already, and is damaged"):
            predict_parquet(MODEL, folder, out)
        parts = predict_parquet(MODEL, folder, out, force=True)
        np.testing.assert_array_equal(read_all(parts)["prediction"], MODEL.predict(ROWS))


def test_on_a_cluster(folder, tmp_path):
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        parts = predict_parquet(MODEL, folder, tmp_path / "out", client=client)
        np.testing.assert_array_equal(read_all(parts)["prediction"], MODEL.predict(ROWS))
        again = predict_parquet(MODEL, folder, tmp_path / "out", client=client)
        assert again == parts


def test_the_command_predicts_for_a_folder(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(grade=Y).to_csv("labelled.csv", index=False)
    asked = ("fit", "labelled.csv", "--target", "grade", "--model", "linear")
    done(*asked, "--out", "m.semiordinal")
    answer = done("predict", "m.semiordinal", folder, "--out", "out", "--id", "id", "--json").json
    found = read_all(sorted((tmp_path / "out").iterdir()))
    counts = found["prediction"].value_counts()
    assert answer["rows"] == len(found) == 9000
    assert answer["counts"] == {str(label): int(counts.get(label, 0)) for label in (1, 2, 3, 4)}
    np.testing.assert_array_equal(found["id"], np.arange(9000))
    whole = done("predict", "m.semiordinal", folder / "part-1.parquet", "--out", "one.parquet")
    assert "3,000 rows" in whole.out
    one = pd.read_parquet("one.parquet")["prediction"]
    np.testing.assert_array_equal(one, found["prediction"][3000:6000])
    # Again: the parts are there, and stay.
    before = (tmp_path / "out" / "part-0.parquet").stat().st_mtime_ns
    (tmp_path / "out" / "part-2.parquet").unlink()
    done("predict", "m.semiordinal", folder, "--out", "out", "--id", "id")
    assert (tmp_path / "out" / "part-0.parquet").stat().st_mtime_ns == before
    assert len(list((tmp_path / "out").iterdir())) == 3
    assert "holds other predictions" in refused(
        2, "predict", "m.semiordinal", folder, "--out", "out"
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no Parquet files" in refused(1, "predict", "m.semiordinal", empty, "--out", "o")
    assert "no column 'idd'" in refused(
        2, "predict", "m.semiordinal", folder, "--out", "o", "--id", "idd"
    )
