"""What moved between two tables: found where it did, and not where it did not."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, done, patients, refused, with_few_labels
from semiordinal._judge.drift import find_drift
from semiordinal._judge.table_profile import TableProfile

CLASSES = ["mild", "moderate", "severe"]


pytestmark = pytest.mark.usefixtures("few_folds_throughout")


def hospital(n_rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 90, n_rows),
            "weight": rng.lognormal(4.3, 0.2, n_rows),
            "score": rng.integers(0, 6, n_rows).astype(float),
            "visit": rng.integers(18_000, 18_700, n_rows).astype(float),
            "city": rng.choice(["Leeds", "York", "Hull"], n_rows, p=[0.5, 0.3, 0.2]),
            "smoker": rng.choice(["yes", "no"], n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "weight"] = np.nan
    return frame.astype({"city": object, "smoker": object})


def with_gaps(frame, name, share):
    hidden = np.random.default_rng(9).random(len(frame)) < share
    return frame.assign(**{name: frame[name].where(~hidden)})


MADE = {
    "age in months": ("age", lambda f: f.assign(age=f["age"] * 12)),
    "age in days": ("age", lambda f: f.assign(age=f["age"] * 365.25)),
    "age shifted by half a deviation": ("age", lambda f: f.assign(age=f["age"] + 10)),
    "the young only": ("age", lambda f: f.assign(age=20 + (f["age"] - 20) / 2)),
    "age with the sign turned": ("age", lambda f: f.assign(age=-f["age"])),
    "one age for all": ("age", lambda f: f.assign(age=50.0)),
    "weight in pounds": ("weight", lambda f: f.assign(weight=f["weight"] * 2.2046)),
    "weight in grams": ("weight", lambda f: f.assign(weight=f["weight"] * 1000)),
    "weight spread twice as far": (
        "weight",
        lambda f: f.assign(weight=75 + 2 * (f["weight"] - 75)),
    ),
    "weight mostly empty": ("weight", lambda f: with_gaps(f, "weight", 0.6)),
    "weight empty throughout": ("weight", lambda f: f.assign(weight=np.nan)),
    "no gap any more": ("weight", lambda f: f.assign(weight=f["weight"].fillna(400.0))),
    "score counted from one": ("score", lambda f: f.assign(score=f["score"] + 1)),
    "score turned round": ("score", lambda f: f.assign(score=(f["score"] // 2) * 2)),
    "visits a year later": ("visit", lambda f: f.assign(visit=f["visit"] + 365)),
    "visits in seconds": ("visit", lambda f: f.assign(visit=f["visit"] * 86_400)),
    "a new city": ("city", lambda f: f.assign(city=f["city"].replace("Hull", "Bath"))),
    "another way to write cities": ("city", lambda f: f.assign(city=f["city"].str.upper())),
    "one city for all": ("city", lambda f: f.assign(city="Leeds")),
    "smokers unknown": ("smoker", lambda f: with_gaps(f, "smoker", 0.3)),
    "smokers alone": ("smoker", lambda f: f.assign(smoker="yes")),
}


def drift_between(before, now):
    reference = TableProfile.of(before, ["visit"], 3)
    reference = TableProfile.from_manifest(reference.to_manifest())  # as through a file
    other = reference.empty()
    unknown = {c: set(now[c].dropna()) - set(before[c].dropna()) for c in ("city", "smoker")}
    for start in range(0, len(now), 70):  # in batches
        other.add(now.iloc[start : start + 70], None, unknown)
    return find_drift(reference, other, CLASSES)


@pytest.mark.parametrize("case", MADE)
def test_what_moved_is_named_and_nothing_else(case):
    column, change = MADE[case]
    found = drift_between(hospital(400, 0), change(hospital(300, 1)))
    assert [drift.column for drift in found] == [column]
    assert repr(column) in found[0].message


def test_tables_of_the_same_kind_do_not_differ():
    """20 pairs of tables that differ by chance alone."""
    found = [drift_between(hospital(400, i), hospital(300, 100 + i)) for i in range(20)]
    assert sum(map(bool, found)) <= 1


def test_many_rows_do_not_differ_from_a_few_of_their_kind():
    """Of few rows the range is narrow by chance, and all others are compared with that one."""
    found = []
    for seed in range(40):
        rows = hospital(1040, seed)
        noise = np.random.default_rng(seed).standard_t(4, size=(1040, 6))
        rows = rows.join(pd.DataFrame(noise, columns=list("abcdef")))
        found.append(drift_between(rows[:40], rows[40:]))
    assert sum(map(bool, found)) <= 3


def test_messages_are_true():
    before, now = hospital(400, 0), hospital(300, 1)
    (months,) = drift_between(before, now.assign(age=now["age"] * 12))
    assert "about 12 times as much: is the unit the same?" in months.message
    share = np.mean((now["age"] * 12 > before["age"].max()) | (now["age"] * 12 < 20))
    assert f"in {share:.0%}".replace("%", " %") in months.message
    (later,) = drift_between(before, now.assign(visit=now["visit"] + 3650))
    first, last = re.search(r"\((\S+) to (\S+)\)", later.message).groups()
    assert pd.Timestamp(first) == pd.Timestamp("1970-01-01") + pd.Timedelta(
        days=before["visit"].min()
    )
    assert pd.Timestamp(last).year == 2021
    (gaps,) = drift_between(before, with_gaps(now, "smoker", 0.3))
    missing = with_gaps(now, "smoker", 0.3)["smoker"].isna().mean()
    assert f"is empty in {missing:.0%}".replace("%", " %") in gaps.message
    (city,) = drift_between(before, now.assign(city=now["city"].replace("Hull", "Bath")))
    assert "Bath" in city.message


def test_one_row_is_too_little_to_tell():
    assert drift_between(hospital(400, 0), hospital(1, 1)) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drift")
    with_few_labels(patients(300), 0.4).to_csv(folder / "few.csv", index=False)
    asked = ("fit", folder / "few.csv", "--target", "severity", "--order", ORDER, "--no-tune")
    done(*asked, "--out", folder / "m")
    same = patients(300, seed=3)
    same.to_csv(folder / "same.csv", index=False)
    same.assign(age=same["age"] * 12).to_csv(folder / "months.csv", index=False)
    same.assign(age=same["age"] * 12).to_parquet(folder / "months.parquet")
    return folder


@pytest.mark.parametrize("table", ["months.csv", "months.parquet"])
def test_predict_and_evaluate_say_what_moved(folder, tmp_path, table):
    predict = ("predict", folder / "m", folder / table, "--out", tmp_path / "o.csv")
    notes = done(*predict, "--json").json["notes"]
    assert any("'age' lies outside its range" in note for note in notes)
    assert any("The predictions: severe in" in note for note in notes)
    told = done("evaluate", folder / "m", folder / table).out
    assert "Differs from the training table: 'age'" in told
    for asked in (
        (*predict[:4], tmp_path / "strict.csv"),
        ("evaluate", folder / "m", folder / table),
    ):
        assert "the rows differ from the training table" in refused(1, *asked, "--strict")
    assert not (tmp_path / "strict.csv").exists()


def test_rows_of_the_same_kind_pass(folder, tmp_path):
    asked = ("predict", folder / "m", folder / "same.csv", "--out", tmp_path / "o.csv")
    assert done(*asked, "--strict", "--json").json["notes"] == []


def test_the_file_holds_a_summary_and_no_row(folder):
    from semiordinal.model_files import read

    manifest = read(folder / "m").manifest
    age = manifest["training_table"]["numbers"]["age"]
    assert len(age["edges"]) == 11
    assert sum(age["counts"]) + age["n_missing"] == 300
    assert sum(manifest["training_table"]["predicted"]) == 300
