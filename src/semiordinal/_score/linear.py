"""The linear classifiers: with settings as given, and tuned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._risk.losses import get_loss
from .._rows import MatrixRows, column_moments
from .._rows.training import TrainingRows, check_finite
from .._utils.checks import check_number
from .._utils.typing import (
    Array,
    ClassWeight,
    Correction,
    Criterion,
    CrossValidation,
    Link,
    Loss,
    Margin,
    Numbers,
    Scoring,
    SolverName,
    SupervisedWeights,
    ThresholdRule,
)
from .base import BaseRiskClassifier, Columns, Standardization
from .tuned import BaseTunedClassifier


class _OneDirection:
    """What holds for scores that are linear in the columns of X."""

    coef_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # One direction cannot tell three clusters in no order apart, which the tag asks for.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def intercept_(self) -> float:
        """Zero: ``predict_latent`` is ``X @ coef_``, and the thresholds stand for intercepts.

        For tools that explain linear models, such as SHAP's ``LinearExplainer``.
        """
        self.coef_  # noqa: B018 (of a fitted model alone)
        return 0.0


class LinearOrdinalClassifier(_OneDirection, BaseRiskClassifier):
    """Linear ordinal classifier that learns from labelled and unlabelled rows.

    It minimises ``risk + (l2/2)‖w‖²`` exactly, over coefficients w (of standardised columns,
    unless ``standardize=False``) and thresholds, where the risk is
    ``unlabeled_weight · LU + (1 − unlabeled_weight) · SV``: SV is the mean loss of the labelled
    rows, LU an unbiased estimate of it that takes the loss of one class from the unlabelled rows.

    Parameters
    ----------
    loss : {"at", "it", "ls", "cl", "lad"}, default="at"
        Surrogate loss, by the error that matters: all thresholds ("at"), cumulative link ("cl")
        or least absolute deviation ("lad") for the absolute error, immediate thresholds ("it")
        for the zero-one error, least squares ("ls") for the squared error.
    class_prior : "labels", "uniform" or array-like of shape (n_classes,), default="labels"
        Class probabilities in the population, in class order (or by class, in a dict or a pandas
        Series); "labels" takes the labelled rows' shares. Known probabilities are worth giving.
    class_weight : None, "balanced" or dict, default=None
        How much labelled rows count by their class: by one over the number of rows of the class, or
        as given by class (those not named count one). Beside ``sample_weight``; unlabelled rows
        and ``class_prior`` go on standing for the rows as they are.
    unlabeled_weight : float in [0, 1], default=0.25
        γ: the share of the risk that uses unlabelled rows. 0 is the supervised fit.
    l2 : float, default=0.01
        Weight of half the squared norm of the coefficients; thresholds are not penalised.
    l1_ratio : float in [0, 1], default=0.0
        Share of the penalty that goes to the absolute coefficients, which makes some of them zero
        (the elastic net): ``l2 (l1_ratio ‖v‖₁ + (1 − l1_ratio) ‖v‖²/2)``. For smooth losses
        without correction.
    standardize : bool, default=True
        Centre and scale the columns of X by their mean and deviation over all rows first.
    classes : array-like, optional
        Classes from the lowest to the highest. By default numbers are ordered by value, an ordered
        categorical by its own order, names alphabetically with a warning. It may name a class
        without a labelled row if that is the removed class.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA, which always do.
    max_unlabeled : int, optional
        Most rows of ``X_unlabeled`` to learn from; if there are more, so many are drawn at random,
        and ``subsampling_`` estimates what that costs in accuracy.
    verbose : bool or int, default=False
        Whether to show a bar for each pass over a source of unlabelled rows, on a terminal, and to
        print what ``max_unlabeled`` costs.
    random_state : int, RandomState or None, default=None
        For ``max_unlabeled``, and for the extra starts where the objective is not convex.

    Other Parameters
    ----------------
    margin : {"logistic", "double_hinge", "squared", "hinge", "exponential"}, default="logistic"
        Binary loss that "at" and "it" are made of; the other losses do not use it.
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"}, default="logit"
        For ``loss="cl"``: the distribution F in ``P(y ≤ class) = F(threshold − score)``. The names
        are those of R's ordinal: "cloglog" is 1 − exp(−exp(z)), "loglog" exp(−exp(−z)).
    removed_class : {"smallest", "largest", "median"} or a class, default="median"
        The class whose loss the unlabelled rows stand in for: the one with the fewest or the most
        labels, the middle of the order (the lower of two), or a class by name.
    supervised_weights : {"rows", "prior"}, default="rows"
        How the supervised part of the risk weighs labelled rows: all alike, or each class by its
        share in ``class_prior``.
    correction : {"none", "non_negative", "leaky", "absolute"}, default="none"
        What is done where the unlabelled part of the risk, an estimate of something that is at
        least zero, falls below: nothing; cut at zero; multiply by ``leak``; change sign.
    leak : float, at most 0, default=-0.2
        λ of the leaky correction.
    order_penalty : float, default=0.0
        μ in ``μ Σ max(0, −log gap)`` over the gaps between thresholds. Thresholds are ordered
        without it; it pushes gaps towards one.
    solver : {"auto", "closed_form", "newton", "lbfgs", "interior_point", "smoothing"}, \
