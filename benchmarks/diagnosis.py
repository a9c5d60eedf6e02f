"""How often the diagnosis is right where the truth is known: ``python benchmarks/diagnosis.py``.

Rows are Gaussian, the latent score is one direction of them plus logistic noise, and classes
are cut from it, so that the linear model is well specified. Each setting has a verdict that
is right by construction; the error of both fits on 5,000 fresh rows is printed beside it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from semiordinal import LinearOrdinalClassifier
from semiordinal.diagnosis import diagnose

EQUAL = (0.2, 0.2, 0.2, 0.2, 0.2)
RISING = (0.05, 0.1, 0.2, 0.3, 0.35)
ENDS = (0.35, 0.1, 0.1, 0.1, 0.35)
N_TEST = 5000


@dataclass(frozen=True)
class Setting:
    """A kind of table, and the answers that are right for it."""

    name: str
    right: tuple[str, ...]
    reason: str = ""  # that the sentence must give
    n_features: int = 5
    n_labeled: int = 200
    n_unlabeled: int = 1000
    noise: float = 0.5
    labeled_prior: tuple[float, ...] = EQUAL
    unlabeled_prior: tuple[float, ...] = EQUAL
    feature_shift: float = 0.0
    parameters: dict = field(default_factory=dict)
    has_limit: bool = False


SETTINGS = (
    Setting(
        "help: 170 columns, 250 labels, much noise",
        ("use",),
        n_features=170,
        n_labeled=250,
        n_unlabeled=2000,
        noise=0.8,
        has_limit=True,
    ),
    Setting(
        "do not help: 5 columns, 1000 labels",
        ("don't",),
        "do",
        n_labeled=1000,
        n_unlabeled=2000,
        has_limit=True,
    ),
    Setting(
        "shifted priors: the classes rise",
        ("don't",),
        "other shares of the classes",
        unlabeled_prior=RISING,
        has_limit=True,
    ),
    Setting(
        "shifted priors: the middle is rare",
        ("don't",),
        "other shares of the classes",
        unlabeled_prior=ENDS,
    ),
    Setting("fully labelled", ("nothing to judge",), n_unlabeled=0, has_limit=True),
    Setting("shifted features, equal priors", ("don't",), "features differ", feature_shift=1.0),
    Setting(
        "labels by class, true prior given",
        ("use", "don't", "can't tell"),
        "the MAE is",  # no shift is found
        unlabeled_prior=RISING,
        parameters={"class_prior": RISING},
    ),
    Setting(
        "labels at random, wrong prior given",
        ("don't",),
        "other shares of the classes",
        parameters={"class_prior": RISING},
    ),
    Setting(
        "harm: 10 classes, little noise",
        ("don't", "can't tell"),
        noise=0.05,
        labeled_prior=(0.1,) * 10,
        unlabeled_prior=(0.1,) * 10,
    ),
    Setting(
        "few labels: 10 columns, 40 labels", ("can't tell", "use"), n_features=10, n_labeled=40
    ),
)


def draw_rows(setting: Setting, n_rows: int, prior, direction, random):
    """Rows with the class shares of a prior, and features given the class that do not change."""
    population = np.full(len(prior), 1 / len(prior))
    sample = random.normal(size=200_000) + setting.noise * random.logistic(size=200_000)
    cuts = np.quantile(sample, np.cumsum(population)[:-1])
    n_pool = 4 * int(np.ceil(n_rows * max(p * len(prior) for p in prior))) + 500
    X = random.normal(size=(n_pool, setting.n_features))
    codes = np.digitize(X @ direction + setting.noise * random.logistic(size=n_pool), cuts)
    wanted = random.choice(len(prior), size=n_rows, p=prior)
    own = [np.flatnonzero(codes == code) for code in range(len(prior))]
    taken = np.concatenate(
        [own[code][: int((wanted == code).sum())] for code in range(len(prior))]
    ).astype(int)
    taken = random.permutation(taken)
    return X[taken], codes[taken]


def draw(setting: Setting, seed: int):
    """A table, and test rows of the unlabelled rows' population."""
    random = np.random.default_rng([seed, len(setting.name)])
    direction = random.normal(size=setting.n_features)
    direction /= np.linalg.norm(direction)
    X, codes = draw_rows(setting, setting.n_labeled, setting.labeled_prior, direction, random)
    others, _ = draw_rows(setting, setting.n_unlabeled, setting.unlabeled_prior, direction, random)
    if setting.feature_shift:
        # Along a direction that does not bear on the class.
        across = random.normal(size=setting.n_features)
        across -= (across @ direction) * direction
        others = others + setting.feature_shift * across / np.linalg.norm(across)
    test = draw_rows(setting, N_TEST, setting.unlabeled_prior, direction, random)
    y = np.concatenate([codes.astype(float), np.full(len(others), np.nan)])
    return np.vstack([X, others]), y, test


def true_errors(setting: Setting, X, y, test) -> list[float]:
    """Mean absolute errors of the supervised and of the semi-supervised fit."""
    found = []
    for gamma in (0.0, 0.25):
        model = LinearOrdinalClassifier(unlabeled_weight=gamma, **setting.parameters)
        found.append(float(np.abs(model.fit(X, y).predict(test[0]) - test[1]).mean()))
    return found


def run(setting: Setting, seeds) -> dict:
    answers, n_right, errors = Counter(), 0, []
    for seed in seeds:
        X, y, test = draw(setting, seed)
        model = LinearOrdinalClassifier(unlabeled_weight=0.25, **setting.parameters)
        verdict = diagnose(X, y, model, curves=False, random_state=seed).verdict
        answers[verdict.answer] += 1
        n_right += verdict.answer in setting.right and setting.reason in verdict.sentence
        if setting.n_unlabeled:
            errors.append(true_errors(setting, X, y, test))
    return {
        "setting": setting.name,
        "right": n_right,
        "draws": len(seeds),
        "limit": setting.has_limit,
        "answers": dict(answers),
        "errors": np.mean(errors, axis=0).tolist() if errors else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="tables of each setting")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--limits", action="store_true", help="only the settings with a limit")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.draws)
    results = []
    for setting in SETTINGS:
        if arguments.limits and not setting.has_limit:
            continue
        result = run(setting, seeds)
        results.append(result)
        if arguments.json:
            continue
        errors = result["errors"]
        truth = f"MAE {errors[0]:.3f} SV, {errors[1]:.3f} SEMI" if errors else ""
        limit = "limit: 18 of 20" if setting.has_limit else "no limit"
        print(
            f"{setting.name:42s} right in {result['right']:2d} of {result['draws']} ({limit}); "
            f"{result['answers']}; truth: {truth}",
            flush=True,
        )
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
