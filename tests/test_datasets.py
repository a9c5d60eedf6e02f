"""Data sets by name: what they hold, how they fail, and OpenML's through a local stand-in."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest

from cli_problems import done, needs_data, refused
from semiordinal.datasets import (
    DATASETS,
    equal_frequency_classes,
    fetch,
    get_facts,
    load,
    load_diabetes_stages,
    make_ordinal,
    mask_labels,
)
from semiordinal.datasets._catalog import MERGEABLE

# As the paper prints them: inputs, priors of the three merged classes.
PRINTED = {
    "abalone": (10, [0.2, 0.6, 0.2]),
    "bank1-5": (8, [0.2, 0.6, 0.2]),
    "bank2-5": (32, [0.2, 0.6, 0.2]),
    "census1-5": (8, [0.2, 0.6, 0.2]),
    "census2-5": (16, [0.2, 0.6, 0.2]),
    "computer1-5": (12, [0.2, 0.6, 0.2]),
    "computer2-5": (21, [0.2, 0.6, 0.2]),
    "fireman-example": (9, [0.5, 0.25, 0.25]),
    "kinematics": (7, [0.38, 0.38, 0.25]),
    "lev": (4, [0.09, 0.68, 0.22]),
    "swd": (10, [0.38, 0.4, 0.22]),
    "toy": (2, [0.12, 0.78, 0.1]),
}


def test_merged_priors_are_the_papers():
    assert set(MERGEABLE) == set(PRINTED)
    for name, (_, prior) in PRINTED.items():
        np.testing.assert_allclose(get_facts(name).merged_prior, prior, atol=0.0051)


@needs_data
@pytest.mark.parametrize("name", DATASETS)
def test_every_set_loads_and_is_what_the_table_says(name):
    facts = DATASETS[name]
    X, y = load(name)
    assert X.shape == (facts.n_rows, facts.n_features)
    assert np.isfinite(X).all()
    np.testing.assert_allclose(np.bincount(y)[1:] / len(y), facts.class_prior)


@needs_data
@pytest.mark.parametrize("name", PRINTED)
def test_the_papers_columns_and_classes(name):
    X, y = load(name, three_classes=True, paper_columns=True)
    assert X.shape[1] == PRINTED[name][0]
    np.testing.assert_allclose(np.bincount(y)[1:] / len(y), get_facts(name).merged_prior)


def test_clear_errors(tmp_path, monkeypatch):
    monkeypatch.delenv("SEMIORDINAL_DATA", raising=False)
    with pytest.raises(ValueError, match="Did you mean 'bank1-5'"):
        load("bank1")
    with pytest.raises(ValueError, match="no merge to three classes"):
        load("car", three_classes=True)
    with pytest.raises(FileNotFoundError, match="SEMIORDINAL_DATA"):
        load("car")
    monkeypatch.setenv("SEMIORDINAL_DATA", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load("car")
    with pytest.raises(FileNotFoundError, match=r"lev\.csv\.gz.*--fetch"):
        load("lev", folder=tmp_path)
    (tmp_path / "lev.csv.gz").write_bytes(b"not gzip")
    with pytest.raises(ValueError, match=r"lev\.csv\.gz.*cannot be read"):
        load("lev", folder=tmp_path)
    pd.DataFrame({"x1": [1.0], "y": [1]}).to_csv(tmp_path / "lev.csv.gz", index=False)
    with pytest.raises(ValueError, match="1 rows, 1 columns and 1 classes, but lev has 1000"):
        load("lev", folder=tmp_path)


def test_counts_of_the_classes_are_checked(tmp_path):
    facts = get_facts("toy")
    y = np.repeat(np.arange(1, 6), facts.class_counts)
    y[0] = 2
    frame = pd.DataFrame({"x1": 0.0, "x2": 1.0, "y": y})
    frame.to_csv(tmp_path / "toy.csv.gz", index=False)
    with pytest.raises(ValueError, match=r"\(34, 88, 79, 68, 31\) rows of its classes"):
        load("toy", folder=tmp_path)
    y[0] = 1
    frame.assign(y=y - 3).to_csv(tmp_path / "toy.csv.gz", index=False)
    with pytest.raises(ValueError, match="of the classes 1 to 5"):
        load("toy", folder=tmp_path)


def test_fetch_keeps_nothing_that_load_would_refuse(tmp_path):
    frame = pd.DataFrame({f"In{i}": np.arange(1000.0) % (i + 2) for i in range(4)})
    frame["Out"] = np.arange(1000) % 5
    openml_stand_in(tmp_path, 1029, frame, "Out")
    with pytest.raises(ValueError, match=r"1029 has .* rows of its classes, but lev has"):
        fetch("lev", folder=tmp_path, data_home=tmp_path)
    assert not (tmp_path / "lev.csv.gz").exists()


def test_fetch_looks_for_the_folder_first(tmp_path, monkeypatch):
    monkeypatch.setattr("semiordinal.datasets._fetch.fetch_openml", lambda **_: pytest.fail("ran"))
    with pytest.raises(FileNotFoundError, match=r"'.*absent', named by folder=\.\.\., does not"):
        fetch("lev", folder=tmp_path / "absent")


def test_openml_out_of_reach_is_told_with_a_remedy(tmp_path, monkeypatch):
    for variable in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # where nothing listens
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setattr("urllib.request._opener", None)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("SEMIORDINAL_DATA", str(tmp_path))
    told = refused(1, "datasets", "lev", "--fetch")
    assert "OpenML could not be reached for lev: [Errno 111] Connection refused. Try again" in told
    assert "or put a file lev.csv.gz into the data folder" in told


def openml_stand_in(home, data_id, frame, target):
    """What scikit-learn keeps of an OpenML data set, so that it asks no server for it."""
    names = list(frame.columns)
    kinds = ["numeric" if frame[n].dtype.kind in "fi" else "nominal" for n in names]
    declared = [
        f"@ATTRIBUTE {n} "
        + ("NUMERIC" if k == "numeric" else "{" + ",".join(sorted(frame[n].unique())) + "}")
        for n, k in zip(names, kinds, strict=True)
    ]
    rows = [",".join(map(str, row)) for row in frame.itertuples(index=False)]
    arff = "\n".join(["@RELATION stand_in", *declared, "@DATA", *rows]).encode()
    # Without a file's name at the end, which old versions of scikit-learn leave out.
    download = f"data/v1/download/{data_id}"
    description = {
        "id": str(data_id),
        "name": "stand_in",
        "version": "1",
        "description": "a stand-in",
        "format": "ARFF",
        "file_id": str(data_id),
        "url": f"https://api.openml.org/{download}",
        "default_target_attribute": target,
        "status": "active",
        "md5_checksum": hashlib.md5(arff).hexdigest(),
    }
    features = [
        {
            "index": str(i),
            "name": name,
            "data_type": kind,
            "is_target": str(name == target).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
            **({"nominal_value": sorted(frame[name].unique())} if kind == "nominal" else {}),
        }
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    size = {"name": "NumberOfInstances", "value": str(len(frame))}
    answers = {
        f"api/v1/json/data/{data_id}": {"data_set_description": description},
        f"api/v1/json/data/features/{data_id}": {"data_features": {"feature": features}},
        f"api/v1/json/data/qualities/{data_id}": {"data_qualities": {"quality": [size]}},
    }
    files = {path: json.dumps(answer).encode() for path, answer in answers.items()}
    files[download] = arff
    for path, content in files.items():
        kept = home / "openml" / "openml.org" / f"{path}.gz"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(gzip.compress(content))


def abalone_like():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4177, 7)).round(4), columns=[f"m{i}" for i in range(7)])
    frame.insert(0, "Sex", rng.choice(["F", "I", "M"], size=4177))
    return frame.assign(Rings=rng.integers(1, 30, size=4177))


def test_fetch_cuts_checks_and_keeps(tmp_path):
    frame = abalone_like()
    openml_stand_in(tmp_path / "home", 183, frame, "Rings")
    folder = tmp_path / "data"
    folder.mkdir()
    X, y = fetch("abalone", folder=folder, data_home=tmp_path / "home")
    assert X.shape == (4177, 10)
    # The rule by hand: position in a stable order of the target, in blocks of 836 and 835.
    order = sorted(range(4177), key=lambda row: (frame["Rings"][row], row))
    place = {row: i for i, row in enumerate(order)}
    ends = np.cumsum([836, 836, 835, 835, 835])
    assert y.tolist() == [int(np.argmax(place[row] < ends)) + 1 for row in range(4177)]
    assert (X[:, -3:].sum(axis=1) == 1).all()
    kept_X, kept_y = load("abalone", folder=folder)
    np.testing.assert_array_equal(kept_X, X)
    np.testing.assert_array_equal(kept_y, y)
    before = (folder / "abalone.csv.gz").read_bytes()
    fetch("abalone", folder=folder, data_home=tmp_path / "home")
    assert (folder / "abalone.csv.gz").read_bytes() == before


def test_fetch_takes_levels_as_they_are_and_refuses_other_data(tmp_path):
    counts = get_facts("lev").class_counts
    frame = pd.DataFrame({f"In{i}": np.arange(1000.0) % (i + 2) for i in range(4)})
    frame["Out"] = np.repeat(np.arange(5.0), counts)
    openml_stand_in(tmp_path, 1029, frame, "Out")
    _, y = fetch("lev", data_home=tmp_path)
    assert tuple(np.bincount(y)[1:]) == counts
    openml_stand_in(tmp_path, 1028, frame, "Out")
    with pytest.raises(ValueError, match="4 columns and 5 classes, but swd has 1000, 10 and 4"):
        fetch("swd", data_home=tmp_path)


def test_make_ordinal_keeps_its_word():
    X, y, truth = make_ordinal(200_000, 4, class_prior=[0.1, 0.6, 0.3], noise=0.7, random_state=1)
    np.testing.assert_allclose(np.bincount(y)[1:] / len(y), [0.1, 0.6, 0.3], atol=0.005)
    P = truth.probabilities(X @ truth.coef)
    position = np.arange(1, 4)
    best = {
        "absolute": np.abs(position[None, :, None] - position) @ np.eye(3),
        "squared": (position[None, :, None] - position) ** 2 @ np.eye(3),
        "zero_one": (position[None, :, None] != position) @ np.eye(3),
    }
    for task, table in best.items():
        chosen = (P @ table[0]).argmin(axis=1)
        error = table[0][chosen, y - 1]
        margin = 4 * error.std() / np.sqrt(len(y))
        assert abs(error.mean() - truth.bayes_error(task)) < margin
    with pytest.raises(ValueError, match="class_prior"):
        make_ordinal(class_prior=[0.5, 0.6])
    for name, bad in (("noise", 0.0), ("noise", np.inf), ("n_features", 0), ("n_samples", 2.5)):
        with pytest.raises(ValueError, match=f"{name}={bad} must be"):
            make_ordinal(**{name: bad})
    with pytest.raises(ValueError, match="task"):
        truth.bayes_error("mae")


@pytest.mark.parametrize("n_classes", [0, 1, 4, 2.0])
def test_classes_that_cannot_be_made(n_classes):
    with pytest.raises(ValueError, match=f"n_classes={n_classes} must be .* from 2 to 3"):
        equal_frequency_classes([0.1, 0.2, 0.3], n_classes)
    with pytest.raises(ValueError, match=r"n_stages=500 must be .* from 2 to 442"):
        load_diabetes_stages(500)


@pytest.mark.parametrize("target", [[0.1, np.nan, 0.3], [[0.1], [0.2]], [1.0, np.inf, 2.0]])
def test_targets_that_cannot_be_cut(target):
    with pytest.raises(ValueError, match="target must be one column of finite numbers"):
        equal_frequency_classes(target, 2)


@pytest.mark.parametrize("n_labeled", [1, 5, 2.5])
def test_labels_that_cannot_be_kept(n_labeled):
    with pytest.raises(ValueError, match=f"n_labeled={n_labeled} must be .* from 2.* to 4"):
        mask_labels([1, 2, 1, 2], n_labeled)


@pytest.mark.parametrize("y", [[1.0, 2.0, np.nan], ["a", "b", None], [1, 2, pd.NA]])
def test_labels_that_are_hidden_already(y):
    with pytest.raises(ValueError, match="y has rows without a label already"):
        mask_labels(y, 2)


def test_the_command_lists_sizes_priors_and_sources(tmp_path, monkeypatch):
    monkeypatch.delenv("SEMIORDINAL_DATA", raising=False)
    listed = done("datasets", "--json").json["datasets"]
    assert listed["lev"]["rows"] == 1000
    assert listed["lev"]["priors"] == [0.093, 0.28, 0.403, 0.197, 0.027]
    assert not listed["lev"]["available"]
    assert listed["diabetes-stages"]["available"]
    assert "Ben-David" in done("datasets").out
    assert "SEMIORDINAL_DATA" in refused(1, "datasets", "lev", "--out", tmp_path / "lev.csv")
    assert "SEMIORDINAL_DATA" in refused(1, "datasets", "lev", "--fetch")
    assert "kinematics" in refused(2, "datasets", "kin", "--fetch")


def test_the_command_fetches_into_the_folder(tmp_path, monkeypatch):
    openml_stand_in(tmp_path / "home", 183, abalone_like(), "Rings")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("SEMIORDINAL_DATA", str(tmp_path))
    told = done("datasets", "abalone", "--fetch", "--labels", "50", "--out", tmp_path / "a.csv")
    assert "4,177 rows" in told.out
    assert pd.read_csv(tmp_path / "a.csv")["target"].notna().sum() == 50
    assert (tmp_path / "abalone.csv.gz").exists()


def test_a_server_that_does_not_answer_is_given_up(tmp_path, monkeypatch):
    """It takes the connection, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        monkeypatch.setattr("semiordinal.datasets._fetch._TIMEOUT_SECONDS", 0.2)
        monkeypatch.setattr(
            "semiordinal.datasets._fetch.fetch_openml", lambda **_: urlopen(address).read()
        )
        with pytest.raises(ConnectionError, match=r"could not be reached for abalone: .*timed out"):
            fetch("abalone", data_home=tmp_path)
    assert socket.getdefaulttimeout() is None
