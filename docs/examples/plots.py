"""The pictures of docs/plots.md: ``python docs/examples/plots.py``.

Diabetes stages from scikit-learn's bundled data; 120 of 442 rows keep their label.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from semiordinal import LinearOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.plotting import (
    VarianceRatioDisplay,
    plot_calibration,
    plot_cd_diagram,
    plot_coefficients,
    plot_confusion,
    plot_panels,
    plot_prediction_sets,
    plot_set_coverage,
    plot_shares,
    plot_thresholds,
    plot_unlabeled_curve,
    plot_variance_ratio,
)
from semiordinal.theory import (
    get_loss,
    gradient_moments,
    risk_hessian,
    risk_variance,
    supervised_weights,
)

X, STAGES = load_diabetes_stages()
Y = mask_labels(STAGES, 120, random_state=0)
NAMES = load_diabetes().feature_names
UNIFORM = {"class_prior": "uniform"}  # the stages are of equal size by construction


def thresholds():
    model = LinearOrdinalClassifier(**UNIFORM).fit(X, Y)
    return plot_thresholds(model, X, Y)


def confusion():
    model = LinearOrdinalClassifier(**UNIFORM).fit(X, Y)
    held_out = np.isnan(Y)  # their stages are known here
    return plot_confusion(STAGES[held_out], model.predict(X[held_out]))


def calibration():
    model = LinearOrdinalClassifier(**UNIFORM).fit(X, Y)
    held_out = np.isnan(Y)
    return plot_calibration(model, X[held_out], STAGES[held_out])


def shares():
    models = {
        gamma: LinearOrdinalClassifier(unlabeled_weight=gamma, **UNIFORM) for gamma in (0.0, 0.25)
    }
    hidden = X[np.isnan(Y)]
    predicted = [model.fit(X, Y).predict(hidden).astype(int) for model in models.values()]
    counts = [np.bincount(classes, minlength=6)[1:] / len(hidden) for classes in predicted]
    names = ["predicted, labelled rows alone", "predicted, with unlabelled rows"]
    known = {"assumed": np.full(5, 0.2), **dict(zip(names, counts, strict=True))}
    return plot_shares(range(1, 6), known)


def coefficients():
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LinearOrdinalClassifier(**UNIFORM).fit(standardized, Y)
    rng = np.random.default_rng(0)
    labeled, unlabeled = np.flatnonzero(~np.isnan(Y)), np.flatnonzero(np.isnan(Y))
    draws = []
    for _ in range(100):
        rows = np.concatenate([rng.choice(part, len(part)) for part in (labeled, unlabeled)])
        draws.append(LinearOrdinalClassifier(**UNIFORM).fit(standardized[rows], Y[rows]).coef_)
    intervals = np.quantile(draws, [0.025, 0.975], axis=0).T
    return plot_coefficients(model, NAMES, intervals)


def parameter_variance(name):
    """Of the parameters of a supervised fit to every other row, estimated on the others."""
    pilot = LinearOrdinalClassifier(loss=name, unlabeled_weight=0.0, standardize=False)
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    pilot.fit(standardized[::2], STAGES[::2])
    rows, codes = standardized[1::2], STAGES[1::2] - 1
    loss, model = get_loss(name), (pilot.coef_, pilot.thresholds_)
    weights = supervised_weights(np.bincount(codes).astype(float))
    hessian = risk_hessian(loss, weights, rows, codes, *model, l2=0.01)
    moments = gradient_moments(loss, rows, codes, *model, hessian)
    return risk_variance(moments, np.full(5, 8), 400, np.full(5, 0.2))


def variance_ratio():
    return plot_variance_ratio(parameter_variance("at"))


def panels():
    found = {name: parameter_variance(name) for name in ("at", "it", "ls")}
    displays = {name: VarianceRatioDisplay.from_variance(each) for name, each in found.items()}
    return plot_panels(displays).axes[0]


def unlabeled_curve(n_draws=30):
    sizes = [20, 50, 100, 254]
    ratios = {"γ = 0.25": [], "γ = 0.5": []}
    for seed in range(n_draws):
        X_train, X_test, y_train, y_test = train_test_split(
            X, STAGES, test_size=1 / 3, stratify=STAGES, random_state=seed
        )
        y = mask_labels(y_train, 40, random_state=seed)
        labeled = np.flatnonzero(~np.isnan(y))
        unlabeled = np.random.default_rng(seed).permutation(np.flatnonzero(np.isnan(y)))
        alone = LinearOrdinalClassifier(unlabeled_weight=0.0, **UNIFORM)
        reference = alone.fit(X_train[labeled], y[labeled]).score(X_test, y_test)
        for name, gamma in (("γ = 0.25", 0.25), ("γ = 0.5", 0.5)):
            model = LinearOrdinalClassifier(unlabeled_weight=gamma, **UNIFORM)
            rows = [np.concatenate([labeled, unlabeled[:size]]) for size in sizes]
            scores = [model.fit(X_train[r], y[r]).score(X_test, y_test) for r in rows]
            ratios[name].append(np.array(scores) / reference)
    return plot_unlabeled_curve(sizes, ratios)


def cd_diagram(n_draws=20):
    """Ranks of four settings over draws; of real problems there would be several data sets."""
    settings = {"SV": 0.0, "γ = 0.1": 0.1, "γ = 0.25": 0.25, "γ = 0.5": 0.5, "γ = 1": 1.0}
    errors = np.empty((n_draws, len(settings)))
    for seed in range(n_draws):
        X_train, X_test, y_train, y_test = train_test_split(
            X, STAGES, test_size=1 / 3, stratify=STAGES, random_state=seed
        )
        y = mask_labels(y_train, 40, random_state=seed)
        for i, gamma in enumerate(settings.values()):
            model = LinearOrdinalClassifier(unlabeled_weight=gamma, **UNIFORM).fit(X_train, y)
            errors[seed, i] = -model.score(X_test, y_test)
    from scipy.stats import rankdata

    ranks = rankdata(errors, axis=1).mean(axis=0)
    return plot_cd_diagram(dict(zip(settings, ranks, strict=True)), n_problems=n_draws)


def prediction_sets():
    model = LinearOrdinalClassifierCV(random_state=0).fit(X, Y)
    held_out = np.isnan(Y)
    return plot_prediction_sets(model, X[held_out], STAGES[held_out], coverage=0.8)


def set_coverage():
    model = LinearOrdinalClassifierCV(random_state=0).fit(X, Y)
    held_out = np.isnan(Y)
    return plot_set_coverage(model, X[held_out], STAGES[held_out], coverage=0.8)


PICTURES = {
    "thresholds": thresholds,
    "confusion": confusion,
    "calibration": calibration,
    "prediction-sets": prediction_sets,
    "set-coverage": set_coverage,
    "shares": shares,
    "coefficients": coefficients,
    "variance-ratio": variance_ratio,
    "panels": panels,
    "unlabeled-curve": unlabeled_curve,
    "cd-diagram": cd_diagram,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parent.parent / "images"
    parser.add_argument("--folder", type=Path, default=default, help="where the pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        path = folder / f"plot-{name}.png"
        temporary = path.with_name(f".{path.name}")
        # No text with the version of matplotlib, so that the same picture is the same file.
        draw().figure.savefig(temporary, dpi=110, format="png", metadata={"Software": None})
        temporary.replace(path)
        print(f"Picture: {path}")


if __name__ == "__main__":
    main()
