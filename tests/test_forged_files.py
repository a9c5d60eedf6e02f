"""Model files that were made to do harm, with digests that fit: refused before they can."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from joblib import cpu_count
from scipy import sparse

from cli_problems import refused, semiordinal
from models_to_forge import make_models
from mutated_models import join, shared_lists, split
from semiordinal.cli._manifests import check_manifest
from semiordinal.model_files import ModelFileError, _archive, load, save

KEPT = Path(__file__).with_name("model_files")


def nodes_named(node, name):
    """All places of a schema with that name: what holds it, and what is there."""
    if isinstance(node, dict):
        if name in node:
            yield node, node[name]
        for part in node.values():
            yield from nodes_named(part, name)
    elif isinstance(node, list):
        for part in node:
            yield from nodes_named(part, name)


def plain(value):
    return {
        "__class__": type(value).__name__,
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
        "__id__": 10**8,
    }


def forge(path, source, change):
    """A file whose schema and arrays a function has changed."""
    manifest, payload = split(source)
    schema = json.loads(payload["schema.json"])
    change(schema, payload)
    payload["schema.json"] = json.dumps(schema).encode()
    path.write_bytes(join(manifest, payload))


def refusal(path):
    """What is said of a file, in one line, and without much memory."""
    resource = pytest.importorskip("resource", reason="memory is measured as Unix does")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024  # 300 MB
    return str(caught.value)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("linear.semiordinal", "coef_"),
        ("linear.semiordinal", "thresholds_"),
        ("linear.semiordinal", "classes_"),
        ("linear.semiordinal", "class_prior_"),
        ("linear.semiordinal", "n_features_in_"),
        ("kernel.semiordinal", "centers_"),
        ("forest.semiordinal", "arrays"),
        ("auto.semiordinal", "weights_"),
        ("table.semiordinal", "categories_"),
        ("network.semiordinal", "content"),
    ],
)
@pytest.mark.parametrize("has_content", [True, False])
def test_lists_that_are_shared_do_not_grow(tmp_path, file, name, has_content):
    """Of forty lists that each hold the one before twice, 2⁴⁰ numbers would be made."""

    def change(schema, payload):
        places = list(nodes_named(schema, name))
        assert places
        for holder, _ in places:
            holder[name] = shared_lists(40, has_content)

    forge(tmp_path / "m", KEPT / file, change)
    refusal(tmp_path / "m")


def array_of(payload, node, values):
    buffer = io.BytesIO()
    np.save(buffer, values)
    payload[node["file"]] = buffer.getvalue()


def change_mapping(value):
    def change(schema, payload):
        for _, node in nodes_named(schema, "_default_to_infrequent_mappings"):
            for each in node["content"]:
                array_of(payload, each, np.full(5, value))

    return change


def change_entries(name, value):
    def change(schema, payload):
        for _, node in nodes_named(schema, name):
            node["content"] = [plain(value) for _ in node["content"]]

    return change


def change_numbers(schema, payload):
    for _, node in nodes_named(schema, "categories_"):
        for each in node["content"]:
            each.clear()
            each |= {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}
            each |= {"type": "numpy", "file": "new.npy", "__id__": 10**8}
            array_of(payload, each, np.array([3.0, 1.0, 2.0, 0.0, 5.0]))


ENCODERS = {
    "beyond": (change_mapping(10**9), "rare categories that it does not know"),
    "negative": (change_mapping(-7), "rare categories that it does not know"),
    "rare ones beyond": (change_entries("_infrequent_indices", 5), "rare categories"),
    "fewer columns": (change_entries("_n_features_outs", 0), "another number of columns"),
    "more columns": (change_entries("_n_features_outs", 10**12), "another number of columns"),
    "dropped beyond": (change_entries("_drop_idx_after_grouping", 99), "drops a category"),
    "dropped before": (change_entries("_drop_idx_after_grouping", -1), "drops a category"),
    "numbers out of order": (change_numbers, "not in order"),
}


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """A model with an encoder whose rare categories share a column."""
    path = tmp_path_factory.mktemp("rare") / "m"
    save(make_models()[-1], path)
    return path


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_point_to_no_column_that_they_do_not_make(tmp_path, rare, name):
    """Compiled code would follow them beyond the end of a matrix."""
    change, reason = ENCODERS[name]
    forge(tmp_path / "m", rare, change)
    assert reason in refusal(tmp_path / "m")


@pytest.mark.parametrize("n_jobs", [3000, -500, True, "many", 1.5])
def test_no_file_starts_thousands_of_processes(tmp_path, n_jobs):
    def change(schema, payload):
        for holder, _ in nodes_named(schema, "n_jobs"):
            holder["n_jobs"] = plain(n_jobs)

    forge(tmp_path / "m", KEPT / "table.semiordinal", change)
    assert "n_jobs" in refusal(tmp_path / "m")


def test_a_model_of_a_larger_machine_takes_the_cores_that_there_are(tmp_path):
    model = make_models()[6]
    save(model.set_params(featureunion__n_jobs=255), tmp_path / "m")
    assert model.get_params()["featureunion__n_jobs"] == 255
    assert load(tmp_path / "m").get_params()["featureunion__n_jobs"] == cpu_count()
    save(model.set_params(featureunion__n_jobs=-2), tmp_path / "m", force=True)
    assert load(tmp_path / "m").get_params()["featureunion__n_jobs"] == -2


def sparse_with(**arrays):
    def change(schema, payload):
        file = next(name for name in payload if name.endswith(".npz"))
        buffer = io.BytesIO()
        np.savez(buffer, **{**np.load(io.BytesIO(payload[file])), **arrays})
        payload[file] = buffer.getvalue()

    return change


@pytest.mark.parametrize("name", ["indices", "indptr", "shape"])
def test_sparse_centers_point_to_no_column_beyond(tmp_path, name):
    save(make_models()[-2], tmp_path / "whole")
    payload = split(tmp_path / "whole")[1]
    file = next(name for name in payload if name.endswith(".npz"))
    numbers = np.load(io.BytesIO(payload[file]))[name].copy()
    numbers[-1] = 10**9
    forge(tmp_path / "m", tmp_path / "whole", sparse_with(**{name: numbers}))
    refusal(tmp_path / "m")


@pytest.mark.parametrize("name", ["coef_", "thresholds_"])
@pytest.mark.parametrize("index", [10**9, -1, 0])
def test_a_sparse_matrix_where_an_array_belongs_is_refused(tmp_path, name, index):
    """Compiled code would read beyond the end of it."""

    def change(schema, payload):
        rows = sparse.csr_matrix(np.ones((1, 4)))
        rows.indices[-1] = index
        buffer = io.BytesIO()
        sparse.save_npz(buffer, rows, compressed=False)
        payload["forged.npz"] = buffer.getvalue()
        node = {"__class__": "csr_matrix", "__module__": "scipy.sparse._csr", "type": "scipy"}
        node |= {"__loader__": "SparseMatrixNode", "file": "forged.npz", "__id__": 10**8}
        holder = next(holder for holder, _ in nodes_named(schema, name))
        holder[name] = node

    forge(tmp_path / "m", KEPT / "linear.semiordinal", change)
    refusal(tmp_path / "m")


def test_a_step_that_transforms_nothing_is_refused(tmp_path, rare):
    def change(schema, payload):
        steps = next(node for _, node in nodes_named(schema, "steps"))["content"]
        steps[0]["content"][1] = plain(5)

    forge(tmp_path / "m", rare, change)
    assert "does not transform" in refusal(tmp_path / "m")


@pytest.mark.parametrize("dtype", ["S8", "<U4", "<c16"])
@pytest.mark.parametrize("name", ["thresholds_", "coef_"])
def test_arrays_of_no_numbers_are_refused(tmp_path, rare, name, dtype):
    """Also in models of categories, for which no row is known that could be tried."""

    def change(schema, payload):
        for _, node in nodes_named(schema, name):
            array_of(payload, node, np.load(io.BytesIO(payload[node["file"]])).astype(dtype))

    forge(tmp_path / "m", rare, change)
    assert "nor an array of numbers" in refusal(tmp_path / "m")


def test_a_text_where_a_number_belongs_is_refused(tmp_path):
    def change(schema, payload):
        for holder, _ in list(nodes_named(schema, "log_odds_")):
            holder["log_odds_"] = plain("a")

    forge(tmp_path / "m", KEPT / "boosting.semiordinal", change)
    assert "'log_odds_' is no number" in refusal(tmp_path / "m")


@pytest.mark.parametrize("names", [5, "abcd", ["a"]])
def test_names_of_other_columns_are_refused(tmp_path, rare, names):
    def change(schema, payload):
        for holder, _ in list(nodes_named(schema, "feature_names_in_")):
            holder["feature_names_in_"] = plain(names)

    forge(tmp_path / "m", rare, change)
    assert "one name for each column" in refusal(tmp_path / "m")


@pytest.mark.parametrize("name", ["{}", "[]", "3", "null"])
def test_names_that_are_no_texts_are_refused(tmp_path, rare, name):
    def change(schema, payload):
        for _, node in nodes_named(schema, "feature_names_in_"):
            node["content"][0]["content"] = name

    forge(tmp_path / "m", rare, change)
    assert "name of a column is no text" in refusal(tmp_path / "m")


def test_steps_without_columns_are_refused(tmp_path, rare):
    def change(schema, payload):
        for _, node in nodes_named(schema, "_transformer_to_input_indices"):
            del node["content"]["onehotencoder"]
            node["key_types"]["content"].pop()

    forge(tmp_path / "m", rare, change)
    assert "step that it has no columns for" in refusal(tmp_path / "m")


@pytest.mark.parametrize("asked", [{"transform": []}, {"transform": 1}, 5])
def test_containers_without_a_name_are_refused(tmp_path, rare, asked):
    """What ``set_output`` keeps."""

    def change(schema, payload):
        places = list(nodes_named(schema, "_sklearn_output_config"))
        assert places
        for holder, node in places:
            if isinstance(asked, dict):
                node["content"]["transform"] = plain(asked["transform"])
            else:
                holder["_sklearn_output_config"] = plain(asked)

    forge(tmp_path / "m", rare, change)
    assert "asked for no container" in refusal(tmp_path / "m")


def test_a_parameter_that_a_file_lacks_has_its_default(tmp_path):
    """As in files that were written before there was the parameter."""

    def change(schema, payload):
        for holder, _ in list(nodes_named(schema, "leak")):
            del holder["leak"]

    forge(tmp_path / "m", KEPT / "linear.semiordinal", change)
    assert "leak" in load(tmp_path / "m").get_params()


# Manifests.

GOOD = json.loads(zipfile.ZipFile(KEPT / "written-table.semiordinal").read("manifest.json"))


def test_manifests_that_were_written_are_read():
    for path in KEPT.glob("*.semiordinal"):
        check_manifest(json.loads(zipfile.ZipFile(path).read("manifest.json")))
    check_manifest({})


def paths_in(value, path=()):
    """Where something is in a manifest; of lists, the first entry."""
    if path:
        yield path
    parts = enumerate(value[:1]) if isinstance(value, list) else ()
    for name, part in value.items() if isinstance(value, dict) else parts:
        yield from paths_in(part, (*path, name))


WRONG = [None, True, -1, 10**400, 1e308, "", "x\x1b[2J", [], {}, [[None]], {"a": {}}]


def test_forged_manifests_end_in_one_line(tmp_path):
    """Each entry of a manifest in turn takes a value that it never has, or is not there."""
    payload = zipfile.ZipFile(KEPT / "written-table.semiordinal").read("model.skops")
    (tmp_path / "t.csv").write_text(
        "weight,kind,picked,washed,ripe,size\n5,a,2024-01-01,no,,small\n"
    )
    paths = list(paths_in(GOOD))
    rng = np.random.default_rng(0)
    commands = [
        ("inspect", tmp_path / "m"),
        ("evaluate", tmp_path / "m", tmp_path / "t.csv"),
    ]
    n_refused = 0
    for number, path in enumerate(paths[::6]):
        manifest = json.loads(json.dumps(GOOD))
        holder = manifest
        for name in path[:-1]:
            holder = holder[name]
        if rng.random() < 0.2:
            del holder[path[-1]]
        else:
            holder[path[-1]] = WRONG[rng.integers(len(WRONG))]
        (tmp_path / "m").write_bytes(_archive(manifest, payload))
        answer = semiordinal(*commands[number % 2])
        n_refused += answer.exit_code == 1
        assert answer.exit_code in (0, 1), (path, answer.err)
        assert answer.err.count("\n") == (answer.exit_code == 1)
        assert "\x1b" not in answer.out + answer.err
    assert len(paths[::6]) > n_refused > 5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"labeled": "many"}, "'labeled' is not"),
        ({"labeled": True}, "'labeled' is not"),
        ({"labeled": -1}, "counts that are none"),
        ({"data": []}, "'data' is not"),
        ({"data": {**GOOD["data"], "rows": 10**400}}, "counts that are none"),
        ({"dropped": {"a": 5}}, "'dropped' is not"),
        ({"versions": ["1"]}, "'versions' is not"),
        ({"class_counts": {"small": None}}, "'class_counts' is not"),
        ({"created": None}, "which rows"),
        ({"chosen": {"weights": {"linear": "most"}}}, "'chosen' is not"),
    ],
)
def test_manifests_of_another_form_are_refused(tmp_path, change, reason):
    with pytest.raises(ValueError, match=reason):
        check_manifest({**GOOD, **change})
    payload = zipfile.ZipFile(KEPT / "written-table.semiordinal").read("model.skops")
    (tmp_path / "m").write_bytes(_archive({**GOOD, **change}, payload))
    assert "manifest of the model file does not fit" in refused(1, "inspect", tmp_path / "m")
