"""What the tuned classifiers share: search, fit, thresholds, and the reasons for all three."""

from __future__ import annotations

import math
from abc import abstractmethod
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import expit

from .._decide import (
    THRESHOLDS,
    BaseProbabilisticClassifier,
    Decision,
    Gain,
    ShareEvidence,
    decide,
    describe_one_class,
    judge_shares,
    shares_reason,
)
from .._risk.losses import OrdinalLoss, get_loss
from .._risk.risks import Risk, get_correction
from .._rows import DrawPartial
from .._rows.class_shares import check_form, given_shares, is_of_labels
from .._rows.class_weights import check_sole_weight
from .._rows.training import TrainingRows, fit_context, training_rows
from .._utils.checks import (
    check_choice,
    check_count,
    check_jobs,
    check_list,
    check_number,
    check_verbose,
)
from .._utils.computing import blas_threads_for
from .._utils.progress import progress
from .._utils.seeds import draw_seed
from .._utils.text import as_written
from .._utils.typing import Array, Codes
from .base import BaseRiskClassifier, FittingProblem, removed_code
from .empty_classes import EmptyClasses
from .tuning import (
    DEFAULT_FOLDS,
    Candidate,
    Choice,
    Criterion,
    Fold,
    FoldFits,
    FoldScores,
    ScoredFolds,
    TuningRows,
    check_cv,
    cross_fitted_scores,
    fit_l2_path,
    folds_of_sample,
    get_criterion,
    get_scoring,
    grid_end,
    has_shortcut,
    is_auto,
    labeled_folds,
    leave_one_out_path,
    results_table,
    risk_reason,
    search,
    training_folds,
)

# Without folds there is nothing to choose by; this penalty is the plain classifiers' default.
_PENALTY_WITHOUT_FOLDS = 0.01


