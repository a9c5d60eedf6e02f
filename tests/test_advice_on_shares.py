"""What commands say of class shares, on tables whose true shares and errors are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cli_problems import done, refused, semiordinal
from semiordinal import LinearOrdinalClassifierCV
from semiordinal._decide import weigh_shares

SHARES = np.array([0.5, 0.3, 0.15, 0.05])
RIGHT = ("--class-prior", "50%,30%,15%,5%")
WRONG = ("--class-prior", "5%,15%,30%,50%")


def rows(codes, rng):
    return 1.1 * codes[:, None] + rng.normal(size=(len(codes), 2))


def table(seed, n_each=25, n_unlabeled=1500):
    """As many labels of each class, and rows of other shares."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.repeat(np.arange(4), n_each), rng.choice(4, n_unlabeled, p=SHARES)]
    frame = pd.DataFrame(rows(codes, rng), columns=["a", "b"]).round(4)
    is_labeled = np.arange(len(codes)) < 4 * n_each
    return frame.assign(y=pd.array(np.where(is_labeled, codes + 1, None), dtype="Int64"))


@pytest.fixture
def path(tmp_path):
    table(0).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def diagnosed(path, *more):
    return done("diagnose", path, "--target", "y", "--model", "linear", *more, "--json").json


def test_right_shares_that_help_are_not_advised_against(tmp_path):
    """On fresh rows they lower the error in all of these tables."""
    for seed in range(3):
        frame = table(seed)
        frame.to_csv(tmp_path / "t.csv", index=False)
        said = diagnosed(tmp_path / "t.csv", *RIGHT)["verdict"]["sentence"]
        assert "labelled rows alone" not in said
        assert "If you are sure of them, keep them" in said or said.startswith("Use the class")
        rng = np.random.default_rng(100 + seed)
        truth = rng.choice(4, 4000, p=SHARES)
        X_test, y = rows(truth, rng), frame["y"].astype(float)
        errors = [
            np.abs(
                LinearOrdinalClassifierCV(class_prior=prior, random_state=0)
                .fit(frame[["a", "b"]].to_numpy(), y)
                .predict(X_test)
                - 1
                - truth
            ).mean()
            for prior in (SHARES, "labels")
        ]
        assert errors[0] < 0.97 * errors[1]


def test_shares_that_are_set_aside_are_not_advised_to_be_kept(path):
    said = diagnosed(path, *WRONG)["verdict"]["sentence"]
    assert "used in place of those given" in said
    assert "keep them" not in said


def test_without_shares_the_advice_is_to_give_them(path):
    found = diagnosed(path)
    assert "--class-prior): that is where unlabelled rows help" in found["verdict"]["sentence"]
    assert "errors are those of rows with the labels' shares" in found["class_shares"]["reason"]


def test_the_verdict_names_no_error_that_other_lines_contradict(path):
    """Held-out errors of the model are said once; the gain is not their difference alone."""
    found = diagnosed(path, *RIGHT)
    own = found["cross_validation"]["scores"]["tuned"]["MAE"]
    assert found["gain"]["semi"] == pytest.approx(own, abs=1e-9)
    assert " without" not in found["verdict"]["sentence"]
    change = found["cross_validation"]["change"]
    assert found["gain"]["mean"] == pytest.approx(-change["mean"])
    assert found["gain"]["high"] < found["gain"]["supervised"]


