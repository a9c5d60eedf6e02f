"""
A table with names as classes
=============================

Classes may have names. Say their order once, by an ordered categorical or by `classes=`; the
columns of the table may be texts and have gaps.
"""

import numpy as np
import pandas as pd

from semiordinal import AutoOrdinalClassifier
from semiordinal.plotting import plot_confusion

rng = np.random.default_rng(0)
table = pd.DataFrame({"age": rng.uniform(20, 80, 500), "ward": rng.choice(["A", "B", "C"], 500)})
latent = table["age"] / 20 + (table["ward"] == "B") + rng.logistic(size=500) / 3
severity = np.array(["mild", "moderate", "severe"])[np.digitize(latent, [2.5, 3.5])]
table.loc[::11, "age"] = np.nan
table["ward"] = table["ward"].astype("category")
y = pd.Series(severity).where(np.arange(500) < 80)  # 80 labels, the others missing
model = AutoOrdinalClassifier(
    members=["linear", "trees"], classes=["mild", "moderate", "severe"], random_state=0
).fit(table, y)
plot_confusion(severity[80:], model.predict(table[80:]), classes=["mild", "moderate", "severe"])
print(model.predict(table[80:83]))
