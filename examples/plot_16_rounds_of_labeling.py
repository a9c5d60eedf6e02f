"""
Five rounds of labelling
========================

Twenty labels, then five rounds: fit, ask which rows to label, label them. At the end: labels to
doubt, and what more labels would bring. All labels are known here, so that rows drawn at random
can be compared.
"""

import matplotlib.pyplot as plt
import numpy as np

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.datasets import load_diabetes_stages
from semiordinal.labeling import doubt, judge_by_random_rows, plan, suggest

SIZES = np.arange(20, 121, 20)
X, truth = load_diabetes_stages()
shuffled = np.random.default_rng(0).permutation(len(X))
X_test, y_test = X[shuffled[300:]], truth[shuffled[300:]]
X, truth = X[shuffled[:300]], truth[shuffled[:300]]


def fit(y):
    return LinearOrdinalClassifierCV(random_state=0).fit(X, y)


def error(model):
    return np.abs(model.predict(X_test) - y_test).mean()


# %%
# Five rounds of 20 rows
# ----------------------
# `suggest` says which rows, and why. Here the truth stands in for the person who looks at them.

y = np.where(np.arange(300) < 20, truth, np.nan)
is_chosen = np.zeros(300, dtype=bool)
model = fit(y)
chosen_errors = [error(model)]
for round_number in range(5):
    found = suggest(model, X, 20, y=y, random_state=round_number)
    y[found.positions] = truth[found.positions]
    is_chosen[found.positions] = ~found.is_random
    model = fit(y)
    chosen_errors.append(error(model))
    print(f"round {round_number + 1}: row {found.positions[0]}, {found.reasons[0]}")

# %%
# Rows drawn at random, for comparison, in three draws. One small table shows how much draws differ,
# and little of what choosing is worth; the user guide has figures of many tables.

rng = np.random.default_rng(0)
random_errors = []
for _ in range(3):
    order = np.r_[np.arange(20), 20 + rng.permutation(280)]
    of_draw = []
    for size in SIZES:
        drawn = np.full(300, np.nan)
        drawn[order[:size]] = truth[order[:size]]
        of_draw.append(error(fit(drawn)))
    random_errors.append(of_draw)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(SIZES, np.transpose(random_errors), color="0.75", label=["drawn at random", None, None])
ax.plot(SIZES, chosen_errors, "o-", label="chosen by suggest")
ax.set(xlabel="labels", ylabel="mean absolute error on other rows", ylim=(0, None))
ax.legend()

# %%
# How good is it now?
# -------------------
# Chosen rows are no random draw, so errors on them are not those on all rows. The model is to be
# judged by the labels that were drawn.

held_out = np.abs((model.held_out_cumulative_ < 0.5).sum(axis=1) - model.held_out_codes_).mean()
judge_by_random_rows(model, y, is_chosen)
by_random = np.abs((model.held_out_cumulative_ < 0.5).sum(axis=1) - model.held_out_codes_).mean()
print(f"held-out error: all labels {held_out:.2f}, random ones {by_random:.2f}")
print(f"error on other rows: {error(model):.2f}")

# %%
# Which labels are wrong?
# -----------------------
# Somebody slipped: a row of the lowest class has got the highest one.

slip = int(np.flatnonzero((y == truth.min()) & ~is_chosen)[0])
y[slip] = truth.max()
found = doubt(fit(y), X, y, n=3)
print(f"about {found.n_wrong} of {found.n_labels} are wrong, from {found.low} to {found.high}")
for row, label, why in zip(found.positions, found.labels, found.reasons, strict=True):
    print(f"row {row}{' (the slip)' if row == slip else ''} has {label:g}, but {why}")
y[slip] = truth[slip]

# %%
# What would more labels bring?
# -----------------------------
# A learning curve of the labels that are there, prolonged, with 80 % intervals.

more = np.array([60, 120, 360])
forecast = plan(model, X, y, target=0.8, more=more)
print(f"more labels for 0.8: {forecast.n_needed:g}, from {forecast.n_needed_low:g}")

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.errorbar(forecast.sizes, forecast.errors, forecast.standard_errors, fmt="o", label="measured")
sizes = forecast.n_labels + more
ax.fill_between(sizes, forecast.low, forecast.high, alpha=0.2)
ax.plot(sizes, forecast.forecast, "--", label="forecast, 80 % interval")
ax.axhline(forecast.constant, color="gray", linestyle=":", label="always the same class")
ax.set(xlabel="labels", ylabel="mean absolute error", ylim=(0, None))
ax.legend()
