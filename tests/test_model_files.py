"""Model files: what is saved comes back; what is wrong is refused, and nothing of it runs."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn import preprocessing
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from problems import LeavesAMark, make_problem
from semiordinal import (
    KernelOrdinalClassifier,
    LinearOrdinalClassifier,
    ManifoldOrdinalClassifier,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
)
from semiordinal._packing.payload import rename_types
from semiordinal._utils.files import OutputError
from semiordinal.model_files import (
    SCHEMA,
    TRUSTED_TYPES,
    ModelFileError,
    _archive,
    load,
    read,
    save,
)

PROBLEM = make_problem(n_labeled=30)
X, Y = PROBLEM.X, PROBLEM.y
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
NAMES = np.array([None if np.isnan(v) else "abcd"[int(v) - 1] for v in Y], dtype=object)


@pytest.fixture
def path(tmp_path):
    """A model file of a small linear model."""
    path = tmp_path / "model.semiordinal"
    save(LinearOrdinalClassifier().fit(FRAME, Y), path)
    return path


def rewrite(path, change_manifest=None, payload=None):
    """Write a file again with its digests right, as someone who wants to do harm would."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        payload = archive.read("model.skops") if payload is None else payload
    manifest["sha256"] = hashlib.sha256(payload).hexdigest()
    manifest |= change_manifest or {}
    path.write_bytes(_archive(manifest, payload))


MODELS = {
    "linear": lambda: LinearOrdinalClassifier().fit(FRAME, Y),
    "least squares": lambda: LinearOrdinalClassifier(loss="ls").fit(X, Y),
    "names": lambda: LinearOrdinalClassifier(classes=list("abcd")).fit(FRAME, NAMES),
    "kernel": lambda: KernelOrdinalClassifier(random_state=0).fit(X, Y),
    "32 bits": lambda: KernelOrdinalClassifier(centers=10, random_state=0).fit(np.float32(X), Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), LinearOrdinalClassifier()).fit(FRAME, Y),
    "transductive": lambda: TransductiveOrdinalClassifier(random_state=0).fit(X, Y),
    "self-training": lambda: OrdinalSelfTraining(LinearOrdinalClassifier()).fit(X, Y),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_saved_comes_back(name, tmp_path):
    model = MODELS[name]()
    rows = FRAME if hasattr(model, "feature_names_in_") else X
    save(model, tmp_path / "model.semiordinal")
    again = load(tmp_path / "model.semiordinal")
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    assert type(again) is type(model)
    assert again.classes_.tolist() == model.classes_.tolist()
    assert repr(again) == repr(model)


FIRST_NAMES = {
    "OrdinalSelfTraining": "baselines.self_training",
    "TransductiveOrdinalClassifier": "baselines.transductive",
    "KernelOrdinalClassifier": "estimators.kernel",
    "LinearOrdinalClassifier": "estimators.linear",
    "KernelOrdinalClassifierCV": "estimators.tuned",
    "LinearOrdinalClassifierCV": "estimators.tuned",
    "StoredNetwork": "nn.stored",
    "TypedColumns": "tables.encoding",
}


@pytest.mark.parametrize("name", MODELS)
def test_names_of_our_classes_do_not_tell_their_modules(name, tmp_path):
    """So modules can move; and files of the first format, with the modules of then, load."""
    path = tmp_path / "model.semiordinal"
    model = MODELS[name]()
    save(model, path)
    with zipfile.ZipFile(path) as archive:
        payload = archive.read("model.skops")
    own = []

    def first_name(stored):
        package, _, class_name = stored.rpartition(".")
        if package.startswith("semiordinal"):
            own.append(package)
            return f"semiordinal.{FIRST_NAMES[class_name]}.{class_name}"
        return stored

    first = rename_types(payload, first_name)
    assert set(own) == {"semiordinal"}
    assert first != payload
    rewrite(path, payload=first)
    assert repr(load(path)) == repr(model)


def test_every_name_that_was_ever_stored_is_known():
    for class_name, module in FIRST_NAMES.items():
        stored = {f"semiordinal.{class_name}", f"semiordinal.{module}.{class_name}"}
        assert stored <= TRUSTED_TYPES


def test_a_class_of_the_package_that_is_not_listed_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        payload = archive.read("model.skops")
    other = "semiordinal.baselines._manifold.ManifoldOrdinalClassifier"
    own = "semiordinal.LinearOrdinalClassifier"
    rewrite(path, payload=rename_types(payload, lambda name: other if name == own else name))
    with pytest.raises(ModelFileError, match=r"not on the list.*Manifold"):
        load(path)


