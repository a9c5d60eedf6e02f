"""Experiments: sizes, rows, the paper's training, and runs that end the same however they go."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cli_problems import done, needs_data, refused
from experiment_problems import made_up, only_toy
from semiordinal.cli._reproduce import _sizes
from semiordinal.experiments import EXPERIMENTS, RecordStore, cells_of, get_experiment, run_cells
from semiordinal.experiments import _engine as engine
from semiordinal.experiments._data import draw_data
from semiordinal.experiments._specs import SMALL_SETS
from semiordinal.experiments._training import run_fit

# As the paper prints them: unlabelled rows, test rows.
PRINTED_SIZES = {
    "abalone": (871, 1253),
    "bank1-5": (1851, 2000),
    "bank2-5": (1851, 2000),
    "census1-5": (2000, 2000),
    "census2-5": (2000, 2000),
    "computer1-5": (1851, 2000),
    "computer2-5": (1851, 2000),
    "fireman-example": (2000, 2000),
    "kinematics": (1851, 2000),
    "lev": (204, 300),
    "swd": (204, 300),
    "toy": (57, 90),
}
PRINTED_DIMS = {
    name: str(n)
    for name, n in zip(SMALL_SETS, (10, 8, 32, 8, 16, 12, 21, 9, 7, 4, 10, 2), strict=True)
}
PRINTED_PRIORS = {
    "fireman-example": "0.50, 0.25, 0.25",
    "kinematics": "0.38, 0.38, 0.25",
    "lev": "0.09, 0.68, 0.22",
    "swd": "0.38, 0.40, 0.22",
    "toy": "0.12, 0.78, 0.10",
}


@pytest.fixture
def toy_folder(tmp_path, monkeypatch):
    return only_toy(tmp_path, monkeypatch)


def test_sizes_and_priors_are_those_that_the_paper_prints():
    told = _sizes(get_experiment("small"), list(SMALL_SETS), paper_columns=True)
    found = {name: (int(row["unlabelled"]), int(row["test"])) for name, row in told.items()}
    assert found == PRINTED_SIZES
    assert {name: row["dims"] for name, row in told.items()} == PRINTED_DIMS
    for name, row in told.items():
        assert row["priors"] == PRINTED_PRIORS.get(name, "0.20, 0.60, 0.20")
        assert row["labelled"] == "20"
    large = _sizes(get_experiment("large-at"), ["kinematics", "fireman-example"])
    assert large["kinematics"]["priors"] == "8 x 0.125"
    assert large["fireman-example"]["priors"] == "16 x 0.0625"
    for row in large.values():
        assert (row["labelled"], row["unlabelled"], row["test"]) == ("500", "2000", "2000")


def test_rows_are_the_same_for_all_methods_and_losses_and_never_shared_between_parts(toy_folder):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 2, seed=0, sets=["toy"])
    drawn = {cell: draw_data(experiment, cell) for cell in cells}
    for cell, problem in drawn.items():
        first = next(p for c, p in drawn.items() if c.repeat == cell.repeat)
        np.testing.assert_array_equal(problem.X, first.X)
        np.testing.assert_array_equal(problem.y_test, first.y_test)
        assert (~np.isnan(problem.y)).sum() == 20
        assert set(problem.y[:20]) == {1.0, 2.0, 3.0}
        assert len(problem.y) == 77
        assert len(problem.y_test) == 90
        np.testing.assert_allclose(problem.X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(problem.X.std(axis=0), 1)
        seen = {tuple(row) for row in problem.X}
        assert not seen & {tuple(row) for row in problem.X_test}
    one, other = (next(p for c, p in drawn.items() if c.repeat == r) for r in (0, 1))
    assert not np.array_equal(one.X, other.X)


def test_fewer_unlabelled_rows_are_the_first_of_the_many(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIORDINAL_DATA", str(made_up(tmp_path / "data", "lev")))
    experiment = get_experiment("unlabeled-count")
    cells = cells_of(experiment, "exact", 1, 0, ["lev"], ["ls"], ["SV"])
    assert [cell.n_unlabeled for cell in cells] == [30, 100, None]
    few, many = draw_data(experiment, cells[0]), draw_data(experiment, cells[-1])
    assert (len(few.X), len(many.X)) == (50, 224)
    np.testing.assert_array_equal(few.y_test, many.y_test)
    np.testing.assert_array_equal(few.y[:20], many.y[:20])
    # Standardised by its own rows each: the same rows up to a linear map.
    np.testing.assert_allclose(np.corrcoef(few.X[:, 0], many.X[:50, 0])[0, 1], 1.0)


def test_every_cell_has_a_key_of_its_own():
    cells = [
        cell
        for experiment in EXPERIMENTS.values()
        for mode in experiment.modes or (None,)
        for cell in cells_of(experiment, mode, 3, seed=0)
    ]
    store = RecordStore("records")
    assert len({store.path_of(cell) for cell in cells}) == len(cells)
    assert len({cell.own_seed for cell in cells}) > 0.999 * len(cells)


@pytest.mark.filterwarnings("default")  # threads put back each other's filters of warnings
def test_results_do_not_depend_on_workers_order_or_backend(toy_folder, tmp_path):
    cells = cells_of(get_experiment("small"), "exact", 1, 0, ["toy"], ["at", "ls"])
    plain = run_cells(cells, RecordStore(tmp_path / "a"))
    turned = run_cells(cells[::-1], RecordStore(tmp_path / "b"))[::-1]
    with joblib.parallel_config("threading"):
        threads = run_cells(cells, RecordStore(tmp_path / "c"), n_jobs=2)
    assert plain == turned == threads
    for cell in cells:
        records = [
            json.loads(RecordStore(tmp_path / name).path_of(cell).read_text()) for name in "abc"
        ]
        assert records[0]["result"] == records[1]["result"] == records[2]["result"]


def test_threads_of_libraries_are_limited_around_all_workers(toy_folder, tmp_path, monkeypatch):
    """Each worker's own limit is put back as another found it, and need not hold."""
    seen = []

    def watched(cell, store, run=engine.run_cell):
        seen.extend(blas_threads())
        run(cell, store)

    monkeypatch.setattr(engine, "run_cell", watched)
    cells = cells_of(get_experiment("small"), "exact", 1, 0, ["toy"], ["ls"], ["SV"])
    with threadpool_limits(limits=2):
        before = blas_threads()
        assert 2 in before  # some libraries have one thread whatever they are told
        run_cells(cells, RecordStore(tmp_path))
        assert blas_threads() == before
    assert set(seen) == {1}


