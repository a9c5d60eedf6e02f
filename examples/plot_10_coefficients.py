"""
Coefficients with intervals
===========================

Which columns matter, and how sure is that? `semiordinal.inference` gives standard errors, intervals
and odds ratios of linear models, as R prints them.
"""

import pandas as pd
from sklearn.datasets import load_diabetes

from semiordinal import LinearOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages
from semiordinal.inference import summarize
from semiordinal.plotting import plot_coefficients

X, stages = load_diabetes_stages()
names = load_diabetes().feature_names
X = pd.DataFrame((X - X.mean(axis=0)) / X.std(axis=0), columns=names)  # to compare columns
model = LinearOrdinalClassifier(loss="cl", l2=0, unlabeled_weight=0).fit(X, stages)
summary = summarize(model, X, stages)
print(summary)

# %%
# Intervals that cross zero are columns whose direction the rows do not tell.

frame = summary.to_frame().loc[names]
plot_coefficients(model, names, frame[["lower", "upper"]].to_numpy())