class BaseTunedClassifier(BaseProbabilisticClassifier):
    """A classifier that chooses penalty, risk and thresholds from its training rows."""

    _takes_sources = True
    _takes_intervals = True
    _holds_rows_out = True

    estimator_: BaseRiskClassifier
    coef_: Array
    class_prior_: Array
    removed_class_: Any
    objective_value_: float
    is_convex_: bool
    n_iter_: int
    n_labeled_: int
    n_unlabeled_: int
    n_passes_: int
    held_out_codes_: Codes
    held_out_weights_: Array
    held_out_cumulative_: Array

    l2s: Any
    unlabeled_weights: Any
    removed_classes: Any
    thresholds: str
    criterion: str
    # Of models in files that were written before these could be set.
    class_weight: Any = None
    scoring: Any = None
    n_jobs: int | None = None
    cv: Any
    n_repeats: int
    safety: float
    class_prior: Any
    classes: Any
    max_iter: int
    max_unlabeled: int
    verbose: bool | int
    random_state: Any

    @abstractmethod
    def _models(self) -> list[BaseRiskClassifier]:
        """Plain classifiers that differ in how they see the rows, one for each such setting."""

    def _problems(
        self, rows: TrainingRows, loss: OrdinalLoss, risk: Risk, prior: Array
    ) -> list[FittingProblem]:
        """The problem of each of the plain classifiers, all with one risk."""
        return [model._problem(rows, loss, risk, prior) for model in self._models()]

    def _shared_settings(self) -> dict[str, Any]:
        """Parameters of a plain classifier that are the same for all candidates."""
        names = (
            *("loss", "margin", "supervised_weights", "correction", "class_weight"),
            *("standardize", "classes", "missing_label", "max_iter", "tol", "random_state"),
        )
        return {name: getattr(self, name) for name in names}

    def _latent(self, X: Any) -> Array:
        return self.estimator_._latent(X)

    def _check_probabilities(self) -> None:
        """Whatever the loss, there are some unless nothing could be held out."""
        is_calibrated = hasattr(self, "median_thresholds_") or not hasattr(self, "thresholds_")
        if not is_calibrated:
            super()._check_probabilities()

    def _log_odds(self, latent: Array) -> Array:
        if not hasattr(self, "median_thresholds_"):  # nothing could be held out, or an old file
            return super()._log_odds(latent)
        return self.log_odds_ * (self.median_thresholds_ - latent[:, None])

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Choose and fit, from labelled and unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, 2)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none. With loss "at" or
            "cl", intervals of classes too, as `LinearOrdinalClassifier.fit` takes them: all folds
            learn from these, and errors are those of rows that have one class.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight two counts as two such rows, labelled or not.
        X_unlabeled : array, sparse matrix, data frame or source of rows, optional
            More rows without labels, each of weight one, in any form that
            `LinearOrdinalClassifier.fit` takes.

        Returns
        -------
        self
        """
        self._check_parameters()
        with fit_context(self):
            rows = training_rows(
                self, X, y, sample_weight, X_unlabeled, self.classes, self.missing_label, False
            )
            empty = EmptyClasses.find(rows.labels, rows.classes, self.class_prior, rows.n_unlabeled)
            if empty is not None:
                self._fit_with_empty(empty, rows, X, y, sample_weight, X_unlabeled)
                return self
            folds = None
            if not is_auto(self.cv):  # splits as given are checked before any work is done
                folds = training_folds(
                    rows.labels.codes, self.cv, self.n_repeats, self.random_state, sample_weight
                )
            self._fit_rows(rows, folds)
        return self

    def _fit_rows(self, rows: TrainingRows, folds: list[Fold] | None) -> None:
        loss = get_loss(self.loss, self.margin).with_intervals(rows.labels.intervals)
        counts = rows.expected_counts
        given = given_shares(self.class_prior, counts, rows.classes)
        prior = counts / counts.sum() if given is None else given
        removed = self._removed_codes(rows)
        check_unlabeled_rows(self.thresholds, rows.n_unlabeled)
        models = self._models()
        risk = self._common_risk(models[0], rows, prior)
        draw = DrawPartial(int(self.max_unlabeled), self._draw_seed())
        rows = models[0]._narrow(rows, with_unlabeled=bool(self._risks(removed)))
        rows = rows.read(take_gram=False, sample=draw)
        problems = self._problems(rows, loss, risk, prior)
        sample = rows.sample(draw)
        settings = [_tuning_rows(problem, sample, at) for at, problem in enumerate(problems)]
        if folds is None:
            folds = self._automatic_folds(rows, settings[0], removed)
        folds = folds_of_sample(folds, rows.labels.codes, sample.labels.codes)
        criterion = self._criterion(models, problems, sample)
        with blas_threads_for(settings[0].design.n_columns):
            evidence, paths = None, None
            if folds and rows.n_unlabeled and not is_of_labels(self.class_prior):
                first = self._choose(settings, folds, [], criterion)
                assert first is not None
                evidence = _share_evidence(settings[first.setting], first, given)
                prior = evidence.shares
                settings = [setting.for_population(prior) for setting in settings]
                if self.supervised_weights == "rows":  # else the fits depend on the shares
                    paths = first.held_out_paths
            choice = self._choose(settings, folds, removed, criterion, paths)
        setting = 0 if choice is None else choice.setting
        candidate = Candidate(_nearest_penalty(self.l2s)) if choice is None else choice.candidate
        if not candidate.unlabeled_weight:  # has no effect then, but has a name
            candidate = replace(candidate, removed=removed[0])
        model = models[setting].set_params(
            l2=candidate.l2,
            unlabeled_weight=candidate.unlabeled_weight,
            removed_class=rows.classes.tolist()[candidate.removed],
            class_prior=prior,
            classes=rows.classes,
        )
        problem = problems[setting].with_risk(candidate.risk(risk), candidate.l2, prior)
        model._store(rows, problem, model._solve(problem))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        decision, at_medians = self._decisions(settings, problem, choice, model, evidence)
        self._store(model, rows, choice, candidate, decision, at_medians, risk.class_weight)
        if choice is not None and rows.n_unlabeled and evidence is None:
            evidence = _share_evidence(settings[setting], choice, None)
        self.prior_trust_ = 0.0 if evidence is None else evidence.trust
        self.shares_reason_ = shares_reason(
            evidence, self.class_prior, rows.n_unlabeled, rows.classes
        )
        if self.verbose:
            print(f"l2={self.l2_:g}, unlabeled_weight={self.unlabeled_weight_:g}. {self.reason_}")

    def _fit_with_empty(self, empty: EmptyClasses, rows: TrainingRows, *given: Any) -> None:
        """Fit to the classes that have labels, and place the others by their shares."""
        others = empty.fit_others(self, *given)
        draw = DrawPartial(int(self.max_unlabeled), self._draw_seed())
        sample = rows.read(take_gram=False, sample=draw).sample(draw)
        X = sample.stacked()[np.flatnonzero(sample.labels.codes == -1)]
        offsets = empty.offsets(others._log_odds(others._latent(X)))
        slope = float(getattr(others, "log_odds_", 1.0))
        empty.place_thresholds(self, offsets, slope, get_loss(self.loss, self.margin).task)

    def _draw_seed(self) -> int:
        return draw_seed(self.random_state)

    def _check_parameters(self) -> None:
        self._models()[0]._check_parameters()
        get_loss(self.loss, self.margin)
        get_criterion(self.criterion)
        self._check_scoring()
        check_sole_weight(
            self.class_weight,
            class_prior=self.class_prior,
            thresholds=self.thresholds,
            criterion=self.criterion,
        )
        check_list("l2s", self.l2s)
        check_list("unlabeled_weights", self.unlabeled_weights, may_be_empty=True)
        check_list("removed_classes", self.removed_classes, "rules or classes")
        for name, high in (("l2s", math.inf), ("unlabeled_weights", 1.0)):
            for value in getattr(self, name):
                check_number(f"each of {name}: {name}", value, 0.0, high)
        check_decision_parameters(self.class_prior, self.thresholds, self.cv, self.safety)
        check_count("n_repeats", self.n_repeats)
        check_count("max_unlabeled", self.max_unlabeled)
        check_verbose(self.verbose)
        check_jobs(self.n_jobs)

    def _check_scoring(self) -> None:
        if self.scoring is None:
            return
        get_scoring(self.scoring)
        if self.criterion != "surrogate":
            raise ValueError(
                f"scoring and criterion={as_written(self.criterion)} both say what candidates are "
                "compared by. Give one of them."
            )

    def _common_risk(self, model: BaseRiskClassifier, rows: TrainingRows, prior: Array) -> Risk:
        """The supervised risk, with the correction that those with unlabelled rows have."""
        risk = model.set_params(unlabeled_weight=0.0)._risk(rows, prior)
        return replace(risk, correction=get_correction(model.correction, model.leak))

    def _automatic_folds(
        self, rows: TrainingRows, setting: TuningRows, removed: list[int]
    ) -> list[Fold]:
        """Each row alone where one fit tells what all of these are worth; else five folds."""
        l2 = float(self.l2s[0])
        candidates = [Candidate(l2), *(Candidate(l2, *risk) for risk in self._risks(removed))]
        is_quick = all(has_shortcut(setting, candidate) for candidate in candidates)
        leave_one_out = is_quick and self.criterion != "plug_in" and self.scoring is None
        cv = "loo" if leave_one_out else DEFAULT_FOLDS
        return labeled_folds(rows.labels.codes, cv, self.n_repeats, self.random_state)

    def _risks(self, removed: list[int]) -> list[tuple[float, int]]:
        """Weights of unlabelled rows above zero to try, with classes to remove."""
        weights = [float(weight) for weight in self.unlabeled_weights if weight > 0]
        return [(weight, code) for weight in weights for code in removed]

    def _removed_codes(self, rows: TrainingRows) -> list[int]:
        """Classes that may be removed."""
        codes = [removed_code(rule, rows, "removed_classes") for rule in self.removed_classes]
        return list(dict.fromkeys(codes))

    def _choose(
        self,
        settings: list[TuningRows],
        folds: list[Fold],
        removed: list[int],
        criterion: Criterion,
        held_out_paths: list[list[FoldScores]] | None = None,
    ) -> Choice | None:
        if not folds:
            return None
        l2s, risks = [float(l2) for l2 in self.l2s], self._risks(removed)
        # Folds of one row each may follow from one fit; the path falls back to a fit a fold.
        one_by_one = all(len(fold.test) == 1 for fold in folds)
        is_quick = one_by_one and has_shortcut(settings[0], Candidate(l2s[0]))
        along = leave_one_out_path if one_by_one else fit_l2_path
        fits = FoldFits(folds, int(self.max_iter), along, not is_quick, self.n_jobs)
        n_steps = fits.n_parts * (len(settings) * (held_out_paths is None) + len(risks))
        with progress("Searching", n_steps, bool(self.verbose)) as advance:
            return search(
                settings,
                replace(fits, advance=advance),
                l2s,
                risks,
                criterion,
                float(self.safety),
                held_out_paths,
            )

    def _criterion(
        self, models: list[BaseRiskClassifier], problems: list[FittingProblem], rows: TrainingRows
    ) -> Criterion:
        """What candidates are compared by."""
        if self.scoring is None:
            return get_criterion(self.criterion)
        labeled = np.flatnonzero(rows.labels.codes >= 0)
        labels = rows.labels.take(labeled)
        return ScoredFolds(
            get_scoring(self.scoring),
            rows.stacked()[labeled],
            rows.classes[labels.codes],
            labels.weights,
            [
                partial(_as_classifier, model, problem, rows)
                for model, problem in zip(models, problems, strict=True)
            ],
        )

    def _decisions(
        self,
        settings: list[TuningRows],
        problem: FittingProblem,
        choice: Choice | None,
        model: BaseRiskClassifier,
        evidence: ShareEvidence | None,
    ) -> tuple[Decision, Decision]:
        """Thresholds for the task, and those at the medians of class probabilities."""
        if choice is None:
            why = "No class has two labelled rows, so nothing could be held out to choose by."
            own = Decision(model.thresholds_, "risk", 0.0, Gain(), why)
            return own, own
        rows = settings[choice.setting]
        offset = 0.0 if problem.center is None else problem.center @ model.coef_
        final = rows.final_scores(model.coef_, model.thresholds_ - offset)
        rest = (
            choice.held_out.standardized(rows),
            final,
            rows.label_shares if evidence is None else rows.class_prior,
            evidence,
            float(self.safety),
            None if choice.candidate == choice.supervised else choice.supervised_held_out.predicted,
            cross_fitted_scores(choice, settings),
        )

        def placed(kind: str, task: str) -> Decision:
            found = decide(kind, task, *rest)
            return replace(
                found,
                thresholds=found.thresholds + offset,
                predicted=np.searchsorted(found.thresholds, final.latent),
            )

        decision = at_medians = placed(self.thresholds, rows.loss.task)
        if not rows.loss.has_probabilities:
            at_medians = placed("auto" if decision.kind == "prior" else "calibrated", "absolute")
        return decision, at_medians

    def _store(
        self,
        model: BaseRiskClassifier,
        rows: TrainingRows,
        choice: Choice | None,
        candidate: Candidate,
        decision: Decision,
        at_medians: Decision,
        class_weight: Array | None,
    ) -> None:
        """Set the fitted attributes."""
        has_probabilities = get_loss(self.loss, self.margin).has_probabilities
        scale = 1.0
        if decision.kind != "risk" and has_probabilities:
            scale = decision.log_odds  # then σ(θ − f) is the calibrated probability
            model.coef_ = model.coef_ * scale
        model.thresholds_ = decision.thresholds * scale
        if at_medians.held_out is not None:
            self.log_odds_ = 1.0 if has_probabilities else at_medians.log_odds
            self.median_thresholds_ = at_medians.thresholds * scale
            self.held_out_codes_, self.held_out_weights_, below = at_medians.held_out
            if class_weight is not None:  # errors are those of rows as they are
                weights = self.held_out_weights_ / class_weight[self.held_out_codes_]
                self.held_out_weights_ = weights / weights.sum()
            self.held_out_cumulative_ = expit(scale * self.log_odds_ * below)
        if rows.row_space is not None:
            widen, coef = rows.row_space.widen, model.coef_
            model.coef_, model.thresholds_ = widen(coef, model.thresholds_)
            if at_medians.held_out is not None:
                self.median_thresholds_ = widen(coef, self.median_thresholds_)[1]
        self.estimator_ = model
        for name, value in vars(model).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self.l2_ = candidate.l2
        self.unlabeled_weight_ = candidate.unlabeled_weight
        self.prior_share_ = decision.prior_share
        self.gain_, self.gain_se_ = decision.gain.mean, decision.gain.se
        sentences = [risk_reason(choice, float(self.safety)), decision.reason]
        if choice is not None:
            sentences.append(grid_end(candidate.l2, [float(l2) for l2 in self.l2s]))
        if decision.predicted is not None:
            has_unlabeled = rows.n_unlabeled > 0
            sentences.append(describe_one_class(decision.predicted, rows.classes, has_unlabeled))
        self.reason_ = " ".join(filter(None, sentences))
        self.cv_results_ = {} if choice is None else results_table(choice, rows.classes)


def _share_evidence(rows: TuningRows, choice: Choice, given: Array | None) -> ShareEvidence:
    """What the rows say of class shares, by the best fit to the labelled rows."""
    models = choice.supervised_held_out
    # The mean of the folds' models stands for one model.
    final = rows.final_scores(models.coefs.mean(axis=0), models.thresholds.mean(axis=0))
    evidence = judge_shares(models.standardized(rows), final, given)
    assert evidence is not None
    return evidence


def _tuning_rows(problem: FittingProblem, sample: TrainingRows, setting: int) -> TuningRows:
    """The rows that the search looks at, as the columns of a problem."""
    return TuningRows(
        problem.columns_of(sample.in_memory),
        sample.labels,
        problem.loss,
        problem.coordinates,
        problem.class_prior,
        problem.risk,
        setting=setting,
    )


def _as_classifier(
    model: BaseRiskClassifier,
    problem: FittingProblem,
    rows: TrainingRows,
    coef: Array,
    thresholds: Array,
) -> BaseRiskClassifier:
    """A classifier with these coefficients and thresholds."""
    found = copy(model)
    found.class_order_ = rows.classes
    found.n_features_in_ = rows.matrix.n_columns
    found._store_parameters(problem, coef, thresholds)
    return found


def _nearest_penalty(l2s: Any) -> float:
    def distance(l2: float) -> float:
        return abs(math.log((l2 + 1e-12) / _PENALTY_WITHOUT_FOLDS))

    return min(map(float, l2s), key=distance)


def check_decision_parameters(class_prior: Any, thresholds: Any, cv: Any, safety: Any) -> None:
    """Raise unless each is one that it can be, as far as can be told without rows."""
    check_form(class_prior)
    check_choice("thresholds", thresholds, THRESHOLDS)
    check_cv(cv)
    check_number("safety", safety, 0)


def check_unlabeled_rows(thresholds: str, n_unlabeled: int) -> None:
    """Raise where the thresholds asked for need unlabelled rows, and there are none."""
    if thresholds == "prior" and not n_unlabeled:
        raise ValueError(
            "thresholds='prior' needs unlabelled rows: give some, or set thresholds='auto'."
        )
