"""A user's script for type checkers, which `test_typing.py` runs one over; it is not run itself.

Lines that end in ``# wrong`` must be errors, all others none. Pyright finds one more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
)
from semiordinal.inference import summarize
from semiordinal.model_selection import LabeledKFold, OrdinalScorer

if TYPE_CHECKING:
    from typing import assert_type

    from numpy.typing import NDArray

    from semiordinal._utils.typing import Array, Codes

    X, y = np.ones((9, 2)), np.ones(9)

    linear = LinearOrdinalClassifier(loss="cl", link="probit", class_weight={1: 2.0}).fit(X, y)
    assert_type(linear.coef_, Array)
    assert_type(linear.intercept_, float)
    assert_type(linear.thresholds_, Array)
    assert_type(linear.class_prior_, Array)
    assert_type(linear.n_iter_, int)
    assert_type(linear.is_convex_, bool)
    assert_type(linear.n_features_in_, int)
    assert_type(linear.classes_, NDArray)
    assert_type(linear.predict_proba(X), Array)
    assert_type(linear.predict_cumulative(X), Array)
    assert_type(linear.predict_latent(X), Array)
    assert_type(linear.score(X, y), float)

    kernel = KernelOrdinalClassifier(kernel="laplace", centers=50, column_weights=[1, 2]).fit(X, y)
    assert_type(kernel.bandwidth_, float)
    assert_type(kernel.column_weights_, Array)

    tuned = LinearOrdinalClassifierCV(cv=LabeledKFold(3), scoring="qwk", l2s=[1, 0.1], n_jobs=2)
    assert_type(tuned.fit(X, y), LinearOrdinalClassifierCV)
    assert_type(tuned.estimator_, LinearOrdinalClassifier)
    assert_type(tuned.l2_, float)
    assert_type(tuned.coef_, Array)
    assert_type(tuned.n_labeled_, int)
    assert_type(tuned.held_out_codes_, Codes)
    assert_type(tuned.held_out_cumulative_, Array)
    assert_type(tuned.reason_, str)
    assert_type(KernelOrdinalClassifierCV(bandwidths=np.ones(2)).bandwidth_, float)

    auto = AutoOrdinalClassifier(members=["linear", TreeOrdinalClassifier()], task="zero_one")
    assert_type(auto.members_, list[str])
    assert_type(auto.weights_, Array)
    assert_type(auto.offsets_, Array)
    assert_type(auto.reason_, str)
    assert_type(auto.predict_proba(X), Array)
    calibrated = CalibratedOrdinalClassifier(BoostingOrdinalClassifier(), thresholds="prior")
    assert_type(calibrated.held_out_weights_, Array)
    assert_type(calibrated.gain_, float)
    print(summarize(linear, X, y, covariance="information"), OrdinalScorer("rps")(auto, X, y))

    LinearOrdinalClassifier(loss="att")  # wrong
    LinearOrdinalClassifier(margin="logit")  # wrong
    LinearOrdinalClassifier(class_weight="even")  # wrong
    KernelOrdinalClassifier(centers="labelled")  # wrong
    KernelOrdinalClassifier(column_weights="learnt")  # wrong
    LinearOrdinalClassifierCV(cv="all")  # wrong
    LinearOrdinalClassifierCV(criterion="auc")  # wrong
    AutoOrdinalClassifier(members="all")  # wrong
    AutoOrdinalClassifier(task="mae")  # wrong
    OrdinalScorer("kappa")  # wrong
    summarize(linear, X, y, covariance="robust")  # wrong
    print(linear.coeff_)  # wrong; mypy cannot know, since scikit-learn has no types