default="auto"
        "auto" takes the closed form for quadratic objectives, Newton for other smooth ones,
        an interior-point method for "lad", smoothing for margins with kinks, and L-BFGS for many
        coefficients.
    max_iter : int, default=1000
        Most iterations of one descent; smoothing makes several, and so do several starts.
    tol : float, default=1e-8
        Largest entry of the gradient to stop at. L-BFGS may stop at up to 1e-4 where rounding lets
        it go no further.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients, on the original scale of X.
    intercept_ : float
        Zero: the thresholds stand for intercepts.
    thresholds_ : array of shape (n_classes - 1,)
        Thresholds of the latent score, in ascending order.
    class_order_ : array of shape (n_classes,)
        Classes from the lowest to the highest.
    classes_ : array of shape (n_classes,)
        Classes sorted, as scikit-learn takes them: columns of ``predict_proba`` and
        ``decision_function`` are in this order. Numbers are in it anyhow.
    class_prior_ : array of shape (n_classes,)
        Class probabilities used, in class order.
    removed_class_ : scalar
        The class removed; it has no effect on a supervised fit.
    objective_value_ : float
        The value reached.
    is_convex_ : bool
        Whether the objective was certified convex, so that the fit is its global minimum. (It may
        be that without the certificate, as where a correction turns out not to bind.)
    n_iter_ : int
        Iterations of the solver.
    n_labeled_, n_interval_, n_unlabeled_ : int
        Rows learnt from: with a class, with an interval of classes, without a label.
    n_passes_ : int
        How often ``X_unlabeled`` was read, where it is a source of rows.
    subsampling_ : SubsamplingCost or None
        What it cost to draw from the unlabelled rows, where ``max_unlabeled`` did, by estimate:
        ``by_draw`` and ``by_labels``, relative to the size of the parameters. None without Hessian.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had names.

    See Also
    --------
    LinearOrdinalClassifierCV : Chooses its settings from the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(X @ [1.0, -1.0], [-0.5, 0.5]).astype(float)
    >>> y[30:] = np.nan
    >>> model = LinearOrdinalClassifier().fit(X, y)
    >>> model.n_labeled_, model.n_unlabeled_
    (30, 270)
    >>> model.predict([[2.0, -2.0], [-2.0, 2.0]])
    array([2., 0.])
    """

    def __init__(
        self,
        *,
        loss: Loss = "at",
        class_prior: Any = "labels",
        class_weight: ClassWeight = None,
        unlabeled_weight: float = 0.25,
        l2: float = 0.01,
        l1_ratio: float = 0.0,
        standardize: bool = True,
        classes: Any = None,
        missing_label: Any = math.nan,
        max_unlabeled: int | None = None,
        verbose: bool | int = False,
        random_state: Any = None,
        margin: Margin = "logistic",
        link: Link = "logit",
        removed_class: Any = "median",
        supervised_weights: SupervisedWeights = "rows",
        correction: Correction = "none",
        leak: float = -0.2,
        order_penalty: float = 0.0,
        solver: SolverName = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
    ):
        self.loss = loss
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.unlabeled_weight = unlabeled_weight
        self.l2 = l2
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.classes = classes
        self.missing_label = missing_label
        self.max_unlabeled = max_unlabeled
        self.verbose = verbose
        self.random_state = random_state
        self.margin = margin
        self.link = link
        self.removed_class = removed_class
        self.supervised_weights = supervised_weights
        self.correction = correction
        self.leak = leak
        self.order_penalty = order_penalty
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("l1_ratio", self.l1_ratio, 0, 1)
        if not self.l1_ratio:
            return
        for name, only in (("correction", "none"), ("solver", "auto")):
            if getattr(self, name) != only:
                raise ValueError(
                    f"l1_ratio={self.l1_ratio:g} needs {name}={only!r}, not "
                    f"{getattr(self, name)!r}. Set it, or l1_ratio=0."
                )
        loss = get_loss(self.loss, self.margin, self.link)
        if not loss.margin.smooth:
            raise ValueError(
                f"l1_ratio={self.l1_ratio:g} needs a smooth loss, and margin "
                f"{loss.margin.name!r} has kinks. Use margin='logistic' or 'squared' (not "
                "loss='lad'), or set l1_ratio=0."
            )

    def _columns(self, rows: TrainingRows) -> Columns:
        return Columns(lambda matrix: matrix)

    def _narrow(self, rows: TrainingRows, with_unlabeled: bool) -> TrainingRows:
        if self.l1_ratio:  # the sum of absolute coefficients is not the same in other directions
            return rows
        return rows.in_row_space(self.standardize, with_unlabeled)

    def _standardization(self, rows: TrainingRows) -> Standardization:
        check_finite(rows.matrix)
        if rows.row_space is not None:  # which is of standardised rows
            return Standardization()
        moments = column_moments(rows.matrix, rows.labels.weights)
        scale = moments.scale if self.standardize else None
        # Thresholds are not penalised, so centring changes nothing but the solver's ease.
        if moments.center is None:
            return Standardization(scale, shift=moments.mean)
        return Standardization(scale, moments.mean - moments.center, moments.center)

    def _design(self, X: Any) -> MatrixRows:
        return MatrixRows([X])


class LinearOrdinalClassifierCV(_OneDirection, BaseTunedClassifier):
    """`LinearOrdinalClassifier` that chooses penalty, risk and thresholds from its rows.

    1. The penalty is chosen by cross-validation on the labelled rows.
    2. Unlabelled rows enter the risk with a weight above zero only if that lowers the criterion by
       more than ``safety`` standard errors.
    3. Thresholds are set last. With given class priors they are those at which the unlabelled rows
       have these priors, drawn back to what held-out labelled rows say as far as these contradict
       them; without, they are calibrated on held-out rows where that pays.

    Parameters
    ----------
    loss : {"at", "it", "ls", "cl", "lad"}, default="at"
        Surrogate loss, by the error that matters: all thresholds ("at"), cumulative link ("cl")
        or least absolute deviation ("lad") for the absolute error, immediate thresholds ("it")
        for the zero-one error, least squares ("ls") for the squared error.
    class_prior : "labels", "uniform", "estimate", array-like or mapping, default="labels"
        Class shares of the population: in class order, or by class in a dict or a pandas
        Series; "labels" takes the labelled rows' shares, "estimate" estimates those of the
        unlabelled rows, which may differ. Known shares are worth giving, and are used as far as
        labels and unlabelled rows support them.
    class_weight : None, "balanced" or dict, default=None
        How much labelled rows count by their class, in fits and in choices: by one over the number
        of rows of the class, or as given by class (those not named count one). For ``class_prior``
        "labels", since given shares set the thresholds, and so does this. Probabilities are
        those of rows of which each class has so much more or less.
    l2s : sequence of float
        Candidates for the weight of half the squared norm of the coefficients.
    cv : "auto", "loo", int, splitter or splits, default="auto"
        Which labelled rows are held out when. "loo" leaves out one at a time, which takes one fit
        for each penalty with AT and LS, and with IT on labelled rows alone, if the margin is
        logistic or squared, and as many fits as rows otherwise. "auto" is "loo" in the former
        cases, and else five folds.
    thresholds : {"auto", "risk", "calibrated", "prior"}, default="auto"
        The risk's own; those of a calibrated model of the label given the score, on held-out
        labelled rows; or those at which the unlabelled rows have the class priors. "auto" takes the
        last, drawn to the labelled rows' as far as these contradict it, where class priors are
        given or estimated; else calibrated ones where they gain more than ``safety`` standard
        errors.
    standardize : bool, default=True
        Centre and scale the columns of X by their mean and deviation over all rows first.
    classes : array-like, optional
        Classes from the lowest to the highest, each with a labelled row. By default numbers are
        ordered by value, an ordered categorical by its own order, names alphabetically with a
        warning.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA, which always do.
    max_unlabeled : int, default=20000
        Most unlabelled rows that the search looks at; if there are more, so many are drawn at
        random. The final fit learns from all of them.
    verbose : bool or int, default=False
        Whether to show bars for the search and for each pass over a source of unlabelled rows, on a
        terminal, and to print what was chosen and why.
    random_state : int, RandomState or None, default=None
        For folds, draws, and the extra starts where the objective is not convex.

    Other Parameters
    ----------------
    margin : {"logistic", "double_hinge", "squared", "hinge", "exponential"}, default="logistic"
        Binary loss that "at" and "it" are made of; the other losses do not use it.
    unlabeled_weights : sequence of float in [0, 1], default=(0.1, 0.25, 0.5)
        Candidates for γ beside 0, the labelled rows alone; empty for these only.
    removed_classes : sequence of rules and classes, default=("median",)
        Candidates for the class whose loss the unlabelled rows stand in for: "smallest",
        "largest", "median", or classes by name.
    supervised_weights : {"rows", "prior"}, default="rows"
        How the supervised part of the risk weighs labelled rows: all alike, or each class by its
        share in ``class_prior``.
    correction : {"none", "non_negative", "leaky", "absolute"}, default="none"
        What is done where the unlabelled part of the risk, an estimate of something that is at
        least zero, falls below: nothing; cut at zero; multiply by −0.2; change sign.
    criterion : {"surrogate", "task", "semi", "plug_in"}, default="surrogate"
        What candidates are compared by, on held-out rows: the loss that is minimised; the task
        loss; the unbiased semi-supervised estimate of the task loss; or the first, with γ by the
        formula of least gradient variance.
    scoring : str or callable, optional
        What candidates are compared by in place of ``criterion``: the mean over folds of a score
        of the held-out rows, the greater the better. A metric of `OrdinalScorer` ("qwk", "rps"),
        a name of scikit-learn's ("balanced_accuracy"), or ``scorer(estimator, X, y)``. It sees
        models with the risk's own thresholds, which ``thresholds`` may change in the end.
    n_repeats : int, default=2
        How often to split into folds.
    safety : float, default=2.0
        Standard errors by which a cross-validated gain must exceed zero before the fit departs from
        that to the labelled rows alone. (How far thresholds follow given class priors is another
        matter: as far as lowers the estimated excess risk the most.)
    max_iter : int, default=1000
        Most iterations of one descent; smoothing makes several, and so do several starts.
    tol : float, default=1e-8
        Largest entry of the gradient to stop the final fit at.
    n_jobs : int, optional
        Folds, and kernel widths, to fit at the same time, in processes, which take seconds to
        start; -1 for all cores. Models are the same.

    Attributes
    ----------
    l2_, unlabeled_weight_ : float
        The penalty and the γ chosen.
    prior_share_ : float
        How far the thresholds are those at the class priors, from 0 to 1.
    prior_trust_ : float
        How probable it is that given class shares are right, from 0 to 1.
    median_thresholds_ : array of shape (n_classes - 1,)
        Where the medians of the class probabilities change: ``thresholds_`` for losses that have
        probabilities of their own.
    log_odds_ : float
        What distances of scores to these are multiplied by to be log-odds; one for such losses.
    held_out_codes_ : array of shape (n_labeled,)
        Positions in the class order of the labelled rows.
    held_out_weights_ : array of shape (n_labeled,)
        How much they count in errors: by class shares where these are known or estimated.
    held_out_cumulative_ : array of shape (n_labeled, n_classes - 1)
        Their cumulative probabilities, by models and thresholds that do not know their labels.
    shares_reason_ : str
        What labels and unlabelled rows say of the class shares.
    gain_, gain_se_ : float
        How much lower the cross-validated task loss is than that of the fit to the labelled rows
        alone, and the standard error of that.
    reason_ : str
        Why it is so, in words.
    cv_results_ : dict of arrays
        The candidates and the criterion of each.
    estimator_ : LinearOrdinalClassifier
        The classifier with the chosen settings, whose fitted attributes this one has too.

    See Also
    --------
    LinearOrdinalClassifier : With settings as given.
    KernelOrdinalClassifierCV : For scores that are not linear.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> truth = np.digitize(X @ [1.0, -1.0, 0.0] + rng.logistic(size=500), [-1.0, 1.0])
    >>> y = np.where(np.arange(500) < 30, truth, np.nan)
    >>> prior = np.bincount(truth) / 500
    >>> model = LinearOrdinalClassifierCV(class_prior=prior, random_state=0).fit(X, y)
    >>> model.l2_, round(model.prior_share_, 2)
    (0.3, 1.0)
    """

    estimator_: LinearOrdinalClassifier

    def __init__(
        self,
        *,
        loss: Loss = "at",
        class_prior: Any = "labels",
        class_weight: ClassWeight = None,
        l2s: Numbers = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001),
        cv: CrossValidation = "auto",
        thresholds: ThresholdRule = "auto",
        standardize: bool = True,
        classes: Any = None,
        missing_label: Any = math.nan,
        max_unlabeled: int = 20_000,
        verbose: bool | int = False,
        random_state: Any = None,
        margin: Margin = "logistic",
        unlabeled_weights: Numbers = (0.1, 0.25, 0.5),
        removed_classes: Sequence[Any] = ("median",),
        supervised_weights: SupervisedWeights = "rows",
        correction: Correction = "none",
        criterion: Criterion = "surrogate",
        scoring: Scoring = None,
        n_repeats: int = 2,
        safety: float = 2.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
        n_jobs: int | None = None,
    ):
        self.loss = loss
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.l2s = l2s
        self.cv = cv
        self.thresholds = thresholds
        self.standardize = standardize
        self.classes = classes
        self.missing_label = missing_label
        self.max_unlabeled = max_unlabeled
        self.verbose = verbose
        self.random_state = random_state
        self.margin = margin
        self.unlabeled_weights = unlabeled_weights
        self.removed_classes = removed_classes
        self.supervised_weights = supervised_weights
        self.correction = correction
        self.criterion = criterion
        self.scoring = scoring
        self.n_repeats = n_repeats
        self.safety = safety
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _models(self) -> list[BaseRiskClassifier]:
        return [LinearOrdinalClassifier(**self._shared_settings())]
