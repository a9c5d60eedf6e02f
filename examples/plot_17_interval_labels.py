"""
Labels that say "at least 3"
============================

Whoever labels rows is not always sure of the class. A label may then say between which classes,
both included, it lies: two columns hold the lowest and the highest, and NaN leaves a side open.
Here 60 rows have labels, and of those from class 3 on, six in ten say "at least 3" alone. Errors
are means over twenty draws.
"""

import numpy as np

from semiordinal import LinearOrdinalClassifier
from semiordinal.plotting import plot_confusion

errors = {"intervals left out": [], "intervals": [], "every class known": []}
for draw in range(20):
    rng = np.random.default_rng(draw)
    X = rng.normal(size=(1060, 6))
    truth = np.digitize(X @ [2, -1, 1, 0, 0, 0] + rng.logistic(size=1060), [-2, 0, 1, 3]) + 1.0
    y = np.column_stack([truth, truth])[:60]
    for k in (3, 4, 5):  # all but the first row of each class may be told as an interval
        rows = np.flatnonzero(truth[:60] == k)[1:]
        y[rows[rng.random(len(rows)) < 0.6]] = [3, np.nan]
    labels = {
        "intervals left out": np.where(y[:, 0] == y[:, 1], y[:, 0], np.nan),
        "intervals": y,
        "every class known": truth[:60],
    }
    for name, given in labels.items():
        model = LinearOrdinalClassifier(loss="cl").fit(X[:60], given)
        predicted = model.predict(X[60:])
        errors[name].append(np.abs(predicted - truth[60:]).mean())
        if given is y and draw == 0:
            plot_confusion(truth[60:], predicted)
for name, values in errors.items():
    print(f"{name}: {np.mean(values):.2f} classes off")
