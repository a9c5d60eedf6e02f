"""Records of finished cells: kept, checked, and refused where they are not what they say."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import semiordinal
from experiment_problems import made_up, only_toy
from semiordinal.experiments import (
    DamagedRecordError,
    RecordStore,
    cells_of,
    get_experiment,
    run_cells,
)
from semiordinal.experiments._data import read_rows


@pytest.fixture
def toy_folder(tmp_path, monkeypatch):
    return only_toy(tmp_path, monkeypatch)


def test_recorded_cells_are_not_run_again_and_more_repeats_keep_them(toy_folder, tmp_path):
    store = RecordStore(tmp_path / "records")
    few = cells_of(get_experiment("small"), "exact", 1, 0, ["toy"], ["ls"])
    many = cells_of(get_experiment("small"), "exact", 2, 0, ["toy"], ["ls"])
    assert set(few) < set(many)
    run_cells(few, store)
    before = {path: path.stat().st_mtime_ns for path in store.folder.rglob("*.json")}
    steps = []
    run_cells(many, store, progress=steps.append)
    assert steps[0] == len(few)
    assert sum(steps) == len(many)
    after = {path: path.stat().st_mtime_ns for path in store.folder.rglob("*.json")}
    assert before.items() <= after.items()
    assert len(after) == len(many)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "swapped"])
def test_a_damaged_record_is_named_with_its_remedy(toy_folder, tmp_path, damage):
    store = RecordStore(tmp_path / "records")
    cells = cells_of(get_experiment("small"), "exact", 1, 0, ["toy"], ["ls"], ["SV", "SEMI1"])
    expected = run_cells(cells, store)
    path, other = store.path_of(cells[0]), store.path_of(cells[1])
    text = path.read_text()
    damaged = {
        "cut": text[: len(text) // 2],
        "changed": text.replace('"mse": ', '"mse": 1'),
        "empty": "",
        "swapped": other.read_text(),
    }
    path.write_text(damaged[damage])
    with pytest.raises(DamagedRecordError, match=f"1 record, .*{path.name}. Delete them"):
        run_cells(cells, store)
    path.unlink()
    assert run_cells(cells, store) == expected


def test_damaged_records_are_counted_and_the_first_named(toy_folder, tmp_path):
    store = RecordStore(tmp_path / "records")
    cells = cells_of(get_experiment("small"), "exact", 1, 0, ["toy"], ["ls"])
    run_cells(cells, store)
    paths = [store.path_of(cell) for cell in cells]
    for path in paths[:4]:
        path.write_text("")
    with pytest.raises(DamagedRecordError) as caught:
        run_cells(cells, store)
    told = str(caught.value)
    assert "4 records, " in told
    assert [path.name in told for path in paths] == [True] * 3 + [False] * 3


def test_records_of_other_data_are_refused(toy_folder, tmp_path, monkeypatch):
    store = RecordStore(tmp_path / "records")
    few = cells_of(get_experiment("small"), "exact", 1, 0, ["toy"], ["ls"], ["SV", "SEMI1"])
    more = cells_of(get_experiment("small"), "exact", 2, 0, ["toy"], ["ls"], ["SV", "SEMI1"])
    expected = run_cells(few, store)
    path = toy_folder / "toy.csv.gz"
    frame = pd.read_csv(path)
    frame.assign(x1=frame["x1"] + 1e-4).to_csv(path, index=False)
    read_rows.cache_clear()
    with pytest.raises(ValueError, match=r"records of toy in '.*records' .* other rows.*--out"):
        run_cells(more, store)
    assert len(list(store.folder.rglob("*.json"))) == 2
    path.unlink()  # without data there is nothing to compare with
    read_rows.cache_clear()
    assert run_cells(few, store) == expected
    frame.to_csv(path, index=False)
    assert run_cells(more, store)[:2] == expected


def test_records_that_tell_nothing_of_their_data_are_taken(toy_folder, tmp_path):
    store = RecordStore(tmp_path / "records")
    cells = cells_of(get_experiment("small"), "exact", 1, 0, ["toy"], ["ls"], ["SV", "SEMI1"])
    expected = run_cells(cells, store)
    for cell in cells:
        path = store.path_of(cell)
        record = json.loads(path.read_text())
        assert record["notes"].pop("version") == semiordinal.__version__
        assert len(record["notes"].pop("data")) == 10
        path.write_text(json.dumps(record))
    made_up(toy_folder, "toy", seed=1)
    read_rows.cache_clear()
    assert run_cells(cells, store) == expected
