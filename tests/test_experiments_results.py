"""Tables, tests and counts of results, on errors whose outcome is known."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from semiordinal.experiments import cells_of, get_experiment
from semiordinal.experiments._results import write_results
from semiordinal.experiments._specs import LOSS_METRICS
from semiordinal.experiments._statistics import (
    contests,
    count_outcomes,
    rank_methods,
    signed_rank_p_value,
)
from semiordinal.experiments._summaries import directions, rivals, variance_summary
from semiordinal.experiments._tables import ErrorTable, printed_results


def runs_of(errors, name="toy", loss="at"):
    """Runs from a mapping of methods to errors by repetition."""
    return pd.DataFrame(
        [
            {"set": name, "loss": loss, "method": method, "repeat": i, "error": error}
            for method, values in errors.items()
            for i, error in enumerate(values)
        ]
    )


def test_bold_is_the_best_and_what_cannot_be_told_from_it():
    rng = np.random.default_rng(0)
    base = rng.normal(0.4, 0.02, size=20)
    errors = {
        "SV": base,
        "SEMI1": base - 0.05 + rng.normal(0, 0.01, size=20),
        "SEMI2": base - 0.049 + rng.normal(0, 0.02, size=20),
    }
    (contest,) = contests(runs_of(errors))
    assert contest.best_of(["SV", "SEMI1", "SEMI2"]) == ["SEMI1", "SEMI2"]
    assert contest.best_of(["SV"]) == ["SV"]
    assert contest.outcome("SEMI1", "SV") == "win"
    assert contest.outcome("SV", "SEMI1") == "loss"
    assert contest.outcome("SEMI1", "SEMI2") == "tie"
    assert contest.entry("SV").mean == pytest.approx(base.mean())
    assert contest.entry("SV").spread == pytest.approx(base.std(ddof=1))
    expected = wilcoxon(errors["SEMI1"], errors["SV"]).pvalue
    assert contest.p_value("SEMI1", "SV") == pytest.approx(expected, rel=1e-6)


def test_equal_errors_are_a_tie_and_rounding_breaks_none():
    assert signed_rank_p_value(np.zeros(5)) == 1.0
    assert signed_rank_p_value(np.full(20, 1e-16)) == 1.0
    (contest,) = contests(runs_of({"SV": [0.1, 0.2], "SEMI1": [0.1, 0.2]}))
    assert contest.outcome("SV", "SEMI1") == "tie"
    assert contest.best_of(["SV", "SEMI1"]) == ["SV", "SEMI1"]
    (contest,) = contests(runs_of({"SV": [0.1, 0.2] * 3, "SEMI1": [0.1, 0.2] * 3}))
    assert contest.best_of(["SV", "SEMI1"]) == ["SV", "SEMI1"]
    # 0.1 + 0.2 is not 0.3 in binary digits.
    (contest,) = contests(runs_of({"SV": [0.1 + 0.2], "SEMI1": [0.3], "SEMI2": [0.4]}))
    assert contest.best_of(["SV", "SEMI1", "SEMI2"]) == ["SV", "SEMI1"]
    assert contest.gain("SEMI1", "SV") == 0


def test_the_side_that_the_test_finds_better_wins_whatever_the_means():
    """Worse in 18 of 20 repetitions, and a lower mean by two large gains."""
    worse = np.append(0.01 * np.arange(1, 19), [-1.0, -1.01])
    (contest,) = contests(runs_of({"SV": np.full(20, 2.0), "SEMI1": 2.0 + worse}))
    assert contest.p_value("SEMI1", "SV") < 0.05
    assert contest.gain("SEMI1", "SV") > 0
    assert contest.outcome("SEMI1", "SV") == "loss"
    assert contest.outcome("SV", "SEMI1") == "win"
    assert contest.best_of(["SV", "SEMI1"]) == ["SV", "SEMI1"]


def test_a_few_better_repetitions_among_equal_ones_win_nothing():
    better = np.zeros(20)
    better[:4] = 1 / 90
    (contest,) = contests(runs_of({"SV": np.full(20, 0.2), "SEMI1": 0.2 - better}))
    assert contest.outcome("SEMI1", "SV") == "tie"
    assert contest.best_of(["SV", "SEMI1"]) == ["SV", "SEMI1"]


def test_too_few_repetitions_are_not_tested():
    """Five differences of one sign have a p-value of 1/16; of six, 1/32."""
    better = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    for n, best in ((5, ["SEMI1"]), (6, ["SEMI1"])):
        errors = {"SV": better[:n] + 0.01 * np.arange(1, n + 1), "SEMI1": better[:n]}
        (contest,) = contests(runs_of(errors))
        assert contest.best_of(["SV", "SEMI1"]) == best
        assert (contest.p_value("SV", "SEMI1") < 0.05) == (n == 6)


def test_ranks_by_hand():
    frames = [
        runs_of({"A": [1.0, 1.0], "B": [2.0, 2.0], "C": [3.0, 3.0]}, "toy"),
        runs_of({"A": [2.0, 2.0], "B": [1.0, 1.0], "C": [1.0, 1.0]}, "lev"),
    ]
    found = rank_methods(contests(pd.concat(frames)), ["A", "B", "C"])
    assert found.ranks == {"A": 2.0, "B": 1.75, "C": 2.25}
    assert found.n_problems == 2
    # q(0.05; 3 methods) is 2.343 in Demsar's table.
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / 12), abs=2e-3)


def papers_runs(experiment):
    """Runs whose means are the paper's."""
    frames = {}
    for (of, name, loss, column), printed in printed_results().items():
        if of == experiment:
            values = printed.mean + printed.spread * np.array([-1.0, 0.0, 1.0])
            frames.setdefault((name, loss), {})[column] = values
    return pd.concat([runs_of(errors, *key) for key, errors in frames.items()])


