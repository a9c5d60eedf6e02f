"""One model through every command: the same errors everywhere, in words that are true."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from cli_problems import ORDER, SEVERITIES, done, patients, refused, with_few_labels
from semiordinal import LinearOrdinalClassifierCV
from semiordinal._judge import wording
from semiordinal._judge.assessment import FLOOR, Assessment
from semiordinal._judge.held_out import HeldOutPredictions
from semiordinal.model_files import read

SENTENCES = ("On labelled rows that were held out", "Of 100 rows like these", "compared with")
MODELS = {"linear": ("--model", "linear"), "trees": ("--model", "trees")}


pytestmark = pytest.mark.usefixtures("few_folds_throughout")


@pytest.fixture(scope="module", params=MODELS)
def fitted(request, tmp_path_factory):
    """A table, a model of it, and what fit said in words and in JSON."""
    folder = tmp_path_factory.mktemp(request.param)
    with_few_labels(patients(300)).to_csv(folder / "few.csv", index=False)
    model = folder / "few.semiordinal"
    asked = ("fit", folder / "few.csv", "--target", "severity", "--order", ORDER, "--out", model)
    asked += MODELS[request.param]
    told = done(*asked).out
    return folder, request.param, told, done(*asked, "--force", "--json").json


def lines(told):
    return [line for line in told.splitlines() if line.startswith(SENTENCES)]


def test_every_command_prints_the_errors_of_fit(fitted, tmp_path):
    pytest.importorskip("jinja2")
    folder, name, told, found = fitted
    model, table = folder / "few.semiordinal", folder / "few.csv"
    expected = lines(told)
    assert len(expected) >= 2
    page = ("--out", tmp_path / "p.html", "--force")
    options = ("--target", "severity", "--order", ORDER, *MODELS[name])
    assert lines(done("diagnose", model).out) == expected
    assert lines(done("report", model, *page).out) == expected
    assert lines(done("report", model, table, *page).out) == expected
    html = (tmp_path / "p.html").read_text(encoding="utf-8")
    for line in expected[:2]:
        assert line in html
    again = done("report", table, *options, *page, "--json").json
    assert again["cross_validation"] == found["cross_validation"]
    assert done("diagnose", model, "--json").json["cross_validation"] == found["cross_validation"]


def test_the_figures_are_those_of_the_predictions(fitted):
    """By a loop over the held-out rows that the model file keeps."""
    folder, name, told, found = fitted
    file = read(folder / "few.semiordinal")
    if name == "linear":
        stored = file.manifest["held_out"]
        codes, by_name = stored["codes"], stored["predicted"]
    else:
        codes, by_name = file.model[-1].held_out_codes_, file.model[-1].held_out_classes_
    own = next(iter(by_name))
    off = [abs(a - b) for a, b in zip(codes, by_name[own], strict=True)]
    n = len(off)
    mean = sum(off) / n
    spread = np.sqrt(sum((x - mean) ** 2 for x in off) / (n - 1) / n)
    figures = found["cross_validation"]
    assert figures["scores"][own]["MAE"] == pytest.approx(mean)
    assert figures["standard_errors"][own]["MAE"] == pytest.approx(spread)
    assert f"the model is {mean:.3f} ± {spread:.3f} classes off" in told
    for code, recall in enumerate(figures["recall"]):
        of_class = [x for x, c in zip(off, codes, strict=True) if c == code]
        assert recall["n_rows"] == len(of_class)
        assert recall["n_found"] == of_class.count(0)
    against = by_name[figures["change"]["against"]]
    change = np.mean([x - abs(a - b) for x, a, b in zip(off, codes, against, strict=True)])
    assert figures["change"]["held_out"]["mean"] == pytest.approx(change)


def test_no_word_of_the_paper_without_details(fitted):
    folder, name, told, _ = fitted
    assert told.count("compared with") == 1
    for word in ("SV", "SEMI", "l2", "removed", "risk", "times what", "criterion"):
        assert not re.search(rf"\b{word}\b", told.split("Model file")[0]), word
    asked = ("fit", folder / "few.csv", "--target", "severity", "--order", ORDER, *MODELS[name])
    details = done(*asked, "--out", folder / "d.semiordinal", "--force", "--details").out
    assert "Settings: loss=at" in details
    assert "QWK" in details


def assessment(codes, predicted, floor, **others):
    by_name = {"auto": predicted, **others, FLOOR: floor}
    held_out = {
        name: HeldOutPredictions(np.array(codes), np.array(each)) for name, each in by_name.items()
    }
    return Assessment(["low", "mid", "high"], "absolute", held_out, np.arange(len(codes)))


@pytest.mark.parametrize("n_rows", [10, 51, 400])
def test_no_mistake_on_held_out_rows_is_no_promise(n_rows):
    """With so many mistakes in the long run, no mistake in these rows is a chance of 5 %."""
    codes = np.arange(n_rows) % 3
    perfect = assessment(codes, codes, np.ones(n_rows, dtype=int))
    assert "held out, the model made no mistake. Always" in wording.error_sentence(perfect)
    told = wording.distance_sentence(perfect)
    found = re.fullmatch(
        r"Of 100 rows like these, up to (\d+) may be wrong \(95 % limit\): of (\d+) held-out ones "
        r"none was\.",
        told,
    )
    assert found
    assert int(found[2]) == n_rows
    limit = int(found[1]) / 100
    assert binom.cdf(0, n_rows, limit) <= 0.05 < binom.cdf(0, n_rows, limit - 0.01)


def test_the_limit_holds_whichever_class_the_wrong_rows_are_of():
    """By a search over all ways to be wrong in two classes, of which one has few rows."""
    counts, shares = np.array([5, 45]), np.array([0.6, 0.4])
    codes = np.repeat([0, 1], counts)
    row = (shares / counts)[codes]
    held_out = {
        name: HeldOutPredictions(codes, predicted, weights=row)
        for name, predicted in {"auto": codes, FLOOR: np.zeros(50, dtype=int)}.items()
    }
    perfect = Assessment(["low", "high"], "absolute", held_out, np.arange(50))
    limit = int(re.search(r"up to (\d+)", wording.distance_sentence(perfect))[1]) / 100
    rates = np.stack(np.meshgrid(*[np.linspace(0, 0.999, 500)] * 2), axis=-1)
    is_likely = np.prod((1 - rates) ** counts, axis=-1) >= 0.05
    worst = (rates @ shares)[is_likely].max()
    assert limit - 0.05 < worst <= limit


def test_sentences_tell_what_happened():
    codes = [0, 0, 1, 1, 2, 2, 2, 2, 2, 2]
    good = assessment(codes, [0, 1, 1, 1, 2, 2, 2, 2, 2, 0], [1] * 10, linear=[1] * 10)
    assert "the model is 0.300 ±" in wording.error_sentence(good)
    assert "the median class (mid) would give 0.800" in wording.error_sentence(good)
    assert wording.distance_sentence(good) == (
        "Of 100 rows like these, 80 are exactly right, 10 one class off and 10 further off."
    )
    assert "lowers the average error by 0.500" in wording.change_sentence(good)
    assert wording.recall_sentence(good) == ""
    blind = assessment(codes, [1] * 10, [1] * 10)
    assert "nothing shows that the columns say anything" in wording.error_sentence(blind)
    assert wording.recall_sentence(blind) == "It hardly finds rows of: low (0 of 2), high (0 of 6)."
    worse = assessment(codes * 9, [0] * 90, [1] * 90, without_shares=[1] * 90)
    assert "The class shares raise the average error by 0.600" in wording.change_sentence(worse)
    assert "chance" not in wording.change_sentence(worse)
    close = assessment(codes, [1] * 9 + [2], [1] * 10, linear=[1] * 10)
    unclear = wording.change_sentence(close)
    assert "seems to lower the average error" in unclear
    assert "too little to tell from chance" in unclear


def test_order_shows_what_errors_do_not():
    """Most rows are of one class, which is predicted for all; yet the others have higher scores."""
    codes, floor = np.repeat([0, 1, 2], [40, 6, 4]), np.zeros(50, dtype=int)
    above = np.linspace(0.1, 0.4, 50)  # P(y > 0), and half as much of y > 1
    cumulative = 1 - np.column_stack([above, above / 2])
    for scores, share in ((cumulative, "100 %"), (cumulative[::-1], None)):
        own = HeldOutPredictions(codes, floor, scores)
        by_name = {"auto": own, FLOOR: HeldOutPredictions(codes, floor)}
        told = wording.error_sentence(
            Assessment(["low", "mid", "high"], "absolute", by_name, np.arange(50))
        )
        assert ("nothing shows that the columns" in told) == (share is None)
        assert share is None or f"above the other in {share} of cases" in told


@pytest.mark.parametrize("n_labeled", [20, 60])
def test_columns_that_say_nothing_are_rarely_said_to(n_labeled):
    """And those that do, mostly are, with 60 labels."""
    n_said = {0.0: 0, 1.5: 0}
    for seed, effect in itertools.product(range(20), n_said):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_labeled, 4))
        y = np.digitize(effect * X[:, 0] + rng.logistic(size=n_labeled), [-1.2, -0.3, 0.5, 1.4])
        model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
        told = wording.error_sentence(Assessment.from_estimator(model))
        n_said[effect] += "nothing shows" not in told
    assert n_said[0.0] <= 4  # of 20; one is to be expected, more than four in 3 of 1,000 cases
    assert n_said[1.5] >= (16 if n_labeled == 60 else 4)


def test_tasks_by_their_names(tmp_path):
    with_few_labels(patients(100), share=0.5).to_csv(tmp_path / "few.csv", index=False)
    asked = ("fit", tmp_path / "few.csv", "--target", "severity", "--order", ORDER)
    asked += ("--model", "linear", "--out", tmp_path / "m", "--force")
    found = done(*asked, "--task", "accuracy", "--json").json
    assert found["settings"]["loss"] == "it"
    assert found["cross_validation"]["change"]["metric"] == "MZE"
    assert "the model is wrong for" in done(*asked, "--task", "accuracy").out
    # Classes without probabilities cannot be cut again.
    done(*asked, "--task", "accuracy", "--no-tune")
    cut = ("predict", tmp_path / "m", tmp_path / "few.csv", "--out", tmp_path / "o.csv")
    assert "--task: loss='it'" in refused(2, *cut, "--task", "mae")
    assert "--task best is not known" in refused(2, *cut, "--task", "best")


def test_the_same_model_is_cut_for_another_task(fitted, tmp_path):
    folder, *_ = fitted
    rows = patients(200, seed=7)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    model = read(folder / "few.semiordinal").model
    probabilities = model.predict_proba(pd.read_csv(tmp_path / "rows.csv", dtype=str))
    out = tmp_path / "o.csv"
    asked = ("predict", folder / "few.semiordinal", tmp_path / "rows.csv", "--out", out, "--force")
    done(*asked, "--task", "accuracy", "--coverage", "0.8")
    found = pd.read_csv(out)
    places = found[["lowest", "prediction", "highest"]].map(SEVERITIES.index).to_numpy()
    assert (np.diff(places, axis=1) >= 0).all()
    losses = {
        "accuracy": lambda a, b: float(a != b),
        "mae": lambda a, b: abs(a - b),
        "mse": lambda a, b: (a - b) ** 2,
    }
    for task, loss in losses.items():
        done(*asked, "--task", task)
        predicted = [SEVERITIES.index(label) for label in pd.read_csv(out)["prediction"]]
        for row, code in zip(probabilities, predicted, strict=True):
            expected = [sum(p * loss(a, b) for b, p in enumerate(row)) for a in range(3)]
            assert expected[code] == pytest.approx(min(expected), abs=1e-9)


def test_options_of_a_fit_are_refused_for_a_fitted_model(fitted, tmp_path):
    folder, *_ = fitted
    model, table = folder / "few.semiordinal", folder / "few.csv"
    page = ("--out", tmp_path / "p.html")
    assert "--class-prior is for a table to fit" in refused(
        2, "diagnose", model, "--class-prior", "uniform"
    )
    assert "--model is for a table to fit" in refused(2, "report", model, *page, "--model", "auto")
    assert "is no model file" in refused(2, "report", table, table, *page)
    assert "--target COLUMN" in refused(2, "diagnose", table)


def test_unlabelled_rows_are_judged_for_the_very_model(fitted):
    folder, name, _, found = fitted
    told = done("diagnose", folder / "few.semiordinal", "--json").json
    if name == "trees":
        assert told["verdict"]["answer"] == "not used"
        assert "--class-prior" in told["verdict"]["sentence"]
        return
    gain = told["gain"]
    assert gain["mean"] == pytest.approx(-found["cross_validation"]["change"]["mean"])
    assert gain["semi"] == pytest.approx(found["cross_validation"]["scores"]["tuned"]["MAE"])
    assert told["unlabeled_differ"] == []


def test_a_manifest_that_does_not_fit_is_refused(fitted, tmp_path):
    from semiordinal.model_files import save

    folder, name, *_ = fitted
    if name != "linear":
        pytest.skip("averages keep their own predictions")
    file = read(folder / "few.semiordinal")
    for change in ({"codes": [0]}, {"codes": [7] * 9}, {"predicted": {}}, {"task": "other"}):
        bad = {**file.manifest, "held_out": {**file.manifest["held_out"], **change}}
        save(file.model, tmp_path / "bad.semiordinal", True, bad)
        told = refused(1, "diagnose", tmp_path / "bad.semiordinal")
        assert "does not fit its model" in told
