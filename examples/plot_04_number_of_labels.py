"""
How many labels are enough?
===========================

The error of a tuned linear model against the number of labels, beside a random forest, a constant
class, and the error that nobody can beat, which is known for these made rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.datasets import make_ordinal

SIZES = [20, 40, 80, 160, 320]
errors = {"LinearOrdinalClassifierCV": [], "random forest, rounded": []}
for n_labeled in SIZES:
    of_size = []
    for seed in range(4):
        X, truth, distribution = make_ordinal(1500, 8, noise=0.7, random_state=seed)
        y = np.where(np.arange(1500) < n_labeled, truth, np.nan)
        linear = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
        forest = RandomForestRegressor(50, random_state=0).fit(X[:n_labeled], truth[:n_labeled])
        predicted = (linear.predict(X[500:]), forest.predict(X[500:]).round())
        of_size.append([np.abs(each - truth[500:]).mean() for each in predicted])
    for name, mean in zip(errors, np.mean(of_size, axis=0), strict=True):
        errors[name].append(mean)

# %%
# A linear model is the right one for these rows, so that it has a head start. On real tables nobody
# knows beforehand, which is why `AutoOrdinalClassifier` averages several kinds.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, values), marker in zip(errors.items(), "os", strict=True):
    ax.plot(SIZES, values, marker=marker, label=name)
ax.axhline(np.abs(truth - 3).mean(), color="gray", linestyle="--", label="always class 3")
least = distribution.bayes_error("absolute")
ax.axhline(least, color="gray", linestyle=":", label="least error there is")
ax.set(xscale="log", xlabel="labels", ylabel="mean absolute error", ylim=(0, None))
ax.set_xticks(SIZES, SIZES)
ax.minorticks_off()
ax.legend()