@pytest.mark.parametrize(("name", "problems"), [("small", 36), ("large-at", 8), ("large-ls", 8)])
def test_the_papers_own_numbers_agree_with_the_paper(name, problems):
    runs = papers_runs(name)
    table = ErrorTable(get_experiment(name), list(dict.fromkeys(runs["method"])), contests(runs))
    printed = printed_results()
    for method, (agree, compared, gains) in directions(table).items():
        assert compared == problems
        supervised = "SV" + method.partition("-")[1] + method.partition("-")[2]
        differences = [
            printed[name, p.set, p.loss, supervised].mean
            - printed[name, p.set, p.loss, method].mean
            for p in table.problems
        ]
        assert agree == sum(d != 0 for d in differences)
        assert gains == sum(d > 0 for d in differences)


def test_the_papers_small_table_is_counted_as_it_reads():
    """SEMI1 below SV in 34 of 36 cells and equal in two; SEMI2 above in five."""
    runs = papers_runs("small")
    table = ErrorTable(get_experiment("small"), ["SV", "SEMI1", "SEMI2"], contests(runs))
    assert directions(table)["SEMI1"] == (34, 36, 34)
    assert directions(table)["SEMI2"][2] == 31


def test_rivals_have_the_same_model():
    methods = ["SSMOR", "TOR", "SV-Ker", "SEMI1-Ker", "SV-NN", "SEMI2-NN", "SV-prior-Ker"]
    assert rivals(methods) == [
        ("SEMI1-Ker", "SV-Ker"),
        ("SEMI1-Ker", "SV-prior-Ker"),
        ("SEMI2-NN", "SV-NN"),
        ("SV-prior-Ker", "SV-Ker"),
    ]
    assert rivals(["SV", "SEMI-median"]) == [("SEMI-median", "SV")]


def test_outcomes_are_counted_by_problem():
    ups = np.linspace(0.1, 0.2, 8)
    changes = {"toy": -ups, "lev": -2 * ups, "swd": ups, "abalone": ups * np.tile([1, -1], 4)}
    frames = [runs_of({"SV": 1 + 0 * up, "SEMI1": 1 + up}, n) for n, up in changes.items()]
    problems = contests(pd.concat(frames))
    assert count_outcomes(problems, "SEMI1", "SV") == {"win": 2, "tie": 1, "loss": 1}
    assert count_outcomes(problems, "SV", "SEMI1") == {"win": 1, "tie": 1, "loss": 2}


