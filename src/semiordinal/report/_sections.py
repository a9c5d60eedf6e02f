"""From findings to the sections of the page, in words for those who know the data best."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._rows.labels import known_codes
from .._utils.text import pluralize
from ..diagnosis._text import FITS, percent
from ..metrics import METRICS
from ..plotting import (
    CalibrationDisplay,
    CoefficientsDisplay,
    ConfusionDisplay,
    SharesDisplay,
    Table,
    ThresholdsDisplay,
    class_names,
)
from ..plotting._confusion import short_count
from ._findings import Findings
from ._page import Fact, Section, figure

_ROWS_OF_A_BIN = 20
_SENTENCES = {
    "MAE": "The predictions are {:.2f} classes off on average (MAE)",
    "MZE": "The share of wrong predictions is {:.2f} (MZE)",
    "MSE": "The squared distance to the label, in classes, is {:.2f} on average (MSE)",
}
_WEIGHTED = "Rows count so that the classes have the shares that the class prior says."


def facts(findings: Findings) -> list[Fact]:
    """The numbers to see first."""
    shown = [
        Fact(*pluralize(number, what).split(" ", 1))
        for number, what in (
            (findings.diagnosis.n_labeled, "labelled row"),
            (findings.diagnosis.n_unlabeled, "unlabelled row"),
        )
    ]
    held_out = findings.model_held_out
    if held_out is not None:
        scores = held_out.scores()
        how = ", by the class prior" if findings.problem.prior_is_given else ""
        shown += [
            Fact(f"{scores['MAE']:.2f}", f"classes off, on average (MAE){how}"),
            Fact(percent(1 - scores["MZE"]), f"predicted exactly right{how}"),
            Fact(percent(held_out.share_within(1)), f"right or one class off{how}"),
        ]
    return shown


def model_note(findings: Findings) -> str:
    """Which model the page is about."""
    settings = findings.problem.estimator
    return (
        f"This page is about a model with fixed settings (penalty l2 = {settings.l2:g}, weight of "
        f"the unlabelled rows {settings.unlabeled_weight:g}), not about the tuned model that "
        "“semiordinal fit” saves, whose errors that command prints."
    )


def data_section(findings: Findings, columns: list[Table], notes: list[str]) -> Section:
    """What is in the table."""
    counts = findings.problem.counts
    names = class_names(findings.problem.classes)
    shares = {"labelled rows": counts / counts.sum()}
    if findings.problem.prior_is_given:
        shares["class prior, as given"] = findings.problem.class_prior
    k = len(names)
    classes = Table(
        ["class, from the lowest", "labelled rows", "share"],
        [
            [n, int(c), float(s)]
            for n, c, s in zip(names, counts, counts / counts.sum(), strict=True)
        ],
        "Classes",
    )
    diagnosis = findings.diagnosis
    n_rows = diagnosis.n_labeled + diagnosis.n_unlabeled
    lead = (
        f"{pluralize(n_rows, 'row')}: {diagnosis.n_labeled:,} with a label and "
        f"{diagnosis.n_unlabeled:,} without."
    )
    if diagnosis.n_unlabeled_used < diagnosis.n_unlabeled:
        lead += (
            f" Of the unlabelled rows, {diagnosis.n_unlabeled_used:,} were drawn at random for "
            "all that follows; more change next to nothing."
        )
    display = SharesDisplay.from_values(names, shares)
    caption = "How often each class occurs among the labelled rows, from the lowest class."
    shown = figure(display, "classes", "Shares of the classes", caption, k, (6.0, 3.0))
    return Section("data", "The data", lead, [shown], [classes, *columns], notes)


def errors_section(findings: Findings) -> Section:
    """How good the model is, and where it is wrong."""
    held_out = findings.model_held_out
    if held_out is None:
        lead = "No class has two labels, so nothing can be held out to measure errors on."
        return Section("errors", "How good is it?", lead)
    k = len(findings.problem.classes)
    scores = {name: each.scores() for name, each in findings.held_out.items()}
    names = {"guess": _guess_name(findings), **FITS}
    table = Table(
        ["fit", *METRICS],
        [[names[n], *(scores[n][m] for m in METRICS)] for n in names if n in scores],
        "Errors on held-out rows",
    )
    model_scores = scores[list(findings.models)[-1]]
    metric = findings.diagnosis.metric
    rows = pluralize(len(held_out.codes) // findings.n_rounds, "row")
    sentence = _SENTENCES[metric].format(model_scores[metric])
    lead = (
        f"Each labelled row was predicted by a model that had not seen it ({rows} in "
        f"{findings.problem.n_folds} parts, {_rounds(findings)}). {sentence}; predicting "
        f"{names['guess']} would give {scores['guess'][metric]:.2f}."
    )
    notes = [
        "MAE, MZE and MSE are the mean absolute error, the share of wrong classes and the mean "
        "squared error, all in steps of the class order: lower is better. QWK is the quadratically "
        "weighted kappa: 1 is perfect, 0 is chance."
    ]
    if findings.problem.prior_is_given:
        notes.append(_WEIGHTED)
    display = ConfusionDisplay.from_codes(
        held_out.codes, held_out.predicted, findings.problem.classes, findings.row_counts
    )
    shown = figure(
        display,
        "confusion",
        "Labels against predictions",
        "Rows are the true classes, columns the predicted ones, both from the lowest. Framed "
        f"cells are right; the further from the frame, the worse the mistake.{_counting(findings)}",
        k,
        display.size,
    )
    return Section(
        "errors", "How good is it, and where is it wrong?", lead, [shown], [table], notes
    )


def _guess_name(findings: Findings) -> str:
    """Which class is guessed where nothing is known of a row."""
    seen = class_names(findings.problem.classes[np.unique(findings.held_out["guess"].predicted)])
    if len(seen) == 1:
        return f"always {seen[0]} (the median class)"
    return f"always the median class ({' or '.join(seen)}, by part)"


def _rounds(findings: Findings) -> str:
    return "once" if findings.n_rounds == 1 else f"{findings.n_rounds} times"


def _counting(findings: Findings) -> str:
    """How rows are counted that were held out several times, or by the prior."""
    text = ""
    if findings.n_rounds > 1:
        text += f" Numbers of rows are means over {findings.n_rounds} rounds."
    return f"{text} {_WEIGHTED}" if findings.problem.prior_is_given else text


def scores_section(findings: Findings) -> Section:
    """Densities of scores with thresholds."""
    problem = findings.problem
    latent = findings.model.predict_latent(problem.X)
    display = ThresholdsDisplay.from_predictions(
        latent, problem.codes, findings.model.thresholds_, problem.classes
    )
    shown = figure(
        display,
        "thresholds",
        "Scores by class, and the thresholds between classes",
        "One hill for each class, as large as its share of the labelled rows. A row is predicted "
        "as the class between whose dashed thresholds its score falls; where hills overlap, "
        "classes are confused. A class of one row is a point.",
        len(problem.classes),
    )
    lead = (
        "The model gives every row one number, its score, and cuts the scale of scores into "
        "classes. The rows shown are those it was fitted to."
    )
    return Section("scores", "How does it tell the classes apart?", lead, [shown])


def calibration_section(findings: Findings) -> Section:
    """Whether the probabilities hold."""
    held_out = findings.model_held_out
    title = "Can its probabilities be trusted?"
    if held_out is None or held_out.cumulative is None:
        loss = findings.problem.estimator.loss
        lead = (
            "Nothing can be held out to compare probabilities with."
            if held_out is None
            else f"The loss {loss!r} gives no honest probabilities, so there are none to check. "
            "The losses 'at' and 'cl' do."
        )
        return Section("calibration", title, lead)
    first = held_out.first(len(held_out.codes) // findings.n_rounds)
    n_bins = int(np.clip(len(first.codes) // _ROWS_OF_A_BIN, 3, 8))
    display = CalibrationDisplay.from_predictions(
        first.cumulative, first.codes, findings.problem.classes, n_bins, first.weights
    )
    source = "" if findings.n_rounds == 1 else f" From the first of {findings.n_rounds} rounds."
    source += f" {_WEIGHTED}" if findings.problem.prior_is_given else ""
    shown = figure(
        display,
        "calibration",
        "Predicted probabilities against what happened",
        "For each class, the predicted probability of that class or a lower one, against the "
        "share of held-out rows for which it was so. On the diagonal the probabilities are right; "
        f"above it, low classes are more frequent than predicted.{source}",
        len(findings.problem.classes),
        (6.0, 4.8),
    )
    lead = (
        f"On held-out rows, predicted and observed shares differ by "
        f"{float(display.errors.mean()):.3f} on average."
    )
    return Section("calibration", title, lead, [shown])


def coefficients_section(findings: Findings, names: list[str]) -> Section:
    """What drives the score."""
    title = "What drives the prediction?"
    if findings.coefficients is None:
        lead = "This model bends with the labelled rows and has no coefficient for each column."
        return Section("coefficients", title, lead)
    coef, intervals = findings.coefficients
    display = CoefficientsDisplay.from_values(
        names, coef, intervals, unit="one standard deviation more"
    )
    caption = (
        "How much the score rises if a column is one standard deviation higher, others equal. "
        "Right of the dotted line: towards higher classes."
    )
    if intervals is None:
        lead = (
            "There are too few labels for intervals, so even the directions are uncertain: it "
            "takes two labels of every class, and five on average."
        )
    else:
        caption += (
            " Lines are 90 % bootstrap intervals; one across the dotted line means that the "
            "direction is not certain."
        )
        n_sure = int(((intervals > 0).all(axis=1) | (intervals < 0).all(axis=1)).sum())
        lead = (
            f"For {n_sure} of {pluralize(len(names), 'column')} the interval lies on one side of "
            "zero, so that the direction is fairly certain."
        )
    shown = figure(
        display,
        "coefficients",
        "Coefficients, the largest first",
        caption,
        len(findings.problem.classes),
        (6.0, display.height),
    )
    lead += " A coefficient is an association, not a cause."
    return Section("coefficients", title, lead, [shown])


def comparison_section(findings: Findings) -> Section:
    """SV against SEMI."""
    title = "What do the unlabelled rows change?"
    if "SEMI" not in findings.models:
        return Section("comparison", title, "There are no unlabelled rows.")
    problem = findings.problem
    rows = problem.unlabeled
    predicted = {
        name: known_codes(model.predict(problem.X[rows]), problem.classes)
        for name, model in findings.models.items()
    }
    same = float((predicted["SV"] == predicted["SEMI"]).mean())
    k = len(problem.classes)
    shares = {
        "assumed": problem.class_prior,
        **{
            f"predicted, {FITS[name]}": np.bincount(codes, minlength=k) / len(codes)
            for name, codes in predicted.items()
        },
    }
    shown = figure(
        SharesDisplay.from_values(problem.classes, shares),
        "predicted-shares",
        "Classes that are predicted for the unlabelled rows",
        "Shares of the classes among predictions, with and without learning from these rows, "
        "beside the shares that the method assumes.",
        k,
    )
    lead = (
        f"Learning from the unlabelled rows too changes the prediction of {percent(1 - same)} of "
        "them. Whether for the better, the section above says."
    )
    tables = [_comparison_table(findings), _threshold_table(findings)]
    return Section("comparison", title, lead, [shown], [t for t in tables if t.rows])


def _comparison_table(findings: Findings) -> Table:
    rows: list[list[Any]] = []
    if findings.held_out:
        off = {name: findings.held_out[name].errors("MAE") for name in ("SV", "SEMI")}
        better, worse = off["SEMI"] < off["SV"], off["SEMI"] > off["SV"]
        rows = [
            [meaning, short_count(findings.row_counts @ is_case)]
            for meaning, is_case in (
                ("nearer to the label with unlabelled rows", better),
                ("as near", ~better & ~worse),
                ("nearer without them", worse),
            )
        ]
    title = f"Held-out predictions.{_counting(findings)}".removesuffix(".")
    return Table(["held-out rows", "rows"], rows, title)


def _threshold_table(findings: Findings) -> Table:
    classes = class_names(findings.problem.classes)
    pairs = [f"{a} | {b}" for a, b in pairwise(classes)]
    # Where the scale of scores begins differs from fit to fit.
    each = [
        m.thresholds_ - m.predict_latent(findings.problem.X).mean()
        for m in findings.models.values()
    ]
    rows = [[pair, *(float(t[i]) for t in each)] for i, pair in enumerate(pairs)]
    title = "Thresholds, less the mean score of all rows"
    return Table(["between", *(FITS[name] for name in findings.models)], rows, title)
