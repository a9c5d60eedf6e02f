"""Going on from earlier results: the same bytes as a run of all, and refused where they are not."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest
from typer.testing import CliRunner

from experiment_problems import made_up, only_toy
from semiordinal.cli import app
from semiordinal.experiments import RecordStore, cells_of, get_experiment, run_cells
from semiordinal.experiments._earlier import take_earlier
from semiordinal.experiments._results import write_results

SMALL = get_experiment("small")
METHODS = ["SV", "SEMI1", "constant"]


@pytest.fixture
def toy_folder(tmp_path, monkeypatch):
    return only_toy(tmp_path, monkeypatch)


def toy_cells(repeats, seed=0):
    return cells_of(SMALL, "exact", repeats, seed, ["toy"], ["ls"], METHODS)


def write(cells, store, folder):
    write_results(get_experiment(cells[0].experiment), cells, run_cells(cells, store), folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def earlier(toy_folder, tmp_path):
    folder = tmp_path / "earlier"
    write(toy_cells(3), RecordStore(tmp_path / "first"), folder)
    return folder


def test_more_repetitions_end_in_the_bytes_of_a_run_of_all(earlier, tmp_path):
    whole = write(toy_cells(4), RecordStore(tmp_path / "all"), tmp_path / "whole")
    store = RecordStore(tmp_path / "records")
    assert take_earlier(toy_cells(4), store, earlier) == 9
    notes = [record.notes for record in store.read(toy_cells(4)).values()]
    assert len(notes) == 9
    assert sum(note == {"from": "runs.csv"} for note in notes) == 6  # one of each method was run
    assert write(toy_cells(4), store, tmp_path / "joined") == whole


def test_curves_too(tmp_path, monkeypatch):
    made_up(tmp_path / "data", "lev")
    monkeypatch.setenv("SEMIORDINAL_DATA", str(tmp_path / "data"))
    curve = get_experiment("unlabeled-count")
    few, more = (cells_of(curve, "exact", n, 0, ["lev"], ["ls"], ["SV", "SEMI1"]) for n in (1, 2))
    whole = write(more, RecordStore(tmp_path / "all"), tmp_path / "whole")
    write(few, RecordStore(tmp_path / "first"), tmp_path / "earlier")
    store = RecordStore(tmp_path / "records")
    assert take_earlier(more, store, tmp_path / "earlier") == len(few)
    assert write(more, store, tmp_path / "joined") == whole


def change_error(folder, method, change):
    runs = pd.read_csv(folder / "runs.csv")
    runs.loc[runs["method"] == method, "mse"] += change
    runs.to_csv(folder / "runs.csv", index=False)


@pytest.mark.parametrize("method", METHODS)
def test_results_that_do_not_come_again_are_refused(earlier, tmp_path, method):
    change_error(earlier, method, 1e-8)
    store = RecordStore(tmp_path / "records")
    with pytest.raises(ValueError, match=f"run again, {method} with LS on toy, repetition 0"):
        take_earlier(toy_cells(4), store, earlier)
    assert len(store.read(toy_cells(4))) == len(METHODS)  # those that were tried, as they are
    assert run_cells(toy_cells(3), store) == run_cells(
        toy_cells(3), RecordStore(tmp_path / "first")
    )


def test_results_of_another_run_are_refused(earlier, tmp_path):
    store = RecordStore(tmp_path / "records")
    with pytest.raises(ValueError, match=r"`small`, mode exact, seed 0; .* seed 1 is to be run"):
        take_earlier(toy_cells(2, seed=1), store, earlier)
    runs = pd.read_csv(earlier / "runs.csv")
    pd.concat([runs, runs]).to_csv(earlier / "runs.csv", index=False)
    with pytest.raises(ValueError, match="has a run twice"):
        take_earlier(toy_cells(2), store, earlier)
    assert not store.folder.exists()


def test_on_the_command_line(earlier, tmp_path):
    out = tmp_path / "out"
    command = f"reproduce small --sets toy --losses ls --methods SV,SEMI1,constant --out {out}"
    further = [*command.split(), "--from", str(earlier), "--jobs", "1"]
    found = CliRunner().invoke(app, [*further, "--repeats", "4"])
    assert found.exit_code == 0, found.output
    assert f"9 of 12 cells are in {earlier}." in found.output.replace("\n", "")
    assert (out / "small-exact" / "summary.md").read_text() in found.output  # line by line
    joined = pd.read_csv(out / "small-exact" / "runs.csv")
    assert joined["repeat"].nunique() == 4
    found = CliRunner().invoke(app, ["reproduce", "all", "--from", str(earlier)])
    assert found.exit_code == 2
    assert "--from is for one experiment" in found.output
    shutil.copytree(earlier, tmp_path / "variance")
    run = {"experiment": "variance", "mode": None, "seed": 0, "paper": {}}
    (tmp_path / "variance" / "run.json").write_text(json.dumps(run))
    command = f"reproduce variance --sets toy --from {tmp_path / 'variance'} --out {out}"
    found = CliRunner().invoke(app, command.split())
    assert found.exit_code == 1
    assert "--from is for fits" in found.output