def made_results(cells):
    results = []
    for cell in cells:
        rng = np.random.default_rng(cell.own_seed)
        error = float(rng.uniform(0.2, 0.6))
        results.append({"mae": error, "mze": error, "mse": error, "chosen": {"l2": 0.1}})
    return results


def test_latex_is_whole_and_every_row_has_every_column(tmp_path):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 3, seed=0)
    write_results(experiment, cells, made_results(cells), tmp_path)
    text = (tmp_path / "table.tex").read_text()
    assert text.count("{") == text.count("}")
    tabulars = re.findall(r"\\begin\{tabular\}\{(.*?)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL)
    assert len(tabulars) == text.count("\\begin") == text.count("\\end") == 3
    for columns, body in tabulars:
        n_columns = len(columns.replace("|", ""))
        rows = [line for line in body.splitlines() if "&" in line]
        assert len(rows) == 1 + 2 * 12
        for row in rows:
            assert row.count("&") == n_columns - 1
            assert row.endswith("\\\\")
            assert row.count("{") == row.count("}")
    assert "_" not in text
    assert "#" not in text


def test_markdown_shows_the_papers_number_beside_ours(tmp_path):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 3, 0)
    write_results(experiment, cells, made_results(cells), tmp_path)
    text = (tmp_path / "table.md").read_text()
    assert len(re.findall(r"^\| [a-z]", text, re.MULTILINE)) == 36
    row = next(line for line in text.splitlines() if line.startswith("| toy"))
    cells_of_row = row.split(" | ")
    assert re.fullmatch(r"\**0\.\d{3}\** ± 0\.\d\d \[0\.266\]", cells_of_row[1])
    assert re.fullmatch(r"\**0\.\d{3}\** ± 0\.\d\d \[\*\*0\.215\*\*\]", cells_of_row[2])
    assert "[" not in cells_of_row[4]
    assert "Not in the paper: SV-prior, SEMI-median, constant" in text


def test_one_repetition_has_no_spread(tmp_path):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 1, 0)
    write_results(experiment, cells, made_results(cells), tmp_path)
    for path in tmp_path.iterdir():
        if path.suffix in (".md", ".tex"):
            assert "nan" not in path.read_text()


def test_a_single_problem_of_two_methods_is_told_in_the_singular(tmp_path):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 1, 0, ["toy"], ["at"], ["SV", "SEMI1"])
    write_results(experiment, cells, made_results(cells), tmp_path)
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "1 problem (sets × losses), 1 repetition each." in summary
    assert "Mean ranks over 1 problem:" in summary
    assert "Friedman" not in summary
    assert "over 1 repetition," in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_no_error_at_all_has_no_ratio(tmp_path):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 1, 0, ["toy"], ["at"], ["SV", "SEMI1"])
    write_results(experiment, cells, [{"mae": 0.0, "mze": 0.0, "mse": 0.0}] * 2, tmp_path)
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "| SEMI1 against SV | – | – | – | 0 of 1 | – |" in summary


def test_the_seed_is_told(tmp_path):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 1, 7, ["toy"], ["at"])
    write_results(experiment, cells, made_results(cells), tmp_path)
    for name in ("table.md", "summary.md"):
        heading = (tmp_path / name).read_text(encoding="utf-8").splitlines()[0]
        assert heading.endswith("(`small`, mode exact, seed 7)")


def test_figures_that_a_run_has_not_do_not_stay_and_others_do(tmp_path):
    def names(experiment, **chosen):
        cells = cells_of(experiment, "exact", 2, 0, [experiment.sets[-1]], **chosen)
        write_results(experiment, cells, made_results(cells), tmp_path)
        return {path.name for path in tmp_path.iterdir() if path.suffix in (".png", ".svg")}

    mine = {"mine.png", "curves.png", "curves-cl.png"}
    for name in mine:
        (tmp_path / name).write_text("mine")
    ranks = {"ranks.png", "ranks.svg"}
    assert names(get_experiment("small"), losses=["at"]) == mine | ranks
    assert names(get_experiment("small"), losses=["at"], columns=["SV"]) == mine
    curve = get_experiment("unlabeled-count")
    curves = {f"curves-{loss}.{suffix}" for loss in ("at", "it") for suffix in ("png", "svg")}
    assert names(curve, losses=["at", "it"], columns=["SV", "SEMI1"]) == mine | curves
    left = {"curves-it.png", "curves-it.svg"}
    assert names(curve, losses=["it"], columns=["SV", "SEMI1"]) == mine | left


