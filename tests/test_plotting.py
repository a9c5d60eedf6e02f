"""Pictures show the numbers that they should, in class order, in colours that can be told apart."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy.integrate import trapezoid
from scipy.stats import binomtest
from sklearn.exceptions import NotFittedError

matplotlib.use("Agg")

from semiordinal import (
    KernelOrdinalClassifier,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    plotting,
)
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.plotting import (
    METHOD_COLORS,
    CalibrationDisplay,
    CoefficientsDisplay,
    ConfusionDisplay,
    CurveDisplay,
    PredictionSetsDisplay,
    RanksDisplay,
    SetCoverageDisplay,
    SharesDisplay,
    ThresholdsDisplay,
    VarianceRatioDisplay,
    class_colors,
    nemenyi_difference,
    plot_cd_diagram,
    plot_coefficients,
    plot_confusion,
    plot_thresholds,
    plot_unlabeled_curve,
    plot_variance_ratio,
)
from semiordinal.plotting._svg import page_svg
from semiordinal.theory import RiskVariance

DOCS = Path(__file__).parent.parent / "docs"
GRADES = ["poor", "fair", "good", "great"]  # not in alphabetical order

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
BLINDNESS = {
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def lab(color, blindness=None):
    """A colour as CIELAB, as one sees it with that kind of blindness."""
    srgb = np.array(to_rgb(color))
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    if blindness is not None:
        linear = np.clip(np.array(BLINDNESS[blindness]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ linear / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("blindness", [None, *BLINDNESS])
def test_colors_can_be_told_apart(blindness):
    """By about ten just noticeable differences for methods, and five for neighbouring classes."""
    methods = np.array([lab(color, blindness) for color in METHOD_COLORS[:6]])
    apart = np.linalg.norm(methods[:, None] - methods, axis=2)
    assert apart[~np.eye(6, dtype=bool)].min() > 10
    classes = np.array([lab(color, blindness) for color in class_colors(8)])
    assert np.linalg.norm(np.diff(classes, axis=0), axis=1).min() > 5


@pytest.mark.parametrize("n_classes", [2, 5, 16])
@pytest.mark.parametrize("blindness", [None, *BLINDNESS])
def test_class_colors_grow_lighter_in_class_order(n_classes, blindness):
    lightness = np.array([lab(color, blindness)[0] for color in class_colors(n_classes)])
    assert (np.diff(lightness) > 1).all()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def stages_model():
    X, truth = load_diabetes_stages()
    y = mask_labels(truth, 100, random_state=0)
    return LinearOrdinalClassifier().fit(X, y), X, y


def test_plot_thresholds_draws_every_class_in_order():
    model, X, y = stages_model()
    ax = plot_thresholds(model, X, y)
    assert legend(ax) == ["1", "2", "3", "4", "5", "unlabelled"]
    verticals = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(verticals, model.thresholds_)


def test_densities_have_the_area_of_the_classes_shares():
    model, X, y = stages_model()
    shown = ThresholdsDisplay.from_estimator(model, X, y)
    areas = trapezoid(shown.densities, shown.grid, axis=1)
    np.testing.assert_allclose(areas, np.bincount(y[~np.isnan(y)].astype(int))[1:] / 100, atol=0.02)
    assert trapezoid(shown.unlabeled, shown.grid) == pytest.approx(1, abs=0.05)
    latent = model.predict_latent(X[y == 3])
    np.testing.assert_allclose(shown.tables()[0].rows[2][4], np.median(latent))


def test_a_class_with_one_row_has_a_point_in_place_of_a_density():
    shown = ThresholdsDisplay.from_predictions([0.0, 1.0, 2.0, 3.0], [0, 0, 1, -1], [1.5], "abc")
    assert np.isnan(shown.densities[1]).all()
    ax = shown.plot()
    assert legend(ax) == ["a", "b"]  # of c there is no row
    points = [line for line in ax.lines if line.get_label() == "b"]
    assert [tuple(line.get_xydata()[0]) for line in points] == [(2.0, 0.0)]
    assert [point.text for point in shown.points()][-1] == "class b: 1 row, at 2"


def test_thresholds_stand_inside_the_picture_unless_they_are_far_off():
    scores, codes = np.linspace(0, 1, 50), np.repeat([0, 1], 25)
    ax = ThresholdsDisplay.from_predictions(scores, codes, [-0.5, 1.5, 80.0], "abcd").plot()
    low, high = ax.get_xlim()
    assert low < -0.5
    assert 1.5 < high < 3
    names = [text.get_text() for text in ax.texts]
    assert names == [r"$\theta_{1}$", r"$\theta_{2}$"]


def test_confusion_counts_in_class_order():
    truth = ["good", "poor", "great", "good", None]
    predicted = ["good", "fair", "good", "poor", "fair"]
    shown = ConfusionDisplay.from_predictions(truth, predicted, GRADES)
    expected = np.zeros((4, 4))
    for label, guess in zip(truth[:4], predicted[:4], strict=True):
        expected[GRADES.index(label), GRADES.index(guess)] += 1
    np.testing.assert_array_equal(shown.counts, expected)
    ax = plot_confusion(truth, predicted, GRADES)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == GRADES
    assert [tick.get_text() for tick in ax.get_yticklabels()] == GRADES
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the lowest class is at the top
    cells = {t.get_position(): t.get_text() for t in ax.texts}
    assert cells == {(2, 2): "1", (1, 0): "1", (2, 3): "1", (0, 2): "1"}


def test_confusion_of_an_estimator_passes_over_unlabelled_rows():
    model, X, y = stages_model()
    shown = ConfusionDisplay.from_estimator(model, X, y)
    assert shown.counts.sum() == 100
    predicted = model.predict(X)
    assert shown.counts[1, 2] == ((y == 2) & (predicted == 3)).sum()


def test_calibration_compares_with_what_happened():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=20_000)
    cumulative = 1 / (1 + np.exp(-np.subtract.outer([-1.0, 1.0], latent).T))
    codes = (rng.random((20_000, 1)) > cumulative).sum(axis=1)
    honest = CalibrationDisplay.from_predictions(cumulative, codes, GRADES[:3])
    assert honest.errors.max() < 0.02
    assert honest.counts.sum() == 20_000
    sure = CalibrationDisplay.from_predictions(cumulative.round(), codes, GRADES[:3])
    assert sure.errors.min() > 0.1
    assert legend(honest.plot()) == ["≤ poor", "≤ fair"]


def test_coefficients_come_by_size_with_their_intervals():
    shown = CoefficientsDisplay.from_values("abc", [0.1, -2.0, 1.0], [[0, 1], [-3, -1], [0, 2]])
    assert shown.names == ["b", "c", "a"]
    assert shown.tables()[0].rows[0] == ["b", -2.0, -3.0, -1.0]
    ax = shown.plot()
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), [-2.0, 1.0, 0.1])
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the largest is at the top


def test_coefficients_of_data_frames_have_the_columns_names():
    pd = pytest.importorskip("pandas")
    model, X, y = stages_model()
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)])
    ax = plot_coefficients(LinearOrdinalClassifier().fit(frame, y))
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == [f"c{i}" for i in np.argsort(-np.abs(model.coef_))]


def test_coefficients_refuse_what_has_none():
    _, X, y = stages_model()
    with pytest.raises(ValueError, match=r"no coefficient for each feature.*Linear"):
        plot_coefficients(KernelOrdinalClassifier().fit(X, y))
    with pytest.raises(ValueError, match="as many names"):
        CoefficientsDisplay.from_values(["a"], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"names.*10 coefficients.*there are 2"):
        plot_coefficients(LinearOrdinalClassifier().fit(X, y), names=["a", "b"])
    with pytest.raises(NotFittedError):
        plot_coefficients(LinearOrdinalClassifier())


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="3 labels and 2 predictions"):
        plot_confusion([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="displays is empty"):
        plotting.plot_panels({})
    with pytest.raises(ValueError, match="n_columns=0"):
        plotting.plot_panels({"a": SharesDisplay(["1"], {"all": np.ones(1)})}, n_columns=0)
    with pytest.raises(ValueError, match="shares is empty"):
        plotting.plot_shares(["low", "high"], {})
    with pytest.raises(ValueError, match="n_bins=0"):
        CalibrationDisplay.from_predictions([[0.5], [0.5]], [0, 1], ["low", "high"], n_bins=0)


def test_many_groups_stay_beside_their_class_and_look_different():
    ax = plotting.plot_shares(["low", "high"], {str(i): [0.5, 0.5] for i in range(9)})
    at = np.array([line.get_xdata() for line in ax.lines])
    assert at.shape == (9, 2)
    assert at[:, 0].max() < 0.5 < at[:, 1].min()
    looks = {(line.get_color(), line.get_marker()) for line in ax.lines}
    assert len(looks) == 9


@pytest.mark.parametrize("n_classes", [2, 4, 10])
def test_long_names_are_neither_cut_by_the_edge_nor_alike(n_classes):
    names = [
        f"impairment of the patient's gait, grade {i} of {n_classes}" for i in range(n_classes)
    ]
    shares = np.full(n_classes, 1 / n_classes)
    variance = RiskVariance(2.0, lu=np.ones(n_classes), covariance=np.zeros(n_classes))
    rng = np.random.default_rng(0)
    codes = np.arange(60) % n_classes
    scores, thresholds = rng.normal(size=60), np.arange(n_classes - 1)
    displays = [
        SharesDisplay.from_values(names, {"labels": shares, "a long name of " * 5: shares}),
        ConfusionDisplay(names, np.eye(n_classes)),
        VarianceRatioDisplay.from_variance(variance, names),
        CoefficientsDisplay.from_values(
            [f"{i}: {names[0]}" for i in range(n_classes)],
            shares,
            unit="one standard deviation more",
        ),
        ThresholdsDisplay.from_predictions(scores, codes, thresholds, names),
    ]
    pictures = [display.plot() for display in displays]
    for_pages = [
        display.plot(Figure(figsize=(6.0, 3.8), layout="constrained").subplots())
        for display in displays
    ]
    for ax in pictures + for_pages:
        ax.figure.draw_without_rendering()
        drawn, figure = ax.get_tightbbox(), ax.figure.bbox
        assert figure.x0 <= drawn.x0 < drawn.x1 <= figure.x1
        assert figure.y0 <= drawn.y0 < drawn.y1 <= figure.y1
    for ax in pictures[:2]:
        ticks = ax.get_xticklabels()
        assert len({tick.get_text() for tick in ticks}) == n_classes
        across = sorted((tick.get_window_extent() for tick in ticks), key=lambda box: box.x0)
        assert all(a.x1 <= b.x0 for a, b in pairwise(across))


def test_numbers_of_rows_along_an_axis_do_not_overlap():
    ax = plot_unlabeled_curve([1000, 1100, 1110, 2000, 123_456], {"SEMI": np.ones(5)})
    ax.figure.canvas.draw()
    across = [tick.get_window_extent() for tick in ax.get_xticklabels()]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1000", "2000", "123456"]
    assert all(a.x1 < b.x0 for a, b in pairwise(across))


def test_panels_have_one_legend_that_fits():
    names = [f"a class whose name is long, {i}" for i in range(8)]
    variance = RiskVariance(2.0, lu=np.arange(1.0, 9.0), covariance=np.zeros(8))
    shown = VarianceRatioDisplay.from_variance(variance, names)
    figure = plotting.plot_panels({"a $ b $": shown, "two": shown})
    figure.canvas.draw()
    (only,) = figure.legends
    assert only.get_title().get_text() == "removed class"
    box = only.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert all(ax.get_legend() is None for ax in figure.axes)
    assert min(ax.get_window_extent().y0 for ax in figure.axes) > box.y1


def test_weights_say_what_rows_count():
    """Weights of 2 are rows that are there twice."""
    codes, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    weights = np.array([1, 2, 1, 1])
    shown = ConfusionDisplay.from_codes(codes, predicted, ["low", "high"], weights)
    twice = np.repeat(np.arange(4), weights)
    again = ConfusionDisplay.from_codes(codes[twice], predicted[twice], ["low", "high"])
    np.testing.assert_array_equal(shown.counts, again.counts)
    cumulative = np.array([[0.9], [0.6], [0.3], [0.2]])
    held = CalibrationDisplay.from_predictions(cumulative, codes, ["low", "high"], 1, weights)
    assert held.predicted[0, 0] == pytest.approx((0.9 + 1.2 + 0.3 + 0.2) / 5)
    assert held.observed[0, 0] == pytest.approx(3 / 5)


def test_variance_ratio_is_that_of_the_formula():
    variance = RiskVariance(2.0, lu=np.array([4.0, 1.0]), covariance=np.array([1.0, 0.0]))
    ax = plot_variance_ratio(variance, ["low", "high"])
    assert legend(ax) == ["low", "high"]
    gamma, ratio = ax.lines[1].get_data()
    np.testing.assert_allclose(
        ratio, (4 * gamma**2 + 2 * (1 - gamma) ** 2 + 2 * gamma * (1 - gamma)) / 2
    )
    shown = VarianceRatioDisplay.from_variance(variance)
    assert [point.text.split(": ")[1] for point in shown.points()] == [
        "least ratio 0.875, at γ = 0.25",
        "least ratio 0.333, at γ = 0.67",
    ]


def test_variance_ratio_without_unlabelled_rows_draws_what_is_finite():
    variance = RiskVariance(2.0, lu=np.array([np.inf, 1.0]), covariance=np.array([1.0, 0.0]))
    with np.errstate(invalid="raise"):
        ax = plot_variance_ratio(variance)
    assert np.isfinite(ax.get_ylim()).all()


def test_unlabeled_curve_shows_means_and_standard_errors():
    values = np.random.default_rng(0).normal(1, 0.1, size=(9, 3))
    ax = plot_unlabeled_curve([10, 100, 1000], {"SEMI": values, "other": values[0]})
    assert legend(ax) == ["SEMI", "other"]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), values.mean(axis=0))
    shown = CurveDisplay.from_values([10, 100, 1000], {"SEMI": values}, "rows", "error")
    expected = values.std(axis=0, ddof=1) / 3
    np.testing.assert_allclose([row[2] for row in shown.tables()[0].rows], expected)
    with pytest.raises(ValueError, match="one for each of the 2 sizes"):
        plot_unlabeled_curve([10, 100], {"SEMI": [1.0, 1.0, 1.0]})


# Demšar (2006), table 5a: q_α / √2 for two to ten methods.
@pytest.mark.parametrize(
    ("n_methods", "at_5", "at_10"),
    [(2, 1.960, 1.645), (3, 2.343, 2.052), (5, 2.728, 2.459), (10, 3.164, 2.920)],
)
def test_critical_difference_is_that_of_the_printed_table(n_methods, at_5, at_10):
    factor = np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert nemenyi_difference(n_methods, 14) == pytest.approx(at_5 * factor, rel=1e-3)
    assert nemenyi_difference(n_methods, 14, alpha=0.1) == pytest.approx(at_10 * factor, rel=1e-3)


def test_bars_join_exactly_the_methods_that_do_not_differ():
    rng = np.random.default_rng(0)
    for _ in range(50):
        ranks = rng.uniform(1, 7, size=7)
        shown = RanksDisplay.from_ranks(dict(enumerate(ranks)), 10, critical_difference=1.5)
        ascending = np.sort(ranks)
        joined = {(i, j) for a, b in shown.groups for i in range(a, b + 1) for j in range(i, b + 1)}
        for i in range(7):
            for j in range(i + 1, 7):
                assert ((i, j) in joined) == (ascending[j] - ascending[i] < 1.5)
        assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(shown.groups))


def test_cd_diagram_names_methods_from_the_best():
    pd = pytest.importorskip("pandas")
    ax = plot_cd_diagram(pd.Series({"worst": 3.0, "best": 1.1, "middle": 1.9}), n_problems=30)
    names = [
        t.get_text() for t in ax.texts if "." in t.get_text() and "Nemenyi" not in t.get_text()
    ]
    assert names == ["best (1.10)", "middle (1.90)", "(3.00) worst"]
    with pytest.raises(ValueError, match="no mean rank of 2 methods"):
        plot_cd_diagram({"a": 0.5, "b": 1.5}, 10)
    with pytest.raises(ValueError, match="two methods or more"):
        plot_cd_diagram({"a": 1.0}, 10)
    with pytest.raises(ValueError, match="alpha=2"):
        plot_cd_diagram({"a": 1.0, "b": 2.0}, 10, alpha=2)


def test_every_function_draws_on_the_axes_given():
    model, X, y = stages_model()
    tuned = LinearOrdinalClassifierCV(l2s=[0.01], random_state=0).fit(X, y)
    variance = RiskVariance(2.0, lu=np.array([4.0, 1.0]), covariance=np.array([1.0, 0.0]))
    arguments = {
        "plot_thresholds": (model, X, y),
        "plot_calibration": (model, X, y),
        "plot_confusion": (y, model.predict(X)),
        "plot_coefficients": (model,),
        "plot_shares": (GRADES, {"labels": [0.25] * 4}),
        "plot_variance_ratio": (variance,),
        "plot_unlabeled_curve": ([1, 2], {"SEMI": [1.0, 1.0]}),
        "plot_cd_diagram": ({"a": 1.0, "b": 2.0}, 5),
        "plot_prediction_sets": (tuned, X, y),
        "plot_set_coverage": (tuned, X, y),
    }
    functions = {name for name in plotting.__all__ if name.startswith("plot_")}
    assert functions == {*arguments, "plot_panels"}  # which makes a figure of several axes
    for name, given in arguments.items():
        ax = Figure().subplots()
        assert getattr(plotting, name)(*given, ax=ax) is ax
        assert ax.lines or ax.patches


def test_shares_are_drawn_in_class_order_beside_each_other():
    given = {"labels": [0.1, 0.2, 0.3, 0.4], "predicted": [0.4, 0.3, 0.2, 0.1]}
    ax = plotting.plot_shares(GRADES, given, {"predicted": [[0.3, 0.2, 0.1, 0.0], [0.5] * 4]})
    assert legend(ax) == ["labels", "predicted"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == GRADES
    for line, (name, shares) in zip(ax.lines, given.items(), strict=True):
        assert line.get_label() == name
        np.testing.assert_array_equal(line.get_ydata(), shares)
        np.testing.assert_array_equal(np.round(line.get_xdata()), range(4))
    shown = SharesDisplay(GRADES, {"labels": np.full(4, 0.25)})
    assert [row[0] for row in shown.tables()[0].rows] == GRADES
    with pytest.raises(ValueError, match="one for each of the 4 classes"):
        plotting.plot_shares(GRADES, {"labels": [1.0]})


def test_names_in_pictures_for_pages_stay_as_they_are():
    """Even those that look like parts of the picture; but marks that turn text are shown."""
    names = ['id="x"', "url(#x)", 'style="#471365"', 'href="#x"', "a\u202eb"]
    shown = SharesDisplay(names, {"one": np.full(5, 0.2)})
    svg = page_svg(shown, "mine", "a\u202eb", 5, (5, 3))
    root = ElementTree.fromstring(svg)
    # Long names are cut into lines.
    seen = "".join(text.text or "" for text in root.iter() if text.tag.endswith(("text", "tspan")))
    expected = [*names[:4], r"a\u202eb"]
    assert all(name in seen for name in expected)
    titles = [title.text for title in root.iter("title")]
    assert titles == [f"class {name}, one: 20.0%" for name in expected]
    assert "\u202e" not in svg


def test_pictures_for_pages_take_the_pages_colours():
    shown = SharesDisplay(["a<b", "$c$"], {"one": np.full(2, 0.5), "two": np.full(2, 0.5)})
    svg = page_svg(shown, "mine", 'said "so"', 2, (5, 3))
    root = ElementTree.fromstring(svg)  # it is well-formed
    assert root.get("aria-label") == 'said "so"'
    titles = [t.text for t in root.iter("title")]
    assert titles == [f"class {c}, {g}: 50.0%" for g in ("one", "two") for c in ("a<b", "$c$")]
    assert "var(--method-0)" in svg
    assert "currentColor" in svg
    assert not set(re.findall(r"#[0-9a-fA-F]{6}\b", svg)) & {c.lower() for c in METHOD_COLORS}
    assert all(name.startswith("mine-") for name in re.findall(r'id="([^"]+)"', svg))
    assert svg == page_svg(shown, "mine", 'said "so"', 2, (5, 3))
    # Where one points is where the marker is.
    hit = next(root.iter("circle"))
    marks = [
        u.attrib
        for u in root.iter()
        if u.tag.endswith("use") and "var(--method-0)" in u.get("style", "")
    ]
    assert float(hit.get("cx")) == pytest.approx(float(marks[0]["x"]), abs=0.1)
    assert float(hit.get("cy")) == pytest.approx(float(marks[0]["y"]), abs=0.1)


def test_names_with_dollar_signs_are_no_formulas():
    ax = plot_coefficients(stages_model()[0], ["$_{$" for _ in range(10)])
    ax.figure.canvas.draw()


@pytest.mark.slow
def test_every_function_has_a_picture_on_the_page_made_by_the_example(tmp_path):
    command = [sys.executable, str(DOCS / "examples" / "plots.py"), "--folder", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    page = (DOCS / "plots.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"images/(plot-[\w-]+\.png)", page))
    assert {path.name for path in tmp_path.iterdir()} == shown
    for name in plotting.__all__:
        if name.startswith("plot_"):
            assert f"`{name}(" in page
            assert f"{name.replace('_', '-')}.png" in shown
    for name in shown:
        made = matplotlib.image.imread(tmp_path / name)
        assert made.shape == matplotlib.image.imread(DOCS / "images" / name).shape


def test_set_coverage_by_class_with_intervals():
    """The intervals hold the coverages that a binomial test at 5 % does not refuse."""
    rng = np.random.default_rng(0)
    codes = rng.choice([0, 1, 3], 200)
    ends = np.sort(rng.integers(0, 4, size=(200, 2)), axis=1)
    shown = SetCoverageDisplay.from_predictions(ends, np.r_[codes[:150], [-1] * 50], GRADES)
    assert shown.names == ["all", *(GRADES[code] for code in (0, 1, 3))]
    held = [low <= code <= high for (low, high), code in zip(ends[:150], codes[:150], strict=True)]
    assert shown.shares[0] == pytest.approx(np.mean(held))
    assert shown.counts[2] == (codes[:150] == 1).sum()
    for hits, count, (low, high) in zip(
        np.rint(shown.shares * shown.counts).astype(int),
        shown.counts,
        shown.intervals.T,
        strict=True,
    ):
        expected = binomtest(hits, count).proportion_ci(0.95, method="exact")
        assert (low, high) == pytest.approx((expected.low, expected.high))
    with pytest.raises(ValueError, match="no row has a label"):
        SetCoverageDisplay.from_predictions(ends, np.full(200, -1), GRADES)


def test_sets_are_drawn_along_the_score():
    _, X, y = stages_model()
    tuned = LinearOrdinalClassifierCV(l2s=[0.01], random_state=0).fit(X, y)
    shown = PredictionSetsDisplay.from_estimator(tuned, X, y, coverage=0.7)
    assert (np.diff(shown.scores) >= 0).all()
    sets = tuned.predict_set(X, 0.7)
    known = ~np.isnan(np.asarray(y, dtype=float))
    held = (sets[known, 0] <= y[known]) & (sets[known, 1] >= y[known])
    assert shown.is_covered.sum() == held.sum()
    (table,) = shown.tables()
    assert sum(row[1] for row in table.rows) == len(X)
    ax = shown.plot()
    missed = [line for line in ax.lines if line.get_label() == "true class, missed"]
    assert len(missed) == (not held.all())
    without = PredictionSetsDisplay.from_estimator(tuned, X, coverage=0.7)
    assert legend(without.plot()) == ["set"]
