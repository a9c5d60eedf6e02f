"""What ``fit``, ``diagnose`` and ``inspect`` print of a model: plain words, then the details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._judge import wording
from .._utils.text import join_names
from ..metrics import METRICS
from . import _console as console

if TYPE_CHECKING:
    from .._judge.assessment import Assessment

_FITS = {
    "SV-CV": "the same kind of model without the unlabelled rows",
    "SV": "the same model without the unlabelled rows",
    "without_shares": "the same model without the class shares",
    "constant": "always the same class",
}


def print_model(result: dict[str, Any]) -> None:
    """Say what kind of model it is, in a line."""
    chosen = result["chosen"] or {}
    if "weights" in chosen:
        weights = sorted(chosen["weights"].items(), key=lambda item: -item[1])
        parts = [f"{name} {weight:.0%}".replace("%", " %") for name, weight in weights]
        text = f"an average of {join_names(parts)}" if len(parts) > 1 else weights[0][0]
    else:
        how = "its settings were chosen from the data" if chosen else "its settings are fixed"
        text = f"{result['model']}; {how}"
    console.print_line(f"Model: {text}.")


def print_errors(assessment: Assessment | None) -> None:
    """Say how good the model is: its error and the floor, recall by class, and one gain."""
    if assessment is None:
        return
    console.print_line(wording.error_sentence(assessment))
    console.print_line(wording.distance_sentence(assessment))
    rows = [
        [str(r.label), str(r.n_rows), f"{r.n_found} of {r.n_rows}", f"{r.n_near} of {r.n_rows}"]
        for r in assessment.recalls()
    ]
    console.print_table(
        "Which classes it finds, by held-out rows",
        ["class", "rows", "exactly right", "right or one class off"],
        rows,
    )
    if missed := wording.recall_sentence(assessment):
        console.print_line(missed)
    console.print_line(wording.change_sentence(assessment))


def print_details(result: dict[str, Any], assessment: Assessment | None) -> None:
    """Print settings, what was chosen and why, and all errors, for those who want them."""
    settings = ", ".join(f"{name}={value}" for name, value in result["settings"].items())
    console.print_line(f"Settings: {settings}")
    shares = {label: f"{share:.3f}" for label, share in result["class_prior"].items()}
    console.print_line(
        "Class shares in use: " + ", ".join(f"{label}: {share}" for label, share in shares.items())
    )
    if result["chosen"]:
        print_chosen(result["chosen"])
    if assessment is not None:
        print_scores(assessment)


def print_chosen(chosen: dict[str, Any]) -> None:
    """Print what a classifier chose, and the reason below."""
    if "leaderboard" in chosen:
        board = chosen["leaderboard"]
        rows = [
            [
                name,
                f"{error:.3f} ± {console.format_number(spread)}",
                "" if weight is None else f"{weight:.0%}",
            ]
            for name, error, spread, weight in zip(
                *(board[key] for key in ("model", "error", "standard_error", "weight")), strict=True
            )
        ]
        console.print_table("Models of the average", ["", "error", "weight"], rows)
    else:
        _print_settings(chosen)
    console.print_line(f"Why: {chosen['reason']}")


def _print_settings(chosen: dict[str, Any]) -> None:
    rows = [
        ["penalty, l2", f"{chosen['l2']:g}"],
        ["weight of unlabelled rows in the risk", f"{chosen['unlabeled_weight']:g}"],
        ["share of the thresholds that class priors set", f"{chosen['prior_share']:.2f}"],
    ]
    if chosen["removed_class"] is not None:
        rows.insert(2, ["class that they stand in for", str(chosen["removed_class"])])
    if chosen["bandwidth"] is not None:
        rows.append(["width of the kernel", f"{chosen['bandwidth']:.4g}"])
    console.print_table("Chosen from the data", ["", "value"], rows)


def print_scores(assessment: Assessment) -> None:
    """Print all errors with their standard errors."""
    rows = []
    for name, held_out in assessment.predictions.items():
        scores = held_out.scores()
        cells = [
            f"{scores[metric]:.3f} ± {console.format_number(_spread(assessment, name, metric))}"
            for metric in METRICS[:-1]
        ]
        what = "the model that is saved" if name == assessment.name else _FITS.get(name)
        label = f"{name}, {what}" if what else name
        rows.append([label, *cells, console.format_number(scores["QWK"])])
    title = f"Errors on {len(assessment.model.codes)} held-out rows, ± standard error"
    console.print_table(title, ["", *METRICS], rows)
    if sentence := wording.held_out_sentence(assessment):
        console.print_line(sentence)


def _spread(assessment: Assessment, name: str, metric: str) -> float:
    return float(assessment.error(name, metric).standard_error)
