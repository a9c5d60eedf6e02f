"""
How sure? Sets that hold the true class
=======================================

`predict_set` gives the lowest and the highest class between which the true one lies with the
probability that you ask for. A model that knows little has large sets, not false ones.
"""

import numpy as np

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.plotting import plot_prediction_sets, plot_set_coverage

X, stages = load_diabetes_stages()
y = mask_labels(stages, n_labeled=120, random_state=0)
model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
others = np.isnan(y)
plot_prediction_sets(model, X[others], stages[others], coverage=0.8)
print(model.predict_set(X[others][:3], coverage=0.8))

# %%
# Does it hold? For all rows together it was promised; for the rows of a single class it was not.

plot_set_coverage(model, X[others], stages[others], coverage=0.8)
