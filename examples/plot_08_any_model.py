"""
Your own model, with class shares
=================================

`CalibratedOrdinalClassifier` takes any regressor or classifier of scikit-learn's kind, and gives it
probabilities, prediction sets, and thresholds at the class shares that you know.
"""

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from semiordinal import CalibratedOrdinalClassifier
from semiordinal.datasets import make_ordinal
from semiordinal.plotting import plot_shares

SHARES = [0.5, 0.3, 0.15, 0.05]
X, truth, _ = make_ordinal(2000, class_prior=SHARES, random_state=0)
y = np.where(np.arange(2000) < 60, truth, np.nan)
forest = RandomForestRegressor(60, random_state=0)
model = CalibratedOrdinalClassifier(forest, class_prior=SHARES, random_state=0).fit(X, y)
alone = forest.fit(X[:60], truth[:60])
predicted = {
    "forest, rounded": alone.predict(X[60:]).round(),
    "with known shares": model.predict(X[60:]),
}
for name, classes in predicted.items():
    print(f"{name}: mean absolute error {np.abs(classes - truth[60:]).mean():.3f}")

# %%
# A regressor that averages is drawn to the middle: here it predicts class 2 too often, and the ends
# too seldom.

counts = {name: np.bincount(each.astype(int), minlength=5)[1:] for name, each in predicted.items()}
shares = {name: count / count.sum() for name, count in counts.items()}
plot_shares([1, 2, 3, 4], {"true": np.array(SHARES), **shares})