def test_methods_that_the_paper_has_not_make_a_table(tmp_path):
    experiment = get_experiment("small")
    cells = cells_of(experiment, "exact", 2, 0, columns=["SV-prior", "SEMI-median"])
    write_results(experiment, cells, made_results(cells), tmp_path)
    table = (tmp_path / "table.md").read_text()
    assert "| | SV-prior | SEMI-median |" in table
    assert "**" not in table


def test_csv_holds_every_run(tmp_path):
    experiment = get_experiment("large-at")
    cells = cells_of(experiment, "exact", 2, seed=0)
    write_results(experiment, cells, made_results(cells), tmp_path)
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert len(runs) == len(cells) == 2 * 8 * 7
    metric = runs["loss"].map(LOSS_METRICS)
    picked = [runs[m][i] for i, m in enumerate(metric)]
    np.testing.assert_allclose(runs["error"], picked)
    summary = (tmp_path / "summary.md").read_text()
    assert "SEMI1-Ker against SV-prior-Ker" in summary
    assert "2 repetitions" in summary
    assert "(not with fewer than 6 repetitions)" in summary
    assert "| SEMI1-Ker against SV-Ker | – | – | – |" in summary


def test_a_curve_divides_mean_errors_by_those_of_sv(tmp_path):
    experiment = get_experiment("unlabeled-count")
    cells = cells_of(experiment, "exact", 2, 0, ["lev"], ["ls"], ["SV", "SEMI1", "SEMI2"])
    errors = {
        ("SV", 30): (0.4, 0.2),
        ("SEMI1", 30): (0.5, 0.25),
        ("SEMI2", 30): (0.3, 0.3),
        ("SV", 100): (0.5, 0.5),
        ("SEMI1", 100): (0.4, 0.4),
        ("SEMI2", 100): (0.1, 0.5),
        ("SV", None): (0.2, 0.2),
        ("SEMI1", None): (0.1, 0.2),
        ("SEMI2", None): (0.2, 0.4),
    }
    found = [errors[cell.column, cell.n_unlabeled][cell.repeat] for cell in cells]
    results = [{"mae": 9.0, "mze": 9.0, "mse": error} for error in found]
    write_results(experiment, cells, results, tmp_path)
    ratios = pd.read_csv(tmp_path / "ratios.csv")
    assert ratios.to_dict("list") == {
        "set": ["lev"] * 6,
        "loss": ["ls"] * 6,
        "method": ["SEMI1"] * 3 + ["SEMI2"] * 3,
        "n_unlabeled": [30, 100, 204] * 2,
        "ratio": [1.25, 0.8, 0.75, 1.0, 0.6, 1.5],
    }
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "| LS (MSE), SEMI1 | 1.250 | 0.750 | 1 of 1 |" in summary
    assert "| LS (MSE), SEMI2 | 1.000 | 1.500 | 0 of 1 |" in summary


def test_sets_without_reduction_are_named():
    models = {
        "toy": [[1.0, 0.8, 1.1], [1.0, 0.7, 1.0], [1.0, 1.2, 1.3]],
        "lev": [[1.0, 1.01, 1.4], [1.0, 0.9, 1.2], [1.0, 1.02, 1.1]],
    }
    runs = pd.DataFrame(
        [
            (name, "at", "SEMI1", repeat, weight, ratio)
            for name, found in models.items()
            for repeat, ratios in enumerate(found)
            for weight, ratio in zip([0.0, 0.5, 1.0], ratios, strict=True)
        ],
        columns=["set", "loss", "method", "repeat", "weight", "ratio"],
    )
    told = variance_summary(runs)
    assert "No reduction of the median for any γ: lev (AT, SEMI1)." in told
    assert "| toy | 0.800 (γ = 0.5; 2) |" in told
    assert "| lev | 1.010 (γ = 0.5; 1) |" in told