def test_sparse_rows_come_back(tmp_path):
    from scipy import sparse

    model = KernelOrdinalClassifier().fit(sparse.csr_matrix(X), Y)
    save(model, tmp_path / "model.semiordinal")
    again = load(tmp_path / "model.semiordinal")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_the_manifest_says_what_the_model_is(tmp_path):
    path = tmp_path / "model.semiordinal"
    model = LinearOrdinalClassifier(classes=list("abcd")).fit(X, NAMES)
    save(model, path, details={"target": "grade", "schema": 99})
    manifest = read(path).manifest
    assert manifest["schema"] == SCHEMA, "details cannot change what the file is"
    assert manifest["classes"] == list("abcd")
    assert manifest["order"] == "as given"
    assert manifest["target"] == "grade"
    assert manifest["versions"]["numpy"] == np.__version__
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        payload = archive.read("model.skops")
    assert manifest["sha256"] == hashlib.sha256(payload).hexdigest()


def test_every_changed_byte_is_refused(path):
    """Of all positions some hundred, among them each of the first and last."""
    data = path.read_bytes()
    inside = np.linspace(200, len(data) - 200, 100).astype(int)
    for position in [*range(200), *inside, *range(len(data) - 200, len(data))]:
        changed = bytearray(data)
        changed[position] ^= 1
        path.write_bytes(changed)
        with pytest.raises(ModelFileError, match=r"hash|pickle|not a model file"):
            load(path)
    path.write_bytes(data)
    assert load(path).n_features_in_ == 3


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.5, 0.999])
def test_a_file_cut_short_is_refused(path, kept):
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(ModelFileError, match="cut short" if kept else "not a model file"):
        load(path)


def test_bytes_at_the_end_are_refused(path):
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ModelFileError, match="hash"):
        load(path)


def test_a_newer_schema_is_refused(path):
    rewrite(path, {"schema": SCHEMA + 1})
    with pytest.raises(ModelFileError, match=r"newer semiordinal.*Upgrade"):
        load(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": "one"}, "without a schema"),
        ({"classes": None}, "without classes"),
        ({"classes": [1, 2]}, "other classes"),
        ({"sha256": "0" * 64}, "another model"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(path, change, reason):
    rewrite(path, change)
    with pytest.raises(ModelFileError, match=reason):
        load(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_unread(tmp_path, protocol):
    mark = tmp_path / "mark"
    path = tmp_path / "model.semiordinal"
    path.write_bytes(pickle.dumps(LeavesAMark(mark), protocol))
    with pytest.raises(ModelFileError, match="pickle" if protocol > 1 else "not a model file"):
        load(path)
    assert not mark.exists()
    pickle.loads(path.read_bytes())
    assert mark.exists(), "the payload must be one that works"


def test_a_pickle_inside_is_refused_unread(path, tmp_path):
    mark = tmp_path / "mark"
    rewrite(path, payload=pickle.dumps(LeavesAMark(mark)))
    with pytest.raises(ModelFileError, match="no model that can be read"):
        load(path)
    assert not mark.exists()


def skops_nodes(mark):
    """Nodes of skops that would run something, if it were let."""
    argument = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(str(mark)),
        "is_json": True,
        "__id__": 2,
    }
    arguments = {
        "__class__": "tuple",
        "__module__": "builtins",
        "__loader__": "TupleNode",
        "content": [argument],
        "__id__": 1,
    }
    return {
        "constructor": {
            "__class__": "mkdir",
            "__module__": "os",
            "__loader__": "ConstructorFromReduceNode",
            "content": arguments,
            "__id__": 3,
        },
        "constructor under a trusted name": {
            "__class__": "list",
            "__module__": "builtins",
            "__loader__": "ConstructorFromReduceNode",
            "content": arguments,
            "__id__": 3,
        },
        "operator": {
            "__class__": "methodcaller",
            "__module__": "operator",
            "__loader__": "OperatorFuncNode",
            "attrs": arguments,
            "__id__": 3,
        },
        "function": {
            "__class__": "system",
            "__module__": "os",
            "__loader__": "FunctionNode",
            "content": {"module_path": "os", "function": "mkdir"},
            "__id__": 3,
        },
        "object without a loader": {"__class__": "Popen", "__module__": "subprocess"},
        "a name that is no text": {"__class__": ["Popen"], "__loader__": ["ObjectNode"]},
    }


@pytest.mark.parametrize("kind", skops_nodes(""))
def test_types_that_are_not_listed_are_refused(path, tmp_path, kind):
    """Even where skops would trust them, and where the digests are right."""
    mark = tmp_path / "mark"
    payload = io.BytesIO()
    with zipfile.ZipFile(payload, "w") as archive:
        schema = {**skops_nodes(mark)[kind], "protocol": 2, "_skops_version": "0.16.0"}
        archive.writestr("schema.json", json.dumps(schema))
    rewrite(path, payload=payload.getvalue())
    with pytest.raises(ModelFileError, match="not on the list"):
        load(path)
    assert not mark.exists()


def test_estimators_that_skops_trusts_and_we_do_not(path):
    logistic = LogisticRegression().fit(X[PROBLEM.labeled], Y[PROBLEM.labeled])
    assert skops.io.get_untrusted_types(data=skops.io.dumps(logistic)) == []
    rewrite(path, payload=skops.io.dumps(logistic))
    with pytest.raises(ModelFileError, match=r"not on the list.*LogisticRegression"):
        load(path)


def test_compressed_parts_are_refused(path):
    """They could unpack to more than the memory holds."""
    payload = skops.io.dumps(LinearOrdinalClassifier().fit(X, Y), compression=zipfile.ZIP_DEFLATED)
    rewrite(path, payload=payload)
    with pytest.raises(ModelFileError, match="compressed"):
        load(path)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LinearOrdinalClassifier(), "not fitted"),
        (make_pipeline(FunctionTransformer(np.tanh), LinearOrdinalClassifier()).fit(X, Y), "tanh"),
        (ManifoldOrdinalClassifier().fit(X, Y), "KDTree"),
    ],
    ids=["not fitted", "function", "search tree"],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, model, reason):
    with pytest.raises(ModelFileError, match=reason):
        save(model, tmp_path / "model.semiordinal")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_overwritten_by_force_only(path):
    before = path.read_bytes()
    other = LinearOrdinalClassifier(l2=1.0).fit(FRAME, Y)
    with pytest.raises(OutputError, match="force"):
        save(other, path)
    assert path.read_bytes() == before
    save(other, path, force=True)
    assert load(path).l2 == 1.0


