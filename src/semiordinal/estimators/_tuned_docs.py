"""Parameters and attributes of the tuned classifiers, described once."""

from __future__ import annotations

from typing import TypeVar

from . import _docs as shared

_PARAMETERS = """\
l2s : sequence of float
    Candidates for the weight of half the squared norm of the coefficients.
unlabeled_weights : sequence of float in [0, 1], default=(0.1, 0.25, 0.5)
    Candidates for γ beside 0, the labelled rows alone; empty for these only.
removed_classes : sequence of rules and classes, default=("median",)
    Candidates for ``removed_class``: "smallest", "largest", "median", or classes by name.
thresholds : {"auto", "risk", "calibrated", "prior"}, default="auto"
    The risk's own; those of a calibrated model of the label given the score, on held-out
    labelled rows; or on unlabelled rows at the class priors. "auto" takes the last, drawn to
    the labelled rows' as far as these contradict it, where class priors are given or estimated;
    else calibrated ones where they gain more than ``safety`` standard errors.
criterion : {"surrogate", "task", "semi", "plug_in"}, default="surrogate"
    What candidates are compared by, on held-out rows: the loss that is minimised; the task
    loss; the unbiased semi-supervised estimate of the task loss; or the first, with γ by the
    formula of least gradient variance.
cv : int, splitter, splits or "loo", default=5
    Folds of the labelled rows; "loo" leaves out one at a time, which takes one fit for LS
    (exactly), and for AT with the logistic or squared margin (one Newton step from it for each
    row).
n_repeats : int
    How often to split into folds.
safety : float, default=2.0
    Standard errors by which a cross-validated gain must exceed zero before the fit departs from
    that to the labelled rows alone. (How far thresholds follow given class priors is another
    matter: as far as lowers the estimated excess risk the most.)
class_prior : "labels", "uniform", "em" or array-like of shape (n_classes,), default="labels"
    Class probabilities in the population, in class order (or by class, in a dict or a
    pandas Series); "labels" takes the labelled rows' shares, "em" estimates those of the
    unlabelled rows, which may differ. Known probabilities are worth giving.
correction : {"none", "non_negative", "leaky", "absolute"}, default="none"
    What is done where the unlabelled part of the risk, an estimate of something that is
    at least zero, falls below: nothing; cut at zero; multiply by −0.2; change sign.
classes : array-like, optional
    Classes from the lowest to the highest, each with a labelled row. By default numbers are
    ordered by value, an ordered categorical by its own order, names alphabetically with a
    warning.
random_state : int, RandomState or None, default=None
    For folds, and the extra starts where the objective is not convex."""

_ATTRIBUTES = """\
l2_, unlabeled_weight_ : float
    The penalty and the γ chosen.
prior_share_ : float
    How far the thresholds are those at the class priors, from 0 to 1.
gain_, gain_se_ : float
    How much lower the cross-validated task loss is than that of the fit to the labelled rows
    alone, and the standard error of that.
reason_ : str
    Why it is so, in words.
cv_results_ : dict of arrays
    The candidates and the criterion of each.
estimator_ : the classifier fitted
coef_ : array of shape (n_features,), or (n_centers,)
"""

T = TypeVar("T", bound=type)


def document(cls: T) -> T:
    """Fill the descriptions into a class's docstring."""
    parameters = shared._PARAMETERS + "\n" + _PARAMETERS
    return shared.fill(cls, parameters, _ATTRIBUTES + shared._ATTRIBUTES)
