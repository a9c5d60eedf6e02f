"""``semiordinal reproduce``: the paper's tables and figures from the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.progress import progress
from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ..experiments import Cell, Experiment, PaperSettings, RecordStore

_ALL = "all"


@console.command("reproduce")
def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            help="small, large-at, large-it, large-ls, variance, unlabeled-count, or all."
        ),
    ],
    mode: Annotated[
        str, typer.Option(help="paper: its training and grids; exact: our solvers, l2 tuned.")
    ] = "exact",
    repeats: Annotated[int, typer.Option(min=1, help="Random draws of the rows.")] = 20,
    sets: Annotated[str | None, typer.Option(help="Data sets between commas; else all.")] = None,
    losses: Annotated[str | None, typer.Option(help="Of at,it,ls; else all.")] = None,
    methods: Annotated[str | None, typer.Option(help="Columns between commas; else all.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for records and results.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one each core.")] = -1,
    seed: options.SeedOption = 0,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Switch a setting of mode paper, such as refit=true; may be given several times.",
        ),
    ] = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Folder of earlier results, such as docs/results/small-paper: what they have is "
            "not run again, but for one cell of each method, which must be the same.",
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Run the paper's experiments and write tables, figures and a summary.

    Every finished cell is recorded, so the same command continues a run that was stopped,
    and more repetitions add to those that are there. Data sets are
    read from the folder SEMIORDINAL_DATA.

    Examples:

      semiordinal reproduce small
      semiordinal reproduce large-at --mode paper --repeats 5 --sets kinematics,bank1-5
      semiordinal reproduce all --mode paper --out results
      semiordinal reproduce small --mode paper --set refit=true --set columns=all
      semiordinal reproduce small --repeats 30 --from docs/results/small-exact
    """
    from ..experiments import EXPERIMENTS, MODES, RecordStore, cells_of
    from ..experiments._engine import check_ready

    if mode not in MODES:
        raise console.UsageError(f"--mode {mode} is not known; choose from {', '.join(MODES)}.")
    if experiment not in (*EXPERIMENTS, _ALL):
        known = ", ".join([*EXPERIMENTS, _ALL])
        raise console.UsageError(f"There is no experiment {experiment}; choose from {known}.")
    if earlier is not None and experiment == _ALL:
        raise console.UsageError("--from is for one experiment. Name it in place of all.")
    paper = _parse_settings(changes, mode)
    named = list(EXPERIMENTS.values()) if experiment == _ALL else [EXPERIMENTS[experiment]]
    requested = {
        "sets": _parse_names("--sets", sets, [e.sets for e in named]),
        "losses": _parse_names("--losses", losses, [e.losses for e in named]),
        "columns": _parse_names("--methods", methods, [_columns(e, mode) for e in named]),
    }
    runs, notes = [], []
    for each in named:
        has = {"sets": each.sets, "losses": each.losses, "columns": _columns(each, mode)}
        subset = {key: _among(requested[key], names) for key, names in has.items()}
        if any(names == [] for names in subset.values()):
            notes.append(f"{each.name} has none of what is requested.")
            continue
        try:
            own = _mode_of(each, mode)
            settings = None if own is None else paper
            runs.append((each, cells_of(each, own, repeats, seed, **subset, paper=settings)))
        except ValueError as error:
            raise console.UsageError(f"--methods: {error}") from None
    console.require_packages("Figures need", "plot", "matplotlib")
    store = RecordStore(out / "records")
    check_ready([cell for _, cells in runs for cell in cells], store)
    if earlier is not None:
        notes += [_take_earlier(cells, store, earlier) for _, cells in runs]
    if not as_json:
        console.print_notes(notes)
    results = {each.name: _run(each, cells, store, out, jobs, as_json) for each, cells in runs}
    if as_json:
        console.print_json({**results, "notes": notes})


