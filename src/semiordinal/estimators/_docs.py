"""Parameters and attributes that the classifiers share, described once."""

from __future__ import annotations

import inspect
import re
from textwrap import indent
from typing import TypeVar

_PARAMETERS = """\
loss : {"at", "it", "ls", "cl", "lad"}, default="at"
    Surrogate loss, by the error that matters: all thresholds, cumulative link or least
    absolute deviation for the absolute error, immediate thresholds for the zero-one
    error, least squares for the squared error.
margin : {"logistic", "double_hinge", "squared", "hinge", "exponential"}, default="logistic"
    Binary loss that "at" and "it" are made of; the other losses do not use it.
unlabeled_weight : float in [0, 1], default=0.25
    γ: the share of the risk that uses unlabelled rows. 0 is the supervised fit.
supervised_weights : {"rows", "prior"}, default="rows"
    How the supervised part of the risk weighs labelled rows: all alike, or each class by its
    share in ``class_prior``.
removed_class : {"smallest", "largest", "median"} or a class, default="median"
    The class whose loss the unlabelled rows stand in for: the one with the fewest or the
    most labels, the middle of the order (the lower of two), or a class by name.
correction : {"none", "non_negative", "leaky", "absolute"}, default="none"
    What is done where the unlabelled part of the risk, an estimate of something that is
    at least zero, falls below: nothing; cut at zero; multiply by ``leak``; change sign.
leak : float, at most 0, default=-0.2
    λ of the leaky correction.
order_penalty : float, default=0.0
    μ in ``μ Σ max(0, −log gap)`` over the gaps between thresholds. Thresholds are ordered
    without it; it pushes gaps towards one.
l2 : float, default=0.01
    Weight of half the squared norm of the coefficients; thresholds are not penalised.
standardize : bool, default=True
    Centre and scale the columns of X by their mean and deviation over all rows first.
class_prior : "labels", "uniform" or array-like of shape (n_classes,), default="labels"
    Class probabilities in the population, in class order (or by class, in a dict or a
    pandas Series); "labels" takes the labelled rows' shares. Known probabilities are worth
    giving.
classes : array-like, optional
    Classes from the lowest to the highest. By default numbers are ordered by value, an
    ordered categorical by its own order, names alphabetically with a warning. It may
    name a class without a labelled row if that is the removed class.
missing_label : scalar, default=nan
    Marks rows without a label, beside NaN, None and pd.NA, which always do.
solver : {"auto", "closed_form", "newton", "lbfgs", "smoothing"}, default="auto"
    "auto" takes the closed form for quadratic objectives, Newton for other smooth ones,
    smoothing for margins with kinks, and L-BFGS for many coefficients.
max_iter : int, default=1000
    Most iterations of one descent; smoothing makes several, and so do several starts.
tol : float, default=1e-8
    Largest entry of the gradient to stop at. L-BFGS may stop at up to 1e-4 where rounding
    lets it go no further.
max_unlabeled : int, optional
    Most rows of ``X_unlabeled`` to learn from; if there are more, so many are drawn at random,
    and ``subsampling_`` says what that costs in accuracy, by estimate.
verbose : bool, default=False
    Whether to show a bar for each pass over a source of unlabelled rows, on a terminal, and to
    print what ``max_unlabeled`` costs.
random_state : int, RandomState or None, default=None
    For ``max_unlabeled``, and for the extra starts where the objective is not convex."""

# Of the classifiers that take sources of rows.
_PASS_ATTRIBUTES = """\
n_passes_ : int
    How often ``X_unlabeled`` was gone through, where it is a source of rows.
subsampling_ : SubsamplingCost or None
    What it cost to draw from the unlabelled rows, where ``max_unlabeled`` did, by estimate:
    ``by_draw`` and ``by_labels``, relative to the size of the parameters. None without Hessian.
"""

_ATTRIBUTES = """\
thresholds_ : array of shape (n_classes - 1,)
    Thresholds of the latent score, in ascending order.
classes_ : array of shape (n_classes,)
    Classes in order.
class_prior_ : array of shape (n_classes,)
    Class probabilities used.
removed_class_ : scalar
    The class removed; of no account for a supervised fit.
objective_value_ : float
    The value reached.
is_convex_ : bool
    Whether the objective was certified convex, and the fit so its global minimum. (A fit may
    be that without, as where a correction turns out not to bind.)
n_iter_ : int
n_labeled_, n_unlabeled_ : int
n_features_in_ : int
feature_names_in_ : array of shape (n_features_in_,)
    Where X had names."""

T = TypeVar("T", bound=type)


def document(cls: T) -> T:
    """Fill the shared descriptions into a class's docstring."""
    return fill(cls, _PARAMETERS, _PASS_ATTRIBUTES + _ATTRIBUTES)


def fill(cls: T, parameters: str, attributes: str) -> T:
    """Fill the descriptions of a class's own parameters, in its order, and attributes into it."""
    entries = {}
    for entry in re.split(r"\n(?=\w)", parameters):
        entries[entry.split(" :")[0]] = entry
    names = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    written = cls.__doc__ or ""
    described = [entries[n] for n in names if n in entries and f"    {n} :" not in written]
    for name, text in (("parameters", "\n".join(described)), ("attributes", attributes)):
        written = written.replace(f"    {{{name}}}", indent(text, "    "))
    cls.__doc__ = written
    return cls
