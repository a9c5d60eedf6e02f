"""The figures of the page on tuning, from the cells that ``benchmarks/tuned.py`` compares.

python docs/examples/tuning.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

ROOT = Path(__file__).parent.parent
TITLES = {"at": "absolute error (AT)", "it": "zero-one error (IT)", "ls": "squared error (LS)"}
LINES = (
    ("SV-prior-CV", "known", "labelled rows weighted to the known priors", "#888888", "s"),
    ("tuned", "known", "tuned, priors known", "#d1495b", "o"),
    ("tuned", "labels", "tuned, priors from labels", "#30638e", "^"),
)
# Sets whose classes are the same at every number of labels, so that errors can be compared.
SAME_CLASSES = (
    *("abalone", "bank1-5", "bank2-5", "calhousing-5", "census1-5", "census2-5"),
    *("computer1-5", "computer2-5", "stock-5"),
)


def select(cells, method, prior, loss):
    return cells[(cells["method"] == method) & (cells["prior"] == prior) & (cells["loss"] == loss)]


def changes_figure(cells, path):
    """Mean relative change of the error against SV-CV, by number of labels."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True)
    for ax, (loss, title) in zip(axes, TITLES.items(), strict=True):
        for method, prior, label, color, marker in LINES:
            groups = select(cells, method, prior, loss).groupby("n_labeled")["change"]
            mean, error = 100 * groups.mean(), 100 * groups.sem()
            ax.errorbar(mean.index, mean, error, color=color, marker=marker, label=label, capsize=2)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_xscale("log")
        ax.set_xticks([20, 50, 100, 500], ["20", "50", "100", "500"])
        ax.minorticks_off()
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("labelled rows")
    axes[0].set_ylabel("change against tuned SV, %")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def sets_figure(cells, path):
    """Each set's change with 20 labels, priors known."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 5.2), sharey=True)
    few = cells[cells["n_labeled"] == 20]
    names = None
    for ax, (loss, title) in zip(axes, TITLES.items(), strict=True):
        found = {
            method: 100 * select(few, method, "known", loss).set_index("name")["change"]
            for method in ("SV-prior-CV", "tuned")
        }
        if names is None:
            names = found["tuned"].sort_values().index
        y = np.arange(len(names))
        ax.axvline(0, color="black", linewidth=0.8)
        ax.plot(found["SV-prior-CV"].reindex(names), y, "s", color="#888888", markersize=4)
        ax.plot(found["tuned"].reindex(names), y, "o", color="#d1495b", markersize=5)
        ax.set_yticks(y, names, fontsize=8)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("change against tuned SV, %")
        ax.grid(axis="y", alpha=0.3)
    axes[0].plot([], [], "s", color="#888888", label="rows weighted to the known priors")
    axes[0].plot([], [], "o", color="#d1495b", label="tuned, priors known")
    figure.legend(loc="lower center", ncols=2, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def labels_replaced(cells, loss, size):
    """How many labels SV-CV needs for the error that the tuned classifier has with ``size``."""
    kept = select(cells, "tuned", "known", loss)
    kept = kept[kept["name"].isin(SAME_CLASSES)]
    ours, theirs = (
        np.log(errors).groupby(kept["n_labeled"]).mean()
        for errors in (kept["error"], kept["error"] / (1 + kept["change"]))
    )
    equal = np.interp(-ours[size], -theirs.to_numpy(), np.log(theirs.index.to_numpy()))
    return float(np.exp(equal))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--csv", type=Path, default=ROOT / "results" / "tuning" / "cells.csv")
    parser.add_argument("--images", type=Path, default=ROOT / "images")
    arguments = parser.parse_args()
    cells = pd.read_csv(arguments.csv)
    changes_figure(cells, arguments.images / "tuning-changes.png")
    sets_figure(cells, arguments.images / "tuning-sets.png")
    for loss in TITLES if "error" in cells else ():
        for size in (20, 50, 100):
            equal = labels_replaced(cells, loss, size)
            print(f"{loss}: tuned with {size} labels and known priors is SV-CV with {equal:.0f}")


if __name__ == "__main__":
    main()
