"""Networks whose weight of the unlabelled rows is fixed, or set in training.

The gradient of the labelled rows' risk S is noisy. A control h is a loss that needs no label. Its
mean over unlabelled rows, less that over labelled ones with each class by its share, is D, of mean
zero. So S + γ D has the same mean for all γ, and the least variance of its gradient at γ =
−Cov(∇S, ∇D)/Var(∇D), which running means over mini-batches estimate. The control is the loss at one
class, as in the paper's SEMI, or that at the classes which a teacher expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from torch.nn.functional import softplus

from semiordinal import KernelOrdinalClassifier
from semiordinal.nn import HiddenLayerNetwork, StratifiedBatchSampler
from semiordinal.nn._thresholds import OrderedThresholds

EPOCHS, BATCHES = 200, 5  # as many steps as the paper's full-batch epochs
LR, L2, LEAK, FIXED = 0.005, 1e-4, -0.2, 0.5
DECAY, EVERY = 0.9, 4  # of the running means; steps from one estimate to the next
TEACHER_FOLDS = 5


@dataclass
class RunningWeight:
    """γ of the least variance, from gradients of mini-batches."""

    value: float = 0.0
    history: list[float] = field(default_factory=list)
    means: list[torch.Tensor] | None = None

    def update(self, of_labels: torch.Tensor, of_control: torch.Tensor) -> None:
        new = [of_labels, of_control, of_labels @ of_control, of_control @ of_control]
        if self.means is None:
            self.means = [each.clone() for each in new]
            return
        for mean, each in zip(self.means, new, strict=True):
            mean.lerp_(each, 1 - DECAY)
        labels, control, product, square = self.means
        variance = (square - control @ control).item()
        if variance > 0:
            covariance = (product - labels @ control).item()
            self.value = float(np.clip(-covariance / variance, 0.0, 1.0))
            self.history.append(self.value)


def teacher_cumulative(X: np.ndarray, codes: np.ndarray, seed: int) -> np.ndarray:
    """P(y ≤ i) by a kernel model: of labelled rows by those that have not seen them."""
    labeled, unlabeled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    found = np.zeros((len(codes), codes.max()))
    splitter = StratifiedKFold(TEACHER_FOLDS, shuffle=True, random_state=seed)
    for train, test in splitter.split(labeled, codes[labeled]):
        model = KernelOrdinalClassifier(unlabeled_weight=0.0)
        model.fit(X[labeled[train]], codes[labeled[train]])
        found[labeled[test]] = model.predict_cumulative(X[labeled[test]])
        found[unlabeled] += model.predict_cumulative(X[unlabeled]) / TEACHER_FOLDS
    return found


@dataclass(frozen=True)
class Batch:
    """Rows of a mini-batch with the weights by which they stand for all rows.

    Parameters
    ----------
    index : tensor of shape (n,)
    labels, control : tensors of shape (n, K − 1)
        Whether y ≤ i, and how probable that is by the control.
    share : tensor of shape (n,)
        Class shares over labelled rows of the class; zero without a label.
    stands_in : tensor of shape (n,)
        One over unlabelled rows; zero with a label.
    is_removed : tensor of shape (n,)
        Whether the label is the constant class.
    """

    index: torch.Tensor
    labels: torch.Tensor
    control: torch.Tensor
    share: torch.Tensor
    stands_in: torch.Tensor
    is_removed: torch.Tensor

    def risks(self, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """S and D of all-threshold losses, by scores θ_i − f: (n, K − 1)."""
        own, control = self._losses(scores)
        return self.share @ own, (self.stands_in - self.share) @ control

    def corrected(self, scores: torch.Tensor, gamma: float) -> torch.Tensor:
        """The paper's SEMI, leaky where the part with unlabelled rows is negative."""
        own, control = self._losses(scores)
        rest = (self.stands_in - self.share * ~self.is_removed) @ control
        kept = self.share * (1 - gamma * self.is_removed.to(self.share.dtype))
        return kept @ own + gamma * torch.where(rest >= 0, rest, LEAK * rest)

    def _losses(self, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        common = softplus(scores).sum(dim=1)
        return tuple(common - (each * scores).sum(dim=1) for each in (self.labels, self.control))


def batches(
    codes: np.ndarray, prior: np.ndarray, control: np.ndarray, removed: int, seed: int
) -> Iterator[Batch]:
    """Mini-batches of all epochs, each with its share of every kind of row."""
    sampler = StratifiedBatchSampler(codes, -(-len(codes) // BATCHES) + len(prior), seed)
    is_below = (codes[:, None] <= np.arange(len(prior) - 1)).astype(np.float32)
    control = control.astype(np.float32)
    for _ in range(EPOCHS):
        for rows in sampler:
            index = np.asarray(rows)
            here = codes[index]
            counts = np.bincount(here + 1, minlength=len(prior) + 1)
            by_code = np.r_[0.0, prior / counts[1:]].astype(np.float32)
            unlabeled = np.r_[1 / max(counts[0], 1), np.zeros(len(prior))].astype(np.float32)
            arrays = (index, is_below[index], control[index], by_code[here + 1])
            more = (unlabeled[here + 1], here == removed)
            yield Batch(*(torch.from_numpy(np.ascontiguousarray(a)) for a in (*arrays, *more)))


@dataclass(frozen=True)
class Trainer:
    """A way to weigh the unlabelled rows: trains a network, and predicts the test rows.

    Parameters
    ----------
    weight : {"none", "fixed", "online"}
    control : {"constant", "teacher"}, default="constant"
    is_corrected : bool, default=False
        Whether the unlabelled part of the risk is leaky where it is negative, as in the paper;
        for the constant class.
    """

    weight: str
    control: str = "constant"
    is_corrected: bool = False

    def __call__(self, rows: dict[str, np.ndarray], seed: int) -> np.ndarray:
        torch.manual_seed(seed)
        mean, scale = rows["X"].mean(axis=0), rows["X"].std(axis=0)
        scale[scale == 0] = 1.0
        X, X_test = ((rows[name] - mean) / scale for name in ("X", "X_test"))
        codes = np.where(np.isnan(rows["y"]), -1, rows["y"]).astype(int)
        if self.weight == "none":
            X, codes = X[codes >= 0], codes[codes >= 0]
        prior = rows["prior"]
        removed = int(np.searchsorted(np.cumsum(prior), 0.5))
        control = np.tile(removed <= np.arange(len(prior) - 1), (len(codes), 1))
        if self.control == "teacher":
            control = teacher_cumulative(X, codes, seed)
        below = np.cumsum(prior)[:-1]
        network = HiddenLayerNetwork(X.shape[1])
        thresholds = OrderedThresholds(np.log(below / (1 - below)))
        tensor = torch.tensor(X, dtype=torch.float32)
        self.train(network, thresholds, tensor, batches(codes, prior, control, removed, seed))
        with torch.no_grad():
            latent = network(torch.tensor(X_test, dtype=torch.float32))
            return (latent > thresholds()).sum(dim=1).numpy()

    def train(
        self,
        network: torch.nn.Module,
        thresholds: torch.nn.Module,
        rows: torch.Tensor,
        all_batches: Iterable[Batch],
    ) -> RunningWeight:
        """Train in place, and return what became of the weight."""
        weights, cuts = list(network.parameters()), list(thresholds.parameters())
        parameters = [*weights, *cuts]
        groups = [{"params": weights, "weight_decay": L2}, {"params": cuts}]
        optimizer = torch.optim.Adam(groups, lr=LR)
        online = RunningWeight()
        for step, batch in enumerate(all_batches):
            scores = thresholds() - network(rows[batch.index])
            if self.weight == "online" and step % EVERY == 0:
                both = [
                    torch.autograd.grad(risk, parameters, retain_graph=True)
                    for risk in batch.risks(scores)
                ]
                online.update(*(torch.cat([g.flatten() for g in each]) for each in both))
            gamma = {"none": 0.0, "fixed": FIXED, "online": online.value}[self.weight]
            if self.is_corrected:
                value = batch.corrected(scores, gamma)
            else:
                of_labels, difference = batch.risks(scores)
                value = of_labels + gamma * difference
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        return online
