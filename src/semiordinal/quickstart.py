"""The main job on data that is always there: ``python -m semiordinal.quickstart``."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from ._progress import progress
from .datasets import load_diabetes_stages, mask_labels
from .methods import get_method
from .selection import OrdinalScorer

_METRICS = ("mae", "mze", "mse", "qwk")
_METHODS = {
    "SV-CV": "SV-CV, labelled rows alone",
    "SV-prior-CV": "SV-prior-CV, and class shares",
    "tuned": "tuned, and unlabelled rows too",
}


def run(n_labeled: int, n_draws: int) -> tuple[dict[str, np.ndarray], tuple]:
    """Scores (draws, metrics) of each method, and the last tuned fit with its test rows."""
    X, stages = load_diabetes_stages()
    scores: dict[str, list[list[float]]] = {name: [] for name in _METHODS.values()}
    with progress("Drawing, tuning, testing", n_draws) as step:
        for seed in range(n_draws):
            X_train, X_test, y_train, y_test = train_test_split(
                X, stages, test_size=1 / 3, stratify=stages, random_state=seed
            )
            y = mask_labels(y_train, n_labeled, random_state=seed)
            for method, name in _METHODS.items():
                # The stages are of equal size by construction, so the priors are known.
                model = get_method(method).build(
                    class_prior="uniform", classes=np.unique(stages), random_state=seed
                )
                model.fit(X_train, y)
                scores[name].append([OrdinalScorer(m)(model, X_test, y_test) for m in _METRICS])
            step(1)
    return {name: np.array(values) for name, values in scores.items()}, (model, X_test, y_test)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m semiordinal.quickstart", description=__doc__)
    parser.add_argument("--labels", type=int, default=40, help="labels to keep (default: 40)")
    parser.add_argument("--draws", type=int, default=20, help="random draws (default: 20)")
    parser.add_argument("--picture", type=Path, default=Path("quickstart.png"))
    arguments = parser.parse_args()
    scores, (model, X_test, y_test) = run(arguments.labels, arguments.draws)

    print("Diabetes progression in five stages, from scikit-learn's bundled data.")
    print(
        f"{model.n_labeled_} labelled and {model.n_unlabeled_} unlabelled rows to learn from, "
        f"{len(y_test)} held out; mean over {arguments.draws} random draws\n"
        "(± the standard error of the mean).\n"
    )
    print(f"{'':32s}{'MAE':>14s}{'MZE':>14s}{'MSE':>14s}{'QWK':>14s}")
    sign = np.array([-1, -1, -1, 1])
    for name, values in scores.items():
        mean = sign * values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0 * mean
        cells = [f"{m:.3f} ±{e:.3f}" for m, e in zip(mean, error, strict=True)]
        print(f"{name:32s}" + "".join(f"{cell:>14s}" for cell in cells))
    supervised, *_, tuned = (values[:, 0] for values in scores.values())
    print(
        f"\nKnown class shares and unlabelled rows lowered the MAE in "
        f"{(tuned > supervised).sum()} of {len(tuned)} draws, and raised it in "
        f"{(tuned < supervised).sum()}."
    )

    import matplotlib

    matplotlib.use("Agg")
    from .plotting import plot_thresholds

    ax = plot_thresholds(model, X_test, y_test)
    ax.set_title("Scores of held-out rows by stage, and the thresholds between stages", pad=18)
    temporary = arguments.picture.with_name(f".{arguments.picture.name}")
    ax.figure.savefig(temporary, dpi=150, format=arguments.picture.suffix.lstrip(".") or "png")
    temporary.replace(arguments.picture)
    print(f"Picture: {arguments.picture}")


if __name__ == "__main__":
    main()
