"""
Do the probabilities hold?
==========================

Of rows for which a model says "stage 3 or lower, with 70 %", 70 of 100 should be there.
"""

import numpy as np

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.metrics import ranked_probability_score
from semiordinal.plotting import plot_calibration

X, stages = load_diabetes_stages()
y = mask_labels(stages, n_labeled=120, random_state=0)
model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
others = np.isnan(y)
plot_calibration(model, X[others], stages[others], n_bins=5)

# %%
# The ranked probability score is the squared error of these probabilities, summed over the stages.
# Lower is better; beside it, that of the same shares for every patient.

codes = stages[others] - 1
same = np.full((len(codes), 5), 0.2)
for name, probabilities in (("model", model.predict_proba(X[others])), ("constant", same)):
    print(f"{name}: {ranked_probability_score(codes, probabilities):.3f}")
