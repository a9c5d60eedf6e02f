"""From runs to files: CSV of every run, tables, figures and a summary in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._utils.files import atomic_write
from .._utils.text import pluralize
from ..datasets import get_facts
from ..plotting import CurveDisplay, Display, VarianceRatioDisplay, plot_cd_diagram, plot_panels
from ..plotting._panels import close_figure, save_figure
from ._cells import Cell
from ._settings import PaperSettings
from ._specs import LOSS_METRICS, SUPERVISED, Experiment, get_experiment
from ._statistics import FEWEST_TO_TEST, contests, rank_methods
from ._store import unwritable, write_text
from ._summaries import curve_summary, median_ratios, table_summary, variance_summary
from ._tables import ErrorTable
from ._variances import RULES, WEIGHTS

_FORMATS = ("png", "svg")
# Names of figures: of a table, and by kind of the others, with a loss each.
_RANKS = "ranks"
_PANELS = {"curve": "curves", "variance": "variance"}


_RUN_FILE, RUNS_FILE = "run.json", "runs.csv"


@dataclass(frozen=True)
class Run:
    """What was run, beside the results: all that the headings of its files tell."""

    experiment: str
    mode: str | None
    seed: int
    paper: dict[str, str]  # settings of mode "paper" that are not as by default

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> Run:
        cell = cells[0]
        paper = {} if cell.paper is None else cell.paper.switched
        return cls(cell.experiment, cell.mode, cell.seed, paper)

    @property
    def folder_name(self) -> str:
        """A folder for each experiment, mode and choice of settings.

        Examples
        --------
        >>> Run("small", "paper", 0, {"refit": "true"}).folder_name
        'small-paper-refit-true'
        """
        words = [
            self.experiment,
            self.mode,
            *(word for pair in self.paper.items() for word in pair),
        ]
        return "-".join(word for word in words if word is not None)

    @property
    def heading(self) -> str:
        return f"# {get_experiment(self.experiment).title} ({self})\n"

    def __str__(self) -> str:
        words = [f"`{self.experiment}`"]
        if self.mode is not None:
            words.append(f"mode {self.mode}")
        words += [f"{name}={value}" for name, value in self.paper.items()]
        words.append(f"seed {self.seed}")
        return ", ".join(words)


def write_results(
    experiment: Experiment,
    cells: Sequence[Cell],
    results: Sequence[dict[str, Any]],
    folder: Path,
) -> list[Path]:
    """Write all that an experiment yields to a folder; gives the files.

    The same results give the same bytes: nothing in the files tells when or how fast they
    were made. Figures of an earlier run that this one has not are removed.
    """
    to_runs = variance_runs if experiment.kind == "variance" else fit_runs
    return _write(experiment, Run.of(cells), to_runs(cells, results), folder)


def rewrite_results(folder: Path) -> list[Path]:
    """Write tables, summary and figures of a folder again from its ``runs.csv``."""
    run, runs = read_results(folder)
    return _write(get_experiment(run.experiment), run, runs, folder)


def read_results(folder: Path) -> tuple[Run, pd.DataFrame]:
    """What was run, and every run, from a folder of results."""
    try:
        run = Run(**json.loads((folder / _RUN_FILE).read_text(encoding="utf-8")))
        PaperSettings.parse(f"{name}={value}" for name, value in run.paper.items())
        get_experiment(run.experiment)
        return run, pd.read_csv(folder / RUNS_FILE)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{str(folder)!r} is no folder of results: it needs {_RUN_FILE} and {RUNS_FILE} as "
            f"`semiordinal reproduce` writes them ({error})."
        ) from error


def _write(experiment: Experiment, run: Run, runs: pd.DataFrame, folder: Path) -> list[Path]:
    runs = rounded(runs)  # so that all follows from what runs.csv has
    writer = _Writer(experiment, run, folder)
    write = {"table": writer.table, "curve": writer.curve, "variance": writer.variance}
    write[experiment.kind](runs)
    for path in _figure_paths(experiment, folder):
        if path not in writer.files:
            path.unlink(missing_ok=True)
    return writer.files


def _figure_paths(experiment: Experiment, folder: Path) -> list[Path]:
    """All figures that an experiment may have, with whatever methods and losses."""
    stems = [_RANKS]
    if experiment.kind in _PANELS:
        stems = [f"{_PANELS[experiment.kind]}-{loss}" for loss in experiment.losses]
    return [folder / f"{stem}.{suffix}" for stem in stems for suffix in _FORMATS]


class _Writer:
    def __init__(self, experiment: Experiment, run: Run, folder: Path):
        self.experiment = experiment
        self.heading = run.heading
        self.folder = folder
        self.files: list[Path] = []
        self._text(_RUN_FILE, json.dumps(asdict(run), indent=1) + "\n")

    def table(self, runs: pd.DataFrame) -> None:
        problems = contests(runs)
        methods = list(problems[0].errors.columns)
        table = ErrorTable(self.experiment, methods, problems)
        n_repeats = runs["repeat"].nunique()
        self._csv(RUNS_FILE, runs)
        bold = (
            "the least mean and those that Wilcoxon's signed-rank test at 5 % does not find worse"
        )
        if n_repeats < FEWEST_TO_TEST:
            bold = "the least mean, since so few repetitions cannot be tested"
        legend = (
            f"Mean ± standard deviation over {pluralize(n_repeats, 'repetition')}, and in brackets "
            f"the paper's mean. Bold, among the paper's methods: {bold}; in brackets, the paper's "
            "own bold. "
        )
        others = [name for name in table.methods if name not in table.paper_methods]
        if others:
            legend += f"Not in the paper: {', '.join(others)}."
        self._text("table.md", "\n".join([self.heading, legend, "", table.markdown()]))
        self._text("table.tex", table.latex())
        summary = []
        if len(table.methods) > 1:
            ranking = rank_methods(problems, table.methods)
            summary.append(table_summary(table, ranking, n_repeats))
            ax = plot_cd_diagram(ranking.ranks, ranking.n_problems)
            self._figure(_RANKS, ax.figure)
        self._text("summary.md", "\n".join([self.heading, *summary]))

    def curve(self, runs: pd.DataFrame) -> None:
        runs = with_counts(self.experiment, runs)
        self._csv(RUNS_FILE, runs)
        ratios, displays = [], dict[tuple[str, str], Display]()
        for (name, loss), part in runs.groupby(["set", "loss"], sort=False):
            errors = part.pivot(
                index="repeat", columns=["method", "n_unlabeled"], values="error"
            ).sort_index(axis=1)
            supervised = errors[SUPERVISED].mean()
            # Ratios of means, with the spread of differences that are paired by repetition.
            relative = {
                method: 1 + (errors[method] - errors[SUPERVISED]) / supervised
                for method in dict.fromkeys(part["method"])
                if method != SUPERVISED
            }
            displays[loss, name] = CurveDisplay.from_values(
                supervised.index,
                {m: values.to_numpy() for m, values in relative.items()},
                "unlabelled rows",
                f"error over that of {SUPERVISED}",
                reference=1.0,
            )
            for method, values in relative.items():
                for count, ratio in values.mean().items():
                    ratios.append((name, loss, method, count, ratio))
        frame = pd.DataFrame(ratios, columns=["set", "loss", "method", "n_unlabeled", "ratio"])
        self._csv("ratios.csv", frame)
        summary = curve_summary(frame, runs["repeat"].nunique()) if len(frame) else ""
        self._text("summary.md", "\n".join([self.heading, summary]))
        self._panels(displays)

    def variance(self, runs: pd.DataFrame) -> None:
        self._csv(RUNS_FILE, runs)
        self._text("summary.md", "\n".join([self.heading, variance_summary(runs)]))
        medians = median_ratios(runs).reset_index()
        displays = dict[tuple[str, str], Display]()
        for (name, loss), part in medians.groupby(["set", "loss"], sort=False):
            lines = part.pivot(index="weight", columns="method", values="ratio")
            displays[str(loss), str(name)] = VarianceRatioDisplay(
                lines.index.to_numpy(), lines.to_numpy(), list(lines.columns), ordered=False
            )
        self._panels(displays)

    def _panels(self, displays: dict[tuple[str, str], Display]) -> None:
        """One figure a loss, one panel a set."""
        stem = _PANELS[self.experiment.kind]
        for loss in dict.fromkeys(loss for loss, _ in displays):
            own = {name: display for (of, name), display in displays.items() if of == loss}
            title = f"{self.experiment.title}: {loss.upper()}"
            self._figure(f"{stem}-{loss}", plot_panels(own, title=title))

    def _csv(self, name: str, frame: pd.DataFrame) -> None:
        table = rounded(frame).dropna(axis=1, how="all")
        self._text(name, table.to_csv(index=False, lineterminator="\n"))

    def _text(self, name: str, text: str) -> None:
        self.files.append(self.folder / name)
        write_text(self.files[-1], text)

    def _figure(self, stem: str, figure: Any) -> None:
        for suffix in _FORMATS:
            path = self.folder / f"{stem}.{suffix}"
            try:
                with atomic_write(path, force=True) as temporary:
                    save_figure(figure, temporary, suffix)
            except OSError as error:
                raise unwritable(path, error) from error
            self.files.append(path)
        close_figure(figure)


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with numbers to ten digits, as files have them."""
    frame = frame.copy()
    for column in frame.select_dtypes("float"):
        frame[column] = [float(f"{x:.10g}") if np.isfinite(x) else x for x in frame[column]]
    return frame


