"""How often intervals hold the truth, how often tests are wrong, and what a summary costs.

``python benchmarks/inference.py coverage --draws 2000``, ``size`` or ``speed``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np

from semiordinal import LinearOrdinalClassifier, elastic_net_path
from semiordinal.inference import proportional_odds_test, summarize

COEF = np.array([1.0, -0.5, 0.0])
THRESHOLDS = np.array([-1.5, 0.0, 1.5])
N_POPULATION = 1_000_000


@dataclass(frozen=True)
class Scenario:
    """How rows are drawn and fitted."""

    loss: str = "cl"
    n_labeled: int = 200
    gamma: float = 0.0
    n_unlabeled: int = 0
    weighted: bool = False
    cluster: int = 1  # rows in a group
    right: bool = True  # whether the model is
    l2: float = 0.0

    def __str__(self) -> str:
        parts = [self.loss.upper(), f"n_L {self.n_labeled}"]
        if self.gamma:
            parts.append(f"γ {self.gamma:g}, n_U {self.n_unlabeled}")
        parts += ["weighted"] * self.weighted
        parts += [f"groups of {self.cluster}"] * (self.cluster > 1)
        parts += [f"l2 {self.l2:g}"] * bool(self.l2)
        return ", ".join([*parts, "right" if self.right else "wrong"])

    def model(self, prior: np.ndarray) -> LinearOrdinalClassifier:
        known = prior if self.gamma else "labels"
        return LinearOrdinalClassifier(
            loss=self.loss, l2=self.l2, unlabeled_weight=self.gamma, class_prior=known
        )


def draw(rng: np.random.Generator, n: int, scenario: Scenario):
    """Rows, labels, and the chance of each row to be in the sample."""
    groups = np.arange(n) // scenario.cluster
    share = rng.normal(size=(groups[-1] + 1, len(COEF)))[groups]
    own = rng.normal(size=(n, len(COEF)))
    X = own if scenario.cluster == 1 else np.sqrt(0.5) * (share + own)
    latent = X @ COEF
    noise = rng.logistic(size=n)
    if scenario.cluster > 1:
        # A copula: noise of a group is correlated, and logistic for each row.
        from scipy import stats

        common = rng.normal(size=groups[-1] + 1)[groups]
        normal = np.sqrt(0.5) * (common + rng.normal(size=n))
        noise = stats.logistic.ppf(stats.norm.cdf(normal))
    if not scenario.right:
        latent = latent + 0.7 * X[:, 0] ** 2 - 0.7
        noise = noise * np.exp(0.5 * X[:, 1])
    y = np.searchsorted(THRESHOLDS, latent + noise)
    chance = 1 / (1 + np.exp(-X[:, 0] - 0.5 * (y - 1.5))) * 0.8 + 0.1
    return X, y.astype(float), groups, chance


def sample(rng, scenario: Scenario):
    """What a fit sees: rows, labels (NaN where unlabelled), weights, groups."""
    n = scenario.n_labeled + scenario.n_unlabeled
    if not scenario.weighted:
        X, y, groups, _ = draw(rng, n, scenario)
        order = rng.permutation(n) if scenario.cluster > 1 else np.arange(n)
        y[order[scenario.n_labeled :]] = np.nan
        return X, y, None, groups if scenario.cluster > 1 else None
    X, y, _, chance = draw(rng, 4 * n, scenario)
    taken = np.flatnonzero(rng.uniform(size=len(y)) < chance)[:n]
    y[taken[scenario.n_labeled :]] = np.nan
    return X[taken], y[taken], 1 / chance[taken], None


def truth(scenario: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """Parameters that the fit estimates, on very many rows, and class shares."""
    whole = replace(scenario, cluster=1, gamma=0.0, n_unlabeled=0)
    X, y, _, _ = draw(np.random.default_rng(12345), N_POPULATION, whole)
    prior = np.bincount(y.astype(int)) / len(y)
    model = whole.model(prior).fit(X, y)
    return np.concatenate([model.coef_, model.thresholds_]), prior


def coverage(scenario: Scenario, n_draws: int, seed: int = 0) -> dict:
    target, prior = truth(scenario)
    holds, errors, estimates, failed = [], [], [], 0
    for number in range(n_draws):
        rng = np.random.default_rng([seed, number])
        X, y, weights, groups = sample(rng, scenario)
        try:
            model = scenario.model(prior).fit(X, y, sample_weight=weights)
            summary = summarize(model, X, y, sample_weight=weights, groups=groups)
        except ValueError:
            failed += 1
            continue
        low, high = summary.intervals.T
        holds.append((low <= target) & (target <= high))
        errors.append(summary.std_errors)
        estimates.append(summary.estimates)
    spread = np.std(estimates, axis=0)
    return {
        "coverage": np.mean(holds, axis=0),
        "se_ratio": np.sqrt(np.mean(np.square(errors), axis=0)) / spread,
        "spread": spread,
        "failed": failed,
    }


SCENARIOS = [
    *(Scenario("cl", n, right=right) for n in (100, 300, 1000) for right in (True, False)),
    *(Scenario("at", n, right=right) for n in (100, 1000) for right in (True, False)),
    *(
        Scenario(loss, n, 0.25, 1000, right=right)
        for loss in ("at", "cl")
        for n in (100, 300, 1000)
        for right in (True, False)
    ),
    *(
        Scenario("cl", n, weighted=True, right=right)
        for n in (300, 1000)
        for right in (True, False)
    ),
    *(Scenario("cl", n, cluster=5, right=right) for n in (300, 1000) for right in (True, False)),
    Scenario("at", 500, 0.25, 1000, weighted=True, right=False),
    Scenario("at", 500, 0.25, 1000, cluster=5, right=False),
    Scenario("cl", 300, l2=0.05, right=False),
]


def run_coverage(n_draws: int, only: str) -> None:
    print(
        "| rows and model | coverage, coefficients | coverage, thresholds | SE / spread | failed |"
    )
    print("|---|---|---|---|---|")
    for scenario in SCENARIOS:
        if only not in str(scenario):
            continue
        found = coverage(scenario, n_draws)
        p = len(COEF)
        percent = [
            " ".join(f"{100 * c:.1f}" for c in part) for part in np.split(found["coverage"], [p])
        ]
        ratio = f"{found['se_ratio'].min():.2f} to {found['se_ratio'].max():.2f}"
        print(
            f"| {scenario} | {percent[0]} | {percent[1]} | {ratio} | {found['failed']} |",
            flush=True,
        )


SIZES = [
    *((Scenario("cl", n), "likelihood_ratio") for n in (100, 300, 1000)),
    *((Scenario("cl", n), "score") for n in (100, 300, 1000)),
    *((Scenario("at", n), "score") for n in (300, 1000)),
    *((Scenario("at", n, 0.25, 1000), "score") for n in (300, 1000)),
    (Scenario("cl", 1000, cluster=5), "score"),
]


def rejections(scenario: Scenario, method: str, n_draws: int) -> tuple[np.ndarray, int]:
    """How often proportional odds are rejected at 5 %: for all columns, then for each."""
    prior = truth(scenario)[1]
    found, failed = [], 0
    for number in range(n_draws):
        X, y, weights, groups = sample(np.random.default_rng([1, number]), scenario)
        try:
            model = scenario.model(prior).fit(X, y, sample_weight=weights)
            test = proportional_odds_test(model, X, y, groups=groups, method=method)
        except ValueError:
            failed += 1
            continue
        found.append(
            [test.whole.p_value < 0.05, *(c.p_value < 0.05 for c in test.columns.values())]
        )
    return np.mean(found, axis=0), failed


def run_sizes(n_draws: int, only: str) -> None:
    print("| rows and model | test | proportional: all, each column | not: all, each | failed |")
    print("|---|---|---|---|---|")
    for scenario, method in SIZES:
        if only not in str(scenario):
            continue
        size, failed = rejections(scenario, method, n_draws)
        power, _ = rejections(replace(scenario, right=False), method, n_draws // 10)
        shares = [" ".join(f"{100 * share:.1f}" for share in each) for each in (size, power)]
        print(f"| {scenario} | {method} | {shares[0]} | {shares[1]} | {failed} |", flush=True)


def run_speed() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 20))
    y = np.searchsorted(
        [-2.0, -0.5, 0.5, 2.0], X @ rng.normal(size=20) / 3 + rng.logistic(size=100_000)
    )
    semi = np.where(np.arange(len(y)) < 20_000, y, np.nan)
    cases = {"CL, all labelled": ("cl", 0.0, y), "AT, 20 % labelled": ("at", 0.25, semi)}
    for name, (loss, gamma, labels) in cases.items():
        model = LinearOrdinalClassifier(loss=loss, l2=0, unlabeled_weight=gamma)
        fits, summaries = [], []
        for _ in range(5):
            start = time.process_time()
            model.fit(X, labels)
            middle = time.process_time()
            summarize(model, X, labels)
            fits.append(middle - start)
            summaries.append(time.process_time() - middle)
        fit, summary = np.median(fits), np.median(summaries)
        print(f"{name}: fit {fit:.3f} s, summary {summary:.3f} s, {summary / fit:.2f} x (limit 2)")
    try:
        from statsmodels.miscmodels.ordinal_model import OrderedModel
    except ImportError:
        return
    start = time.process_time()
    OrderedModel(y, X, distr="logit").fit(method="bfgs", disp=False)
    print(
        f"statsmodels OrderedModel, fit with standard errors: {time.process_time() - start:.1f} s"
    )


def run_path() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 200))
    slopes = np.where(np.arange(200) < 20, rng.normal(size=200) / 2, 0.0)
    y = np.digitize(X @ slopes + rng.logistic(size=10_000), [-2.0, -0.5, 0.5, 2.0])
    for loss in ("at", "cl", "ls"):
        model = LinearOrdinalClassifier(loss=loss, l2=0.01, l1_ratio=1.0, unlabeled_weight=0)
        fits, paths = [], []
        for _ in range(3):
            start = time.process_time()
            model.fit(X, y)
            middle = time.process_time()
            elastic_net_path(model, X, y)
            fits.append(middle - start)
            paths.append(time.process_time() - middle)
        fit, path = np.median(fits), np.median(paths)
        print(f"{loss}: fit {fit:.3f} s, 100 penalties {path:.2f} s, {path / fit:.1f} x (limit 20)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["coverage", "size", "speed", "path"])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--only", default="", help="part of a scenario's name")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    if arguments.what == "coverage":
        run_coverage(arguments.draws, arguments.only)
    elif arguments.what == "size":
        run_sizes(arguments.draws, arguments.only)
    elif arguments.what == "speed":
        run_speed()
    else:
        run_path()