def test_workers_left_from_a_run_on_other_data_read_that_of_the_caller(tmp_path, monkeypatch):
    cells = cells_of(get_experiment("small"), "exact", 2, 0, ["toy"], ["ls"], ["SV"])
    results = []
    for seed in (0, 1):
        folder = made_up(tmp_path / f"data{seed}", "toy", seed=seed)
        monkeypatch.setenv("SEMIORDINAL_DATA", str(folder))
        results.append(run_cells(cells, RecordStore(tmp_path / f"two{seed}"), n_jobs=2))
        assert run_cells(cells, RecordStore(tmp_path / f"one{seed}"), n_jobs=1) == results[seed]
    assert results[0] != results[1]


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


ARGUMENTS = ("reproduce", "small", "--sets", "toy", "--losses", "ls,at", "--repeats", "4")


def start(arguments, folder, variables=None, **settings):
    environment = {**os.environ, "SEMIORDINAL_DATA": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= variables or {}
    return subprocess.Popen(
        [sys.executable, "-m", "semiordinal.cli", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


def tables(folder):
    return {path.name: path.read_bytes() for path in (folder / "small-exact").iterdir()}


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bytes(toy_folder, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    process = start([*ARGUMENTS, "--jobs", "1", "--out", broken], toy_folder)
    deadline = time.monotonic() + 120
    while len(list(broken.rglob("*.json"))) < 5:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    n_done = len(list(broken.rglob("*.json")))
    assert 5 <= n_done < 48
    assert not (broken / "small-exact").exists()
    told = done(*ARGUMENTS, "--jobs", "1", "--out", broken)
    assert f"{n_done} of 48 cells are recorded" in told.out
    done(*ARGUMENTS, "--jobs", "2", "--out", whole)
    assert tables(broken) == tables(whole)
    assert set(tables(whole)) == {
        "ranks.png",
        "ranks.svg",
        "run.json",
        "runs.csv",
        "summary.md",
        "table.md",
        "table.tex",
    }


@pytest.mark.slow
def test_all_runs_what_each_experiment_has_of_what_is_asked(toy_folder, tmp_path):
    few = ("--sets", "toy", "--losses", "ls", "--methods", "SV,SEMI1", "--repeats", "1")
    told = done("reproduce", "all", *few, "--jobs", "1", "--out", tmp_path).out
    assert "Note: large-at has none of what is requested." in told
    again = done("reproduce", "all", *few, "--jobs", "1", "--out", tmp_path, "--json").json
    assert "large-at has none of what is requested." in again["notes"]
    assert (tmp_path / "small-exact" / "table.md").exists()
    assert (tmp_path / "variance" / "variance-ls.png").exists()
    assert not (tmp_path / "unlabeled-count-exact").exists()


def allow_small_files_only():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))


@pytest.mark.slow
def test_no_room_to_write_is_told_and_nothing_is_lost(toy_folder, tmp_path):
    out = tmp_path / "out"
    few = ("reproduce", "small", "--sets", "toy", "--losses", "ls", "--jobs", "1", "--out", out)
    done(*few, "--repeats", "1")
    before = {path: path.read_bytes() for path in out.rglob("*.*")}
    process = start([*few, "--repeats", "2"], toy_folder, preexec_fn=allow_small_files_only)
    _, told = process.communicate()
    assert process.returncode == 1
    assert told.startswith("Error: Cannot write")
    assert "recorded before are kept" in told
    assert "run the same command again to go on; with another --out, copy the folder rec" in told
    assert len(told.splitlines()) == 1
    assert {path: path.read_bytes() for path in out.rglob("*.*")} == before
    assert "6 of 12 cells are recorded" in done(*few, "--repeats", "2").out


@pytest.mark.slow
def test_results_are_utf8_whatever_the_locale(toy_folder, tmp_path):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    few = ("reproduce", "small", "--sets", "toy", "--losses", "ls", "--methods", "SV,SEMI1")
    arguments = [*few, "--repeats", "2", "--jobs", "1", "--out", tmp_path / "plain"]
    process = start(arguments, toy_folder, plain)
    out, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert "1 problem (sets ? losses)" in out
    done(*few, "--repeats", "2", "--jobs", "1", "--out", tmp_path / "here")
    assert tables(tmp_path / "plain") == tables(tmp_path / "here")
    assert " ± " in tables(tmp_path / "plain")["table.md"].decode("utf-8")


def test_a_folder_that_cannot_be_written_is_told_before_any_work(toy_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "run_cell", lambda *_: pytest.fail("ran"))
    few = ("reproduce", "small", "--sets", "toy", "--losses", "ls", "--jobs", "1", "--out")
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    for out in (file, file / "below"):
        assert f"{str(file)!r} is a file, where a folder is to be." in refused(2, *few, out)
    assert file.read_text() == "mine"
    told = refused(1, *few, tmp_path / ("x" * 300))
    assert told.startswith("Error: Cannot write")
    assert "File name too long. All" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told_before_any_work(toy_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "run_cell", lambda *_: pytest.fail("ran"))
    tmp_path.chmod(0o500)
    told = refused(1, "reproduce", "small", "--sets", "toy", "--out", tmp_path / "out")
    tmp_path.chmod(0o700)
    assert "Permission denied. All" in told


def test_bad_requests_are_refused_before_any_work(toy_folder, tmp_path, monkeypatch):
    out = ("--out", tmp_path / "out", "--jobs", "1")
    assert "large-at" in refused(2, "reproduce", "large", *out)
    assert "exact" in refused(2, "reproduce", "small", "--mode", "fast", *out)
    assert "kinematics" in refused(2, "reproduce", "small", "--sets", "toy,kin", *out)
    assert "SEMI-median" in refused(2, "reproduce", "small", "--methods", "SEMI3", *out)
    assert "'ls'" in refused(2, "reproduce", "small", "--losses", "cl", *out)
    for name in ("unlabeled-count", "all"):
        told = refused(2, "reproduce", name, "--methods", "SEMI1", *out)
        assert "--methods: methods must hold SV, which unlabeled-count divides" in told
    assert "--sets names nothing; choose" in refused(2, "reproduce", "small", "--sets", "", *out)
    told = refused(2, "reproduce", "variance", "--methods", "SV", *out)
    assert "--methods: there is nothing to choose here. Leave it out." in told
    quiet = ("--json", *out)
    absent = refused(1, "reproduce", "small", "--sets", "toy,lev", *quiet)
    assert "lev.csv.gz" in absent
    monkeypatch.delenv("SEMIORDINAL_DATA")
    assert "SEMIORDINAL_DATA" in refused(1, "reproduce", "small", "--sets", "toy", *quiet)
    monkeypatch.setenv("SEMIORDINAL_DATA", str(tmp_path / "nowhere"))
    assert "does not exist" in refused(1, "reproduce", "variance", *quiet)
    assert not (tmp_path / "out").exists()


def test_networks_without_torch_are_refused_by_name_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    monkeypatch.setattr(engine, "load_rows", lambda *_: None)
    cells = cells_of(get_experiment("large-at"), "paper", 1, 0, ["bank1-5"])
    with pytest.raises(ImportError, match=r"SV-NN.*semiordinal\[torch\]"):
        run_cells(cells, RecordStore(tmp_path))
    # The linear model of another table, which comes first, would do without.
    monkeypatch.setattr(engine, "run_cell", lambda *_: pytest.fail("ran"))
    few = ("--mode", "paper", "--sets", "bank1-5", "--losses", "ls", "--methods", "SV,SV-NN")
    assert "SV-NN needs PyTorch" in refused(1, "reproduce", "all", *few, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_paper_mode_of_the_command(toy_folder, tmp_path):
    told = done(
        *("reproduce", "small", "--mode", "paper", "--sets", "toy", "--losses", "ls"),
        *("--repeats", "2", "--jobs", "1", "--out", tmp_path, "--json"),
    ).json["small"]
    assert told["cells"] == 10
    assert told["sizes"]["toy"]["unlabelled"] == "57"
    runs = (tmp_path / "small-paper" / "runs.csv").read_text().splitlines()
    assert runs[0] == "set,loss,method,repeat,mae,mze,mse,l2,error"
    chosen = {line.split(",")[7] for line in runs[1:] if ",constant," not in line}
    assert chosen <= {"0.01", "0.0001", "1e-06"}


@pytest.mark.slow
def test_curve_and_variance_of_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIORDINAL_DATA", str(made_up(tmp_path / "data", "lev", "swd")))
    few = ("--sets", "lev,swd", "--repeats", "2", "--jobs", "1", "--out", tmp_path)
    assert "fewest" in done("reproduce", "unlabeled-count", "--losses", "ls", *few).out
    ratios = (tmp_path / "unlabeled-count-exact" / "ratios.csv").read_text().splitlines()
    assert len(ratios) == 1 + 2 * 3 * 4
    assert "No reduction of the median" in done("reproduce", "variance", *few).out
    for name in ("unlabeled-count-exact/curves-ls", "variance/variance-it"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")


@needs_data
@pytest.mark.slow
def test_large_columns_on_real_rows(tmp_path):
    """The columns of the large tables that are no networks and no TOR."""
    methods = "SSMOR,SV-Ker,SEMI1-Ker,SV-prior-Ker"
    told = done(
        *("reproduce", "large-ls", "--mode", "paper", "--sets", "bank1-5", "--methods", methods),
        *("--repeats", "1", "--jobs", "1", "--out", tmp_path, "--json"),
    ).json["large-ls"]
    assert told["cells"] == 4
    rows = (tmp_path / "large-ls-paper" / "runs.csv").read_text().splitlines()[1:]
    errors = {row.split(",")[2]: float(row.split(",")[-1]) for row in rows}
    # Guessing the middle class errs by 2 on average.
    assert all(0.1 < error < 1.8 for error in errors.values())


@needs_data
@pytest.mark.slow
def test_networks_on_real_rows_with_few_epochs():
    pytest.importorskip("skorch")
    experiment = get_experiment("large-ls")
    training = experiment.trainings["paper"]["network"]
    few = replace(training, settings={**training.settings, "max_epochs": 60})
    experiment = replace(experiment, trainings={"paper": {"network": few}})
    errors = {}
    for column in ("SEMI1-NN", "SV-prior-NN"):
        (cell,) = cells_of(experiment, "paper", 1, 0, ["bank1-5"], ["ls"], [column])
        errors[column] = run_fit(experiment, cell)["mse"]
    assert all(0.1 < error < 1.8 for error in errors.values())
