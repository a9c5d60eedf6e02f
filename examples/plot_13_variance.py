"""
Do unlabelled rows reduce the variance?
=======================================

Theory says, from labelled rows alone, how much less the fitted parameters would scatter if
unlabelled rows got a weight in the risk, and which class they should stand in for. Below one
they help.
"""

import numpy as np

from semiordinal import LinearOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages
from semiordinal.plotting import plot_variance_ratio
from semiordinal.theory import (
    get_loss,
    gradient_moments,
    risk_hessian,
    risk_variance,
    supervised_weights,
)

X, stages = load_diabetes_stages()
X = (X - X.mean(axis=0)) / X.std(axis=0)
pilot = LinearOrdinalClassifier(unlabeled_weight=0.0, standardize=False)
pilot.fit(X[::2], stages[::2])  # a fit to every other row; its variance by the others
rows, codes = X[1::2], stages[1::2] - 1
loss, parameters = get_loss("at"), (pilot.coef_, pilot.thresholds_)
weights = supervised_weights(np.bincount(codes).astype(float))
hessian = risk_hessian(loss, weights, rows, codes, *parameters, l2=0.01)
moments = gradient_moments(loss, rows, codes, *parameters, hessian)
variance = risk_variance(moments, np.full(5, 8), 400, np.full(5, 0.2))  # 40 labels, 400 others
plot_variance_ratio(variance)