def test_details_say_what_held_out_rows_alone_show(tmp_path, path):
    fit = ("fit", path, "--target", "y", "--model", "linear", *RIGHT, "--details")
    told = " ".join(done(*fit, "--out", tmp_path / "m").out.split())
    change = diagnosed(path, *RIGHT)["cross_validation"]["change"]["held_out"]["mean"]
    alone = f"Held-out rows alone show a change of {change:+.3f} ±".replace("-", "−")
    assert alone.replace("Held−out", "Held-out") in told
    done("report", tmp_path / "m", "--out", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Held-out rows alone show a change of" in page


def test_a_gain_is_at_most_all_of_the_error(tmp_path):
    table(4, n_each=5).to_csv(tmp_path / "t.csv", index=False)
    said = diagnosed(tmp_path / "t.csv", *RIGHT)["verdict"]["sentence"]
    ends = said.partition("interval ")[2].partition(")")[0].split(" to ")
    assert float(ends[1].removesuffix(" %").replace("−", "-")) <= 100


def test_the_constant_class_is_the_best_for_the_shares(path):
    """The median of the labels is class 2 or 3, that of the rows is class 1 or 2."""
    compared = ("compare", path, "--target", "y", "--methods", "SV-CV,constant", "--repeats", "3")
    found = {row["method"]: row for row in done(*compared, *RIGHT, "--json").json["methods"]}
    best = min(SHARES @ np.abs(np.arange(4) - code) for code in range(4))
    assert found["constant"]["MAE"]["mean"] == pytest.approx(best)
    floor = diagnosed(path, *RIGHT)["cross_validation"]["scores"]["constant"]["MAE"]
    assert floor == pytest.approx(best)


@pytest.mark.parametrize("model", ["linear", "auto"])
def test_errors_count_by_shares_without_unlabelled_rows_too(tmp_path, model):
    frame = table(0)
    frame[frame["y"].notna()].to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--model", model, "--json")
    answer = semiordinal(*fit, *RIGHT, "--out", tmp_path / "m")
    result = answer.json
    best = min(SHARES @ np.abs(np.arange(4) - code) for code in range(4))
    assert result["cross_validation"]["scores"]["constant"]["MAE"] == pytest.approx(best)
    assert "change no prediction" in result["class_shares"]["reason"]
    assert "1: 50.0%" in result["class_shares"]["errors"]


def test_estimated_shares_say_how_far_they_are_used(tmp_path, path):
    said = diagnosed(path, "--class-prior", "estimate")["class_shares"]["reason"]
    assert said.endswith("So the estimated shares are used.")
    rng = np.random.default_rng(0)
    codes = rng.choice(4, 1600, p=SHARES)
    frame = pd.DataFrame(rows(codes, rng), columns=["a", "b"])
    frame["y"] = pd.array(np.where(np.arange(1600) < 100, codes + 1, None), dtype="Int64")
    frame.to_csv(tmp_path / "random.csv", index=False)
    said = diagnosed(tmp_path / "random.csv", "--class-prior", "estimate")["class_shares"]["reason"]
    assert said.startswith("The unlabelled rows seem to have the class shares of the labels, ")
    frame[frame["y"].notna()].to_csv(tmp_path / "full.csv", index=False)
    said = diagnosed(tmp_path / "full.csv", "--class-prior", "estimate")["class_shares"]["reason"]
    assert said == "The class shares cannot be estimated, since there are no unlabelled rows."


def test_intervals_that_do_not_hold_are_said_not_to(tmp_path, path):
    frame = table(0)
    model = tmp_path / "m"
    done("fit", path, "--target", "y", "--model", "linear", *RIGHT, "--out", model)
    frame[frame["y"].isna()][["a", "b"]].to_csv(tmp_path / "new.csv", index=False)
    powered = ("--method", "prediction_powered")
    said = done("shares", model, tmp_path / "new.csv", *powered).out
    assert "So these intervals do not hold; use --method moments" in " ".join(said.split())
    assert "intervals do not hold" not in done("shares", model, tmp_path / "new.csv").out
    fixed = ("fit", path, "--target", "y", "--no-tune", "--out", tmp_path / "fixed")
    done(*fixed)
    assert "(--no-tune" in refused(2, "shares", tmp_path / "fixed", tmp_path / "new.csv")


def test_the_class_that_is_named_is_one_whose_shares_differ():
    """Where any class is beyond its interval, none within its own is named."""
    n_named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = np.repeat(np.arange(4), 15)
        log_odds = [
            np.array([0.5, 1.6, 2.7]) - rows(c, rng)[:, :1]
            for c in (codes, rng.choice(4, 400, p=SHARES))
        ]
        evidence = weigh_shares(log_odds[0], codes, log_odds[1])
        low, high = evidence.estimate.interval()
        outside = (evidence.of_labels < low) | (evidence.of_labels > high)
        said = evidence.sentence(np.arange(4))
        if said and outside.any():
            named = int(said.partition(" are class ")[2][0])
            assert outside[named]
            n_named += 1
    assert n_named > 5


def test_few_labels_are_said_to_be_few():
    codes = np.repeat(np.arange(4), 4)
    rng = np.random.default_rng(0)
    labeled, unlabeled = (
        np.array([0.5, 1.6, 2.7]) - rows(c, rng)[:, :1]
        for c in (codes, rng.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1]))
    )
    near = weigh_shares(labeled, codes, unlabeled, np.array([0.15, 0.2, 0.3, 0.35]))
    assert 0.5 < near.trust < 1
    few = "as far as so few labels can tell: the given shares count for"
    assert near.sentence(np.arange(4)).endswith(f"{few} {near.trust:.0%}.")
    far = weigh_shares(labeled, codes, unlabeled, np.array([0.1, 0.2, 0.3, 0.4]))
    assert 0 < far.trust < 0.5
    assert far.sentence(np.arange(4)).endswith(f"not ruled out, and count for {far.trust:.0%}.")


@pytest.mark.parametrize(
    ("labels", "more", "problem"),
    [
        ([1], (), "All labels are 1. Label rows of at least one other class."),
        ([1], RIGHT, "All labels are 1."),
        ([1, 2], (), "--order names 3, 4, and no row has these labels."),
        ([1, 2, 3], ("--class-prior", "estimate"), "known class shares place such classes too"),
    ],
)
def test_classes_without_labels_have_errors_that_help(tmp_path, labels, more, problem):
    frame = table(0)
    frame.loc[~frame["y"].isin(labels), "y"] = pd.NA
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--order", "1,2,3,4", *more)
    assert problem in refused(2, *fit, "--out", tmp_path / "m")


def test_a_class_that_only_shares_place(tmp_path):
    frame = table(0)
    frame.loc[frame["y"] == 2, "y"] = pd.NA
    frame.to_csv(tmp_path / "t.csv", index=False)
    order = ("--order", "1,2,3,4")
    found = diagnosed(tmp_path / "t.csv", *order, *RIGHT)
    assert "Can't tell: no row has the label 2." in found["verdict"]["sentence"]
    compared = ("compare", tmp_path / "t.csv", "--target", "y", *order, *RIGHT, "--json")
    answer = done(*compared, "--methods", "SV-CV,constant", "--repeats", "2").json
    assert {row["method"] for row in answer["methods"]} == {"SV-CV", "constant"}
    assert any("SV-CV too" in note for note in answer["notes"])
