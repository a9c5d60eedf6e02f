"""
From a few labels to predictions
================================

442 patients, of whom 40 have a stage of their disease. `AutoOrdinalClassifier` learns from all of
them, and says how good it is on labelled rows that it held out.
"""

import textwrap

import numpy as np

from semiordinal import AutoOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.plotting import plot_confusion

X, stages = load_diabetes_stages()  # stages 1 to 5, equally frequent
y = mask_labels(stages, n_labeled=40, random_state=0)  # NaN where a stage is missing
model = AutoOrdinalClassifier(class_prior="uniform", random_state=0).fit(X, y)
print(textwrap.fill(model.reason_, 90))

# %%
# The stages of the others are known here, so that we can look. Framed cells are right; the
# further a cell is from the frame, the worse the mistake.

others = np.isnan(y)
plot_confusion(stages[others], model.predict(X[others]))
print(f"Mean absolute error: {-model.score(X[others], stages[others]):.2f} stages")
print(f"Always stage 3: {np.abs(stages[others] - 3).mean():.2f} stages")