def with_counts(experiment: Experiment, runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with the number of unlabelled rows where it is left out, which stands for all."""
    most = {name: experiment.sizes.of(get_facts(name).n_rows)[1] for name in runs["set"].unique()}
    counts = runs["n_unlabeled"].astype(float).fillna(runs["set"].map(most)).astype(int)
    return runs.assign(n_unlabeled=counts)


def fit_runs(cells: Sequence[Cell], results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """One row a fit: its errors, and the hyper-parameters that were chosen."""
    rows = [
        {
            "set": cell.set,
            "loss": cell.loss,
            "method": cell.column,
            "n_unlabeled": cell.n_unlabeled,
            "repeat": cell.repeat,
            **{metric: result[metric] for metric in LOSS_METRICS.values()},
            **result.get("chosen", {}),
            "error": result[LOSS_METRICS[cell.loss]],
        }
        for cell, result in zip(cells, results, strict=True)
    ]
    frame = pd.DataFrame(rows)
    return frame[[*(c for c in frame if c != "error"), "error"]]


def variance_runs(cells: Sequence[Cell], results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """One row for each random model, rule and weight γ."""
    return pd.DataFrame(
        [
            {
                "set": cell.set,
                "loss": cell.loss,
                "method": name,
                "repeat": cell.repeat,
                "removed": result[name]["removed"],
                "weight": weight,
                "ratio": ratio,
            }
            for cell, result in zip(cells, results, strict=True)
            for name in RULES
            for weight, ratio in zip(WEIGHTS, result[name]["ratios"], strict=True)
        ]
    )
