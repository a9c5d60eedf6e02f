"""
Grid searches with missing labels
=================================

scikit-learn's searches take our splitters: unlabelled rows are in every training part, and only
labelled rows are scored.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from semiordinal import LinearOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.model_selection import LabeledKFold

X, stages = load_diabetes_stages()
y = mask_labels(stages, n_labeled=80, random_state=0)
search = GridSearchCV(
    LinearOrdinalClassifier(class_prior="uniform"),
    {"l2": np.logspace(-3, 1, 9), "unlabeled_weight": [0.0, 0.25, 0.5]},
    cv=LabeledKFold(5, shuffle=True, random_state=0),
).fit(X, y)
print(search.best_params_)

# %%
# `LinearOrdinalClassifierCV` chooses both by itself, from one fit for each penalty.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
errors = -search.cv_results_["mean_test_score"].reshape(9, 3)
for column, (weight, marker) in enumerate(zip((0.0, 0.25, 0.5), "os^", strict=True)):
    ax.plot(np.logspace(-3, 1, 9), errors[:, column], marker=marker, label=f"{weight}")
ax.set(xscale="log", xlabel="l2", ylabel="held-out mean absolute error")
ax.legend(title="unlabeled_weight")
