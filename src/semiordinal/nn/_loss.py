"""A loss module for one's own training loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from .._risk.latent_risk import LatentRisk
from .._risk.losses import get_loss
from .._risk.objective import starting_thresholds, widen_gaps
from .._risk.risks import REMOVED_CLASSES, LabelWeights, Risk, get_correction, removed_by_rule
from .._rows import RowLabels
from .._rows.class_shares import is_of_labels, resolve_prior
from .._utils.checks import check_choice, check_flag, check_number
from .._utils.typing import Array, Codes, Correction, Loss, Margin
from ._function import RiskFunction
from ._thresholds import (
    FreeThresholds,
    OrderedThresholds,
    Thresholds,
    UnitThresholds,
    order_penalty_of,
)

CORRECTION_STEPS = ("gradient", "descent_ascent")


class SemiOrdinalLoss(nn.Module):
    """The semi-supervised ordinal risk of a batch of latent scores.

    It owns the thresholds: give its parameters to the optimiser beside those of the
    network, best in a group without weight decay. Value and gradient come from the same
    code as those of the other estimators, in 64 bits on the CPU.

    Parameters
    ----------
    n_classes : int
    loss : {"at", "it", "ls", "cl", "lad"}, default="at"
        Surrogate loss.
    margin : {"logistic", "double_hinge", "squared", "hinge", "exponential"}, default="logistic"
        Binary loss of which "at" and "it" consist.
    unlabeled_weight : float in [0, 1], default=0.25
        γ: 0 is the supervised risk SV, 1 the risk LU, between them SEMI.
    removed_class : int, "median", "smallest" or "largest", default="median"
        Code of the class whose loss the unlabelled rows stand in for; "smallest" and
        "largest" need ``class_counts``.
    correction : {"none", "non_negative", "leaky", "absolute"}, default="leaky"
        What to do where the unlabelled part of the risk, an estimate of something that is at
        least zero, is negative: nothing; set it to zero; multiply by ``leak``; change its sign.
    leak : float, at most 0, default=-0.2
    correction_step : {"gradient", "descent_ascent"}, default="gradient"
        The gradient where the unlabelled part is negative. "gradient": that of the
        corrected value, all terms of the risk included. "descent_ascent": minus that of
        the negative part and nothing else, as in non-negative risk estimation (Kiryo et
        al., 2017), so that a step undoes the overfitting first; the value is still the
        corrected one, so do not use it with line searches.
    ordered_thresholds : bool, default=True
        Learn a first threshold and gaps that cannot be negative. If False, thresholds are one
        parameter each, in order through ``order_penalty`` alone; where a step still takes a gap to
        zero or below, the value is infinite. LS and LAD learn one threshold in any case.
    order_penalty : float, default=0.0
        μ in ``μ Σ max(0, −log gap)``, added to the risk while training.
    class_prior : array-like of shape (n_classes,), "uniform" or "labels", default="labels"
        Class probabilities; "labels" takes the shares in ``class_counts``, or in the batch.
    class_counts : array-like of shape (n_classes,), optional
        Labelled rows of each class in all the training data. With it, the rows of a batch
        represent all rows of their label, and a batch drawn at random within each label (as by
        `StratifiedBatchSampler`) gives an unbiased estimate of the risk on all rows.
        Without it, the counts are those of the batch.
    missing_label : int or nan, default=-1
        Marks rows without a label.

    Examples
    --------
    >>> import torch
    >>> from semiordinal.nn import SemiOrdinalLoss
    >>> risk = SemiOrdinalLoss(n_classes=3, class_prior=[0.3, 0.4, 0.3])
    >>> latent = torch.tensor([-2.0, 0.1, 2.0, 0.5, -0.5], requires_grad=True)
    >>> value = risk(latent, torch.tensor([0, 1, 2, -1, -1]))
    >>> value.backward()
    >>> round(value.item(), 3), latent.grad.shape
    (0.4, torch.Size([5]))
    >>> risk.predict(latent)
    tensor([0, 1, 2, 1, 1])
    """

    thresholds: Thresholds

    def __init__(
        self,
        n_classes: int,
        *,
        loss: Loss = "at",
        margin: Margin = "logistic",
        unlabeled_weight: float = 0.25,
        removed_class: int | str = "median",
        correction: Correction = "leaky",
        leak: float = -0.2,
        correction_step: str = "gradient",
        ordered_thresholds: bool = True,
        order_penalty: float = 0.0,
        class_prior: Any = "labels",
        class_counts: Any = None,
        missing_label: float = -1,
    ):
        super().__init__()
        if not isinstance(n_classes, int | np.integer) or n_classes < 2:
            raise ValueError(f"n_classes={n_classes!r} must be a whole number, at least 2.")
        check_number("unlabeled_weight", unlabeled_weight, 0, 1)
        check_number("order_penalty", order_penalty, 0)
        check_choice("correction_step", correction_step, CORRECTION_STEPS)
        check_flag("ordered_thresholds", ordered_thresholds)
        self.n_classes = int(n_classes)
        self.missing_label = missing_label
        self.order_penalty = float(order_penalty)
        self.descent_ascent = correction_step == "descent_ascent"
        self._class_prior = class_prior
        self.class_counts = _check_counts(class_counts, self.n_classes)
        self._prior(np.ones(self.n_classes))  # a bad prior is found here, not in training
        self._loss = get_loss(loss, margin)
        removed = _removed_code(removed_class, self.n_classes, self.class_counts)
        self._risk = Risk(
            float(unlabeled_weight), removed, get_correction(leak=leak, name=correction)
        )
        start = starting_thresholds(self._loss, self._prior(np.ones(self.n_classes)))
        if order_penalty and not self._loss.unit_gaps:
            start = widen_gaps(start)
        if self._loss.unit_gaps:
            first = start[0] - self._loss.score_offsets(self.n_classes)[0]
            self.thresholds = UnitThresholds(first, self._loss, self.n_classes)
        elif ordered_thresholds:
            self.thresholds = OrderedThresholds(start)
        elif not order_penalty:
            raise ValueError(
                "ordered_thresholds=False leaves nothing to keep them in order: set "
                "order_penalty > 0 (the paper's is 10), or ordered_thresholds=True."
            )
        else:
            self.thresholds = FreeThresholds(start)
        self._last: tuple[RowLabels, bool, LatentRisk] | None = None

    @property
    def unlabeled_weight(self) -> float:
        """γ of the risk."""
        return self._risk.unlabeled_weight

    @torch.compiler.disable  # the core is no part of a graph; what is around it is compiled
    def forward(self, latent: torch.Tensor, labels: Any, sample_weight: Any = None) -> torch.Tensor:
        """The risk, with the order penalty.

        Parameters
        ----------
        latent : tensor of shape (n,) or (n, 1)
            Scores f(x).
        labels : tensor or array of shape (n,)
            Codes 0 to n_classes − 1, and ``missing_label`` where a row has none.
        sample_weight : tensor or array of shape (n,), optional

        Returns
        -------
        tensor of shape ()
        """
        value = self._evaluate(latent, labels, sample_weight, corrected=True)
        if self.order_penalty and not self._loss.unit_gaps:
            value = value + self.order_penalty * order_penalty_of(self.thresholds())
        return value

    @torch.compiler.disable
    def estimate(
        self, latent: torch.Tensor, labels: Any, sample_weight: Any = None
    ) -> torch.Tensor:
        """The unbiased risk, without correction and penalty: what to compare on held-out rows.

        Parameters
        ----------
        latent, labels, sample_weight
            As for calling the module.

        Returns
        -------
        tensor of shape ()
        """
        with torch.no_grad():
            return self._evaluate(latent, labels, sample_weight, corrected=False)

    @torch.no_grad()
    def predict(self, latent: torch.Tensor) -> torch.Tensor:
        """Codes of the predicted classes.

        Parameters
        ----------
        latent : tensor of shape (n,) or (n, 1)

        Returns
        -------
        tensor of shape (n,)
        """
        return (check_latent(latent)[:, None] > self.thresholds()).sum(dim=1)

    def _evaluate(
        self, latent: torch.Tensor, labels: Any, sample_weight: Any, corrected: bool
    ) -> torch.Tensor:
        latent = check_latent(latent)
        rows = self._rows(labels, sample_weight, len(latent))
        risk = self._risk_of(rows, corrected)
        thresholds = self.thresholds.for_loss()
        value: torch.Tensor = RiskFunction.apply(
            latent, thresholds, risk, self.descent_ascent and corrected
        )
        return value

    def _rows(self, labels: Any, sample_weight: Any, n_rows: int) -> RowLabels:
        values = _as_array(labels)
        if values.shape != (n_rows,):
            raise ValueError(
                f"labels has shape {values.shape}, but there are {n_rows} scores: give one label "
                f"for each, and {self.missing_label} where a row has none."
            )
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(n_rows, dtype=bool)
        missing |= values == self.missing_label
        codes = np.where(missing, -1, values).astype(np.intp)
        labeled = codes[~missing]
        if len(labeled) and (
            labeled.min() < 0
            or labeled.max() >= self.n_classes
            or (labeled != values[~missing]).any()
        ):
            raise ValueError(
                f"labels must be codes 0 to {self.n_classes - 1}, or missing_label="
                f"{self.missing_label}; found {labeled.min()} to {labeled.max()}."
            )
        if sample_weight is None:
            return RowLabels(codes)
        weights = _as_array(sample_weight).astype(np.float64)
        if weights.shape != (n_rows,) or not (weights >= 0).all():
            raise ValueError("sample_weight must hold one number, at least zero, for each score.")
        return RowLabels(codes, weights)

    def _risk_of(self, rows: RowLabels, corrected: bool) -> LatentRisk:
        """The risk of a batch, cached for the next call: full batches are always the same."""
        if self._last is not None:
            last, was_corrected, risk = self._last
            if was_corrected == corrected and _same(last.codes, rows.codes):
                if _same(last.weights, rows.weights):
                    return risk
        correction = self._risk.correction if corrected else None
        table = self._label_weights(
            rows, Risk(self._risk.unlabeled_weight, self._risk.removed, correction)
        )
        risk = LatentRisk(rows, self._loss, table, correction)
        self._last = rows, corrected, risk
        return risk

    def _label_weights(self, rows: RowLabels, risk: Risk) -> LabelWeights:
        totals = rows.totals(self.n_classes)
        counts, n_unlabeled = totals[:-1], float(totals[-1])
        prior = self._prior(counts)
        self._check_batch(counts, n_unlabeled, prior)
        if self.class_counts is None:
            return risk.label_weights(counts, n_unlabeled, prior)
        # Each row of the batch stands for as many of its label as there are in all.
        weights = risk.label_weights(self.class_counts, n_unlabeled, prior)
        stands_for = np.divide(
            self.class_counts, counts, out=np.zeros(self.n_classes), where=counts > 0
        )
        factors = np.r_[stands_for, 1.0][:, None]
        rest = None if weights.corrected is None else factors * weights.corrected
        return LabelWeights(factors * weights.main, rest, weights.factor)

    def _prior(self, batch_counts: Array) -> Array:
        counts = batch_counts if self.class_counts is None else self.class_counts
        if not counts.any():
            raise ValueError(
                "The batch has no labelled row. Draw batches by StratifiedBatchSampler, which "
                "keeps labelled rows of every class in each."
            )
        return resolve_prior(self._class_prior, counts, np.arange(self.n_classes))

    def _check_batch(self, counts: Array, n_unlabeled: float, prior: Array) -> None:
        """Raise where rows are missing without which the estimate would be biased."""
        needed = np.zeros(self.n_classes, dtype=bool)
        if self.class_counts is not None:
            needed |= self.class_counts > 0
        if self._risk.unlabeled_weight:
            # Shares by the labels of the batch are zero for the very classes that it lacks.
            by_batch = self.class_counts is None and is_of_labels(self._class_prior)
            needed |= ((prior > 0) | by_batch) & (np.arange(self.n_classes) != self._risk.removed)
        absent = np.flatnonzero(needed & (counts == 0))
        if not counts.any() or len(absent):
            what = f"labelled row of class {absent[0]}" if len(absent) else "labelled row"
        elif self._risk.unlabeled_weight and not n_unlabeled:
            what = f"unlabelled row, but unlabeled_weight={self._risk.unlabeled_weight}"
        else:
            return
        raise ValueError(
            f"The batch has no {what}. Draw batches by StratifiedBatchSampler, which keeps "
            "labelled rows of every class and unlabelled ones in each, or raise the batch size."
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_last": None}  # a batch is no part of a stored module


def check_latent(latent: torch.Tensor) -> torch.Tensor:
    """Scores of shape (n,), from those of shape (n,) or (n, 1)."""
    if latent.ndim == 2 and latent.shape[1] == 1:
        return latent[:, 0]
    if latent.ndim != 1:
        raise ValueError(
            f"The scores have shape {tuple(latent.shape)}; one number for each row is needed, of "
            "shape (n,) or (n, 1). End the network with a layer of one output, such as "
            "torch.nn.Linear(n_hidden, 1)."
        )
    return latent


def _as_array(values: Any) -> Any:
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        return (values.float() if values.is_floating_point() else values).numpy()
    return np.asarray(values)


def _same(one: Codes | Array | None, other: Codes | Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _check_counts(class_counts: Any, n_classes: int) -> Array | None:
    if class_counts is None:
        return None
    counts = np.asarray(class_counts, dtype=np.float64)
    if counts.shape != (n_classes,) or not (counts >= 0).all() or not counts.any():
        raise ValueError(
            f"class_counts must hold the number of labelled rows of each of the {n_classes} "
            "classes, not all of them zero."
        )
    return counts


def _removed_code(removed_class: int | str, n_classes: int, class_counts: Array | None) -> int:
    if removed_class == "median":
        return removed_by_rule("median", np.ones(n_classes))
    if removed_class in REMOVED_CLASSES:
        if class_counts is None:
            raise ValueError(
                f"removed_class={removed_class!r} needs class_counts, since batches may differ "
                "in it: give the labelled rows of each class, or a code, or 'median'."
            )
        return removed_by_rule(str(removed_class), class_counts)
    if not isinstance(removed_class, int | np.integer) or not 0 <= removed_class < n_classes:
        raise ValueError(
            f"removed_class={removed_class!r} must be a code 0 to {n_classes - 1}, or one of "
            f"{list(REMOVED_CLASSES)}."
        )
    return int(removed_class)