def _take_earlier(cells: list[Cell], store: RecordStore, folder: Path) -> str:
    from ..experiments._earlier import take_earlier

    n_known = take_earlier(cells, store, folder)
    return f"{n_known} of {len(cells)} cells are in {folder}."


def _parse_settings(changes: list[str] | None, mode: str) -> PaperSettings | None:
    from ..experiments import PaperSettings

    if mode != "paper":
        if changes:
            raise console.UsageError(
                "--set is for --mode paper. Give that too, or leave --set out."
            )
        return None
    try:
        return PaperSettings.parse(changes or [])
    except ValueError as error:
        raise console.UsageError(f"--set: {error}.") from None


def _columns(experiment: Experiment, mode: str) -> tuple[str, ...]:
    return tuple(c.name for c in experiment.columns_in(_mode_of(experiment, mode)))


def _mode_of(experiment: Experiment, mode: str) -> str | None:
    return mode if experiment.modes else None


def _parse_names(option: str, text: str | None, known: list[tuple[str, ...]]) -> list[str] | None:
    """Names separated by commas; an error for those that no experiment knows."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    choices = list(dict.fromkeys(name for group in known for name in group))
    if not choices:
        raise console.UsageError(f"{option}: there is nothing to choose here. Leave it out.")
    if not names:
        raise console.UsageError(f"{option} names nothing; choose from {choices}, or leave it out.")
    unknown = [name for name in names if name not in choices]
    if unknown:
        raise console.UsageError(
            f"{option}: {unknown[0]} is not known here; choose from {choices}."
        )
    return names


def _among(names: list[str] | None, known: tuple[str, ...]) -> list[str] | None:
    """Those names that an experiment knows; None for all, or if there is no choice."""
    return None if names is None or not known else [name for name in names if name in known]


def _run(
    experiment: Experiment, cells: list[Cell], store: RecordStore, out: Path, jobs: int, quiet: bool
) -> dict[str, Any]:
    from ..experiments import run_cells
    from ..experiments._results import Run, write_results

    names = list(dict.fromkeys(cell.set for cell in cells))
    sizes = _sizes(experiment, names, cells[0].paper_columns)
    if not quiet:
        console.print_table(
            f"{experiment.name}: {experiment.title}",
            ["set", "priors", "dims", "labelled", "unlabelled", "test"],
            [[name, *row.values()] for name, row in sizes.items()],
            n_texts=2,
        )
    n_known = sum(store.has(cell) for cell in cells)
    if n_known and not quiet:
        console.print_line(
            f"{n_known} of {len(cells)} cells are recorded in {store.folder} already."
        )
    with progress(experiment.name, len(cells)) as advance:
        results = run_cells(cells, store, jobs, advance)
    folder = out / Run.of(cells).folder_name
    files = write_results(experiment, cells, results, folder)
    if not quiet:
        for line in (folder / "summary.md").read_text(encoding="utf-8").splitlines():
            console.print_line(line)
        console.print_line()
        written = ", ".join(path.name for path in files)
        console.print_line(f"{pluralize(len(cells), 'cell')}; results in {folder}: {written}.")
        console.print_line()
    return {"cells": len(cells), "sizes": sizes, "files": [str(path) for path in files]}


def _sizes(
    experiment: Experiment, names: list[str], paper_columns: bool = False
) -> dict[str, dict[str, str]]:
    from ..datasets import get_facts
    from ..datasets._loading import LOST_COLUMN

    sizes = {}
    for name in names:
        facts = get_facts(name)
        labeled, unlabeled, test = experiment.sizes.of(facts.n_rows)
        prior = experiment.prior_of(name)
        shares = ", ".join(f"{share:.2f}" for share in prior)
        if prior.max() - prior.min() < 0.001:
            shares = f"{len(prior)} x {prior.mean():.4g}"
        sizes[name] = {
            "priors": shares,
            "dims": str(facts.n_features - (paper_columns and name in LOST_COLUMN)),
            "labelled": str(labeled),
            "unlabelled": str(unlabeled),
            "test": str(test),
        }
    return sizes