def test_a_failed_write_leaves_nothing(path, monkeypatch):
    before = path.read_bytes()

    def fails(self, target):
        raise OSError("the disk is full")

    monkeypatch.setattr("pathlib.Path.replace", fails)
    with pytest.raises(OSError, match="full"):
        save(LinearOrdinalClassifier(l2=1.0).fit(FRAME, Y), path, force=True)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_reading_a_model_imports_no_package_that_it_does_not_need(path):
    """And skops knows all estimators of scikit-learn."""
    code = f"""
import sys
from semiordinal import model_files
model_files.load({str(path)!r})
print([name for name in ("torch", "dask", "matplotlib") if name in sys.modules])
from sklearn.svm import SVC
import skops.io
print(skops.io.get_untrusted_types(data=skops.io.dumps(SVC())))
"""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["[]", "[]"], result.stderr


STEPS = [
    preprocessing.Binarizer(),
    preprocessing.MaxAbsScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.Normalizer(),
    preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    preprocessing.PowerTransformer(),
    preprocessing.RobustScaler(),
    PCA(2),
    RBFSampler(random_state=0),
    TruncatedSVD(2, random_state=0),
    VarianceThreshold(),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_transformers_of_scikit_learn_come_back(step, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    model = make_pipeline(step, LinearOrdinalClassifier()).fit(X, rng.integers(0, 3, 30))
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "step", [preprocessing.PolynomialFeatures(2), preprocessing.SplineTransformer(n_knots=3)]
)
def test_types_that_the_user_trusts(step, tmp_path):
    rng = np.random.default_rng(0)
    X, y, path = rng.normal(size=(30, 2)), rng.integers(0, 3, 30), tmp_path / "model"
    model = make_pipeline(step, LinearOrdinalClassifier()).fit(X, y)
    with pytest.raises(ModelFileError, match=r"If you trust them.*trusted=\[.*\]") as error:
        save(model, path)
    trusted = ast.literal_eval(str(error.value).partition("trusted=")[2].rstrip("."))
    save(model, path, trusted=[type(step), *trusted])
    with pytest.raises(ModelFileError, match="Nothing of it was run"):
        load(path)
    np.testing.assert_allclose(load(path, trusted=trusted).predict_proba(X), model.predict_proba(X))
    with pytest.raises(ModelFileError, match="must be a list"):
        load(path, trusted=type(step))
