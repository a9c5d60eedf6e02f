"""
Fewer columns: the path of the elastic net
==========================================

Thirty columns, of which three count. As the penalty falls, columns enter one by one, and those that
count enter first.
"""

import matplotlib.pyplot as plt
import numpy as np

from semiordinal import LinearOrdinalClassifier, elastic_net_path

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 30))
y = np.digitize(X[:, :3] @ [1.5, -1.0, 0.7] + rng.logistic(size=300), [-1.0, 1.0])
path = elastic_net_path(LinearOrdinalClassifier(loss="cl", l1_ratio=0.9), X, y)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(path.l2s, path.coefs[:, 3:], color="gray", alpha=0.4)
for column, color in enumerate(("#d1495b", "#30638e", "#00798c")):
    ax.plot(path.l2s, path.coefs[:, column], color=color, label=f"column {column}")
ax.set(xscale="log", xlabel="penalty", ylabel="coefficient")
ax.invert_xaxis()
ax.legend()
print(f"{path.n_nonzero[30]} columns are in use at the 30th of {len(path.l2s)} penalties.")
