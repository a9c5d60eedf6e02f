"""Networks: the cost of a training step, and what unlabelled rows bring on kinematics.

``step`` compares a step through `SemiOrdinalLoss` with one of the same loss written in
torch. ``kinematics`` trains with and without unlabelled rows by the paper's settings; it reads
its data from the folder that SEMIORDINAL_DATA names. ``corrections`` compares what is
done where the unlabelled part of the risk is negative, by the classifier's defaults.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch.nn.functional import softplus

from semiordinal import NeuralOrdinalClassifier
from semiordinal.nn import HiddenLayerNetwork, SemiOrdinalLoss

PAPER = {
    "unlabeled_weight": 0.5,
    "removed_class": "smallest",
    "correction": "leaky",
    "leak": -0.2,
    "order_penalty": 10.0,
}


class NativeLoss(torch.nn.Module):
    """AT with the logistic margin, SEMI with the leaky correction, as one would write it."""

    def __init__(self, loss: SemiOrdinalLoss, codes: torch.Tensor, prior: torch.Tensor, k: int):
        super().__init__()
        self.thresholds = torch.nn.Parameter(loss.thresholds().detach().clone())
        labeled = codes >= 0
        n_classes = len(prior)
        counts = torch.bincount(codes[labeled], minlength=n_classes)
        kept = labeled & (codes != k)
        share = torch.where(kept, (prior / counts)[codes], 0.0)
        self.at_label = torch.where(labeled, 0.5 / labeled.sum(), 0.0) + 0.5 * share
        self.at_removed = torch.where(labeled, -share, 1 / (~labeled).sum())
        below = torch.arange(n_classes - 1)
        self.label_signs = torch.where(below < codes[:, None], -1.0, 1.0)
        self.removed_signs = torch.where(below < k, -1.0, 1.0)
        self.leak, self.penalty = -0.2, 10.0

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        scores = self.thresholds - latent
        own = softplus(-self.label_signs * scores).sum(dim=1) @ self.at_label
        rest = softplus(-self.removed_signs * scores).sum(dim=1) @ self.at_removed
        order = torch.relu(-torch.log(torch.diff(self.thresholds))).sum()
        return own + 0.5 * torch.where(rest >= 0, rest, self.leak * rest) + self.penalty * order


def step_times(repeats: int, steps: int) -> None:
    n_classes, n_labeled, n, d = 8, 500, 2500, 20
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn((n, d), generator=generator)
    codes = torch.randint(n_classes, (n,), generator=generator)
    codes[n_labeled:] = -1
    prior = torch.full((n_classes,), 1 / n_classes)
    k = 2

    def trainer(native: bool):
        torch.manual_seed(0)
        network = HiddenLayerNetwork(d)
        loss = SemiOrdinalLoss(
            n_classes, class_prior=prior.numpy(), **{**PAPER, "removed_class": k}
        )
        if native:
            loss = NativeLoss(loss, codes, prior, k)
        groups = [
            {"params": network.parameters(), "weight_decay": 1e-4},
            {"params": loss.parameters()},
        ]
        optimizer = torch.optim.Adam(groups, lr=0.005)

        def step() -> torch.Tensor:
            optimizer.zero_grad()
            latent = network(rows)
            value = loss(latent) if native else loss(latent, codes)
            value.backward()
            optimizer.step()
            return value.detach()

        return step

    ours, native = trainer(False), trainer(True)
    print(f"first values: ours {ours().item():.6f}, native {native().item():.6f}")
    times: dict[str, list[float]] = {"ours": [], "native": []}
    for repeat in range(repeats):
        pair = [("ours", ours), ("native", native)]
        for name, step in pair if repeat % 2 else pair[::-1]:
            start = time.process_time()
            for _ in range(steps):
                step()
            times[name].append((time.process_time() - start) / steps)
    ratios = [a / b for a, b in zip(times["ours"], times["native"], strict=True)]
    medians = {name: 1e3 * statistics.median(values) for name, values in times.items()}
    print(
        f"one step, {n} x {d}, 256 units, K = {n_classes}, one thread: ours "
        f"{medians['ours']:.2f} ms, native {medians['native']:.2f} ms, median ratio "
        f"{statistics.median(ratios):.3f} (quartiles "
        f"{', '.join(f'{q:.3f}' for q in statistics.quantiles(ratios, n=4)[::2])})"
    )


def mean_errors(
    data: str, methods: dict[str, dict], draw: tuple[int, int, int], seeds: int, epochs: int
):
    """Mean absolute error of each method on draws of labelled, unlabelled and test rows."""
    n_labeled, n_unlabeled, _ = draw
    path = Path(os.environ["SEMIORDINAL_DATA"]) / f"{data}.csv.gz"
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    X, y = table[:, :-1], table[:, -1]
    prior = np.unique(y, return_counts=True)[1] / len(y)
    errors: dict[str, list[float]] = {name: [] for name in methods}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order[: sum(draw)], [n_labeled + n_unlabeled])
        masked = np.r_[y[train[:n_labeled]], np.full(n_unlabeled, np.nan)]
        for name, settings in methods.items():
            model = NeuralOrdinalClassifier(
                max_epochs=epochs, class_prior=prior, random_state=seed, **settings
            ).fit(X[train], masked)
            errors[name].append(-model.score(X[test], y[test]))
        shown = ", ".join(f"{name} {values[-1]:.4f}" for name, values in errors.items())
        print(f"seed {seed}: {shown}", flush=True)
    print(f"{data}, {n_labeled} labels, {n_unlabeled} unlabelled rows, {epochs} epochs:")
    for name, values in errors.items():
        spread = np.std(values, ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        print(f"{name:14s} mean MAE {np.mean(values):.4f} ± {spread:.4f} (standard error)")
    return errors


def kinematics(seeds: int, epochs: int) -> None:
    methods = {"SV": {**PAPER, "unlabeled_weight": 0.0}, "SEMI1": PAPER}
    errors = mean_errors("kinematics", methods, (500, 2000, 2000), seeds, epochs)
    lower = sum(a > b for a, b in zip(errors["SV"], errors["SEMI1"], strict=True))
    print(f"SEMI1 lower in {lower} of {seeds} seeds")


def corrections(seeds: int, epochs: int) -> None:
    methods = {
        "SV": {"unlabeled_weight": 0.0},
        "none": {"correction": "none"},
        "leaky": {"correction": "leaky"},
        "non_negative": {"correction": "non_negative"},
        "descent_ascent": {"correction": "leaky", "correction_step": "descent_ascent"},
    }
    for data in ("kinematics", "abalone"):
        mean_errors(data, methods, (300, 1700, 1500), seeds, epochs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["step", "kinematics", "corrections"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=1000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        if arguments.part == "step":
            step_times(arguments.repeats, arguments.steps)
        elif arguments.part == "kinematics":
            kinematics(arguments.seeds, arguments.epochs)
        else:
            corrections(arguments.seeds, arguments.epochs)


if __name__ == "__main__":
    main()
