"""
Where the classes lie on the score
==================================

A model gives each row one number, its score. Thresholds cut the line of scores into classes. Where
the hills of two classes overlap, no threshold can tell them apart.
"""

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.plotting import plot_thresholds

X, stages = load_diabetes_stages()
y = mask_labels(stages, n_labeled=120, random_state=0)
model = LinearOrdinalClassifierCV(class_prior="uniform", random_state=0).fit(X, y)
plot_thresholds(model, X, y)
print(model.thresholds_.round(2))
