"""The figures and numbers of the page on theory: ``python docs/examples/theory.py``."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from semiordinal import LinearOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages
from semiordinal.theory import (
    BoundSetting,
    LinearClass,
    ModelComplexities,
    class_moments,
    compare_removed_classes,
    convexity,
    empirical_complexities,
    estimation_error_bound,
    get_loss,
    gradient_moments,
    labeled_rows_needed,
    largest_loss,
    loss_complexities,
    measured_loss_bound,
    resample_risks,
    risk_hessian,
    risk_variance,
    supervised_weights,
    unlabeled_rows_needed,
)

N_CLASSES, N_LABELED, N_UNLABELED, GAMMA, L2 = 5, 40, 400, 0.25, 0.01
N_SPLITS = 50
GAMMAS = np.linspace(0, 1, 101)
PRIOR = np.full(N_CLASSES, 1 / N_CLASSES)
COUNTS = np.full(N_CLASSES, N_LABELED / N_CLASSES)
MIDDLE = 2
TITLES = {"at": "all thresholds", "it": "immediate thresholds", "ls": "least squares"}


def halves(seed):
    """A half to fit a pilot on, and a half to measure on; standardised by the first."""
    X, stages = load_diabetes_stages()
    pilot, rows, y, held = train_test_split(
        X, stages, test_size=0.5, stratify=stages, random_state=seed
    )
    mean, scale = pilot.mean(axis=0), pilot.std(axis=0)
    return (pilot - mean) / scale, y, (rows - mean) / scale, held - 1


def fit_pilot(name, X, y):
    model = LinearOrdinalClassifier(loss=name, unlabeled_weight=0.0, standardize=False, l2=L2)
    model.fit(X, y)
    return model.coef_, model.thresholds_


def complexity_settings(loss, models, rows):
    """Three settings of the same bound: by closed form, composed, and by measured rows."""
    measured = empirical_complexities(rows, models, N_CLASSES, n_draws=400, random_state=0).estimate

    def composed(n):
        return loss_complexities(loss, models.complexities(n, N_CLASSES))

    def empirical(n):
        shrink = np.sqrt(len(rows) / n)  # measured once, and taken to fall as 1/√n
        scaled = ModelComplexities(
            measured.thresholds * shrink, measured.functions * shrink, measured.squares * shrink
        )
        return loss_complexities(loss, scaled)

    c_psi = largest_loss(loss, N_CLASSES, models.score_bound)
    closed = partial(models.rademacher_bounds, loss, N_CLASSES)
    return {
        "closed form": BoundSetting(closed, PRIOR, c_psi, GAMMA),
        "composed": BoundSetting(composed, PRIOR, c_psi, GAMMA),
        "empirical": BoundSetting(empirical, PRIOR, c_psi, GAMMA),
    }


def bound_figure(settings, models, rows, folder):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.3), layout="constrained")
    sizes = np.logspace(1, 6, 60)
    bounds = [estimation_error_bound(settings["closed form"], COUNTS, n, MIDDLE) for n in sizes]
    parts = {
        "confidence": ([b.confidence for b in bounds], "#3b528b"),
        "labelled rows": ([b.labeled for b in bounds], "#21918c"),
        "unlabelled rows": ([b.unlabeled for b in bounds], "#fdae61"),
    }
    stacks = left.stackplot(
        sizes,
        [values for values, _ in parts.values()],
        labels=parts,
        colors=[color for _, color in parts.values()],
        alpha=0.85,
        linewidth=0,
    )
    left.set(xscale="log", xlim=(sizes[0], sizes[-1]), ylim=(0, None))
    left.set(xlabel="unlabelled rows $n_U$", ylabel="bound of the estimation error")
    left.set_title(f"Terms of the bound, $n_L$ = {N_LABELED}, γ = {GAMMA}")
    c_psi = settings["closed form"].loss_bound
    line = left.axhline(c_psi, color="black", linewidth=1.2, linestyle="--")
    left.legend(
        [*reversed(stacks), line],
        [*reversed(list(parts)), "$C_ψ$: no loss is larger"],
        frameon=True,
        framealpha=0.95,
        edgecolor="none",
    )
    rng = np.random.default_rng(0)
    counts = np.array([10, 20, 40, 80, len(rows)])
    found = [
        empirical_complexities(
            rng.permutation(rows)[:n], models, N_CLASSES, n_draws=400, random_state=1
        ).estimate.thresholds[MIDDLE]
        for n in counts
    ]
    sharp = [models.complexities(n, N_CLASSES).thresholds[MIDDLE] for n in counts]
    # The closed form for AT is K times what it takes the complexity of one score to be.
    loss = get_loss("at")
    closed = [models.rademacher_bounds(loss, N_CLASSES, n).by_label[0] / N_CLASSES for n in counts]
    right.loglog(counts, closed, "o-", color="#440154", label="closed form $(C_θ+C_w)\\,C_φ/√n$")
    right.loglog(counts, sharp, "s-", color="#31688e", label="sharper form $(C_θ+C_wC_φ)/√n$")
    right.loglog(counts, found, "D-", color="#35b779", label="empirical, by draws of the signs")
    right.set(xlabel="rows $n$", ylabel="Rademacher complexity of a score")
    right.set_xticks(counts, [str(n) for n in counts], minor=False)
    right.minorticks_off()
    ticks = [0.1, 0.2, 0.5, 1, 2, 5]
    right.set_yticks(ticks, [f"{t:g}" for t in ticks])
    right.set_title("Complexity of the score $α_3$")
    right.legend(frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    save(figure, folder / "theory-bound.png")
    return dict(zip(counts.tolist(), np.array(closed) / np.array(found), strict=True))


def random_model(name, X, seed):
    """A direction at random; thresholds between equal shares of rows, or one apart for LS."""
    coef = np.random.default_rng(seed).standard_normal(X.shape[1]) / np.sqrt(X.shape[1])
    shares = np.arange(1, N_CLASSES) / N_CLASSES
    thresholds = np.arange(1, N_CLASSES) - N_CLASSES / 2
    return coef, thresholds if name == "ls" else np.quantile(X @ coef, shares)


def variances(name, pilot, random, rows, codes):
    """Of the risk at a random and at the fitted model, and of the fitted parameters."""
    loss = get_loss(name)
    values = [loss.values(thresholds - (rows @ w)[:, None]) for w, thresholds in (random, pilot)]
    coef, thresholds = pilot
    weights = supervised_weights(np.bincount(codes).astype(float))
    hessian = risk_hessian(loss, weights, rows, codes, coef, thresholds, l2=L2)
    gradients = gradient_moments(loss, rows, codes, coef, thresholds, hessian)
    moments = [*(class_moments(table, codes) for table in values), gradients]
    return [risk_variance(m, COUNTS, N_UNLABELED, PRIOR) for m in moments]


def ratios_over_splits(name):
    """Variance over that of SV: (splits, three kinds, weights, removed classes)."""
    ratios = []
    for seed in range(N_SPLITS):
        X, y, rows, codes = halves(seed)
        triple = variances(name, fit_pilot(name, X, y), random_model(name, X, seed), rows, codes)
        ratios.append([v.semi(GAMMAS) / v.supervised for v in triple])
    return np.array(ratios)


def variance_figure(found, folder):
    figure, axes = plt.subplots(
        3, 3, figsize=(11, 9), sharex=True, sharey="row", layout="constrained"
    )
    colors = plt.get_cmap("viridis")(np.linspace(0, 0.92, N_CLASSES))
    for column, (name, ratios) in enumerate(found.items()):
        for ax, mean in zip(axes[:, column], ratios.mean(axis=0), strict=True):
            ax.axhline(1, color="0.4", linewidth=1, linestyle=":")
            for k, color in enumerate(colors):
                ax.plot(GAMMAS, mean[:, k], color=color, linewidth=1.8, label=f"k = {k + 1}")
                best = mean[:, k].argmin()
                if best > 0:
                    ax.plot(GAMMAS[best], mean[best, k], "o", color=color, ms=5, clip_on=False)
            ax.spines[["top", "right"]].set_visible(False)
            ax.set(xlim=(0, 1), ylim=(0.2, 2.0))
        axes[0, column].set_title(TITLES[name])
        axes[2, column].set_xlabel("weight of the unlabelled rows γ")
    axes[0, 0].set_ylabel("risk of a random model:\nvariance over that of SV")
    axes[1, 0].set_ylabel("risk of a fitted model:\nvariance over that of SV")
    axes[2, 0].set_ylabel("fitted parameters: $tr(H^{-1} V H^{-1})$\nover that of SV")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        title="removed class",
        loc="outside right center",
        frameon=False,
    )
    save(figure, folder / "theory-variance.png")


def save(figure, path):
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, dpi=130, format="png")
    temporary.replace(path)
    plt.close(figure)
    print(f"Picture: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parent.parent / "images"
    parser.add_argument("--folder", type=Path, default=default, help="where the pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    X, y, rows, codes = halves(seed=0)
    coef, thresholds = pilot = fit_pilot("at", X, y)
    loss, models = get_loss("at"), LinearClass.containing(coef, thresholds, rows)
    settings = complexity_settings(loss, models, rows)
    print(models)
    scores = thresholds - (rows @ coef)[:, None]
    print(
        f"C_psi: {measured_loss_bound(loss, scores):.2f} measured, "
        f"{settings['closed form'].loss_bound:.2f} over the class\n"
    )
    for name, setting in settings.items():
        print(name, estimation_error_bound(setting, COUNTS, N_UNLABELED, MIDDLE), sep=": ")
    closed = settings["closed form"]
    floor = estimation_error_bound(closed, COUNTS, np.inf, MIDDLE).total
    print(f"\nbound with unlimited unlabelled rows: {floor:.1f}")
    print(
        "n_U for a bound 5 % above it:", unlabeled_rows_needed(closed, 1.05 * floor, COUNTS, MIDDLE)
    )
    print("n_L for a bound of 1, n_U unlimited:", labeled_rows_needed(closed, 1.0, np.inf, MIDDLE))
    uneven = np.array([5, 12, 10, 8, 5])
    print("\n", compare_removed_classes(closed, uneven, N_UNLABELED), "\n", sep="")
    looseness = bound_figure(settings, models, rows, folder)
    print("closed form over empirical:", {n: round(float(r), 1) for n, r in looseness.items()})

    found = {name: ratios_over_splits(name) for name in TITLES}
    variance_figure(found, folder)
    print(f"\nleast mean ratio over {N_SPLITS} splits, by removed class (± standard error) at γ")
    for name, ratios in found.items():
        for what, kind in zip(
            ("random", "fitted", "parameters"), ratios.swapaxes(0, 1), strict=True
        ):
            mean, error = kind.mean(axis=0), kind.std(axis=0, ddof=1) / np.sqrt(N_SPLITS)
            best = mean.argmin(axis=0)
            cells = [
                f"{mean[b, k]:.3f} ± {error[b, k]:.3f} at {GAMMAS[b]:.2f}"
                for k, b in enumerate(best)
            ]
            half = f"γ = 0.5, middle: {mean[50, MIDDLE]:.2f} ± {error[50, MIDDLE]:.2f}"
            print(f"{name} {what:10s}", *cells, half, sep="   ")
    values = loss.values(scores)
    draws = resample_risks(values, codes, COUNTS, N_UNLABELED, PRIOR, n_draws=4000, random_state=0)
    plug_in = variances("at", pilot, random_model("at", X, 0), rows, codes)[1]
    again, error = draws.variance(), draws.standard_error()
    print(f"\nVar[SV]: plug-in {plug_in.supervised:.5f}, resampled {again.supervised:.5f}", end="")
    print(f" ± {error.supervised:.5f}")
    print("Var[LU]: plug-in", plug_in.lu.round(5), "resampled", again.lu.round(5))
    for name in TITLES:
        print(convexity(name, n_classes=5, removed=MIDDLE, unlabeled_weight=GAMMA).reason)


if __name__ == "__main__":
    main()
