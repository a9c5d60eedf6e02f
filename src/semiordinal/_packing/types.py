"""Types that may be in a model file, and the names that they have there."""

from __future__ import annotations

from typing import Any

from .payload import full_name, typed_nodes

# Names of our classes in model files, and where the classes are imported from. Files must
# outlive any move of a module, so no name is ever taken out, and a class that moves keeps its own.
_CLASS_PATHS = {
    "semiordinal.AutoOrdinalClassifier": "semiordinal.AutoOrdinalClassifier",
    "semiordinal.BoostingOrdinalClassifier": "semiordinal.BoostingOrdinalClassifier",
    "semiordinal.CalibratedOrdinalClassifier": "semiordinal.CalibratedOrdinalClassifier",
    "semiordinal.KernelOrdinalClassifier": "semiordinal.KernelOrdinalClassifier",
    "semiordinal.KernelOrdinalClassifierCV": "semiordinal.KernelOrdinalClassifierCV",
    "semiordinal.LinearOrdinalClassifier": "semiordinal.LinearOrdinalClassifier",
    "semiordinal.LinearOrdinalClassifierCV": "semiordinal.LinearOrdinalClassifierCV",
    "semiordinal.NeuralOrdinalClassifierCV": "semiordinal.NeuralOrdinalClassifierCV",
    "semiordinal.OrdinalSelfTraining": "semiordinal.OrdinalSelfTraining",
    "semiordinal.StoredBoosting": "semiordinal._packing.boosting.StoredBoosting",
    "semiordinal.StoredForest": "semiordinal._packing.forests.StoredForest",
    "semiordinal.StoredNetwork": "semiordinal.nn._stored.StoredNetwork",
    "semiordinal.TransductiveOrdinalClassifier": "semiordinal.TransductiveOrdinalClassifier",
    "semiordinal.TreeOrdinalClassifier": "semiordinal.TreeOrdinalClassifier",
    "semiordinal.TypedColumns": "semiordinal._tables.encoding.TypedColumns",
}
_STORED_NAMES = {name.rpartition(".")[2]: name for name in _CLASS_PATHS}
# The names in the first files, which were those of private modules.
_CLASS_PATHS |= {
    f"semiordinal.{module}.{name}": _CLASS_PATHS[_STORED_NAMES[name]]
    for module, name in (
        ("baselines.self_training", "OrdinalSelfTraining"),
        ("baselines.transductive", "TransductiveOrdinalClassifier"),
        ("estimators.kernel", "KernelOrdinalClassifier"),
        ("estimators.linear", "LinearOrdinalClassifier"),
        ("estimators.tuned", "KernelOrdinalClassifierCV"),
        ("estimators.tuned", "LinearOrdinalClassifierCV"),
        ("nn.stored", "StoredNetwork"),
        ("tables.encoding", "TypedColumns"),
    )
}
# Every type that may be in a model file, by its full name. Those whose compiled code trusts its
# arrays are not among them. Decision trees are packed, see below; search trees are refused, and
# so are classifiers on graphs of neighbours.
TRUSTED_TYPES = frozenset(
    {
        *_CLASS_PATHS,
        "builtins.bool",
        "builtins.dict",
        "builtins.float",
        "builtins.int",
        "builtins.list",
        "builtins.slice",
        "builtins.str",
        "builtins.tuple",
        "numpy.bool",
        "numpy.bool_",
        "numpy.dtype",
        "numpy.float32",
        "numpy.float64",
        "numpy.int32",
        "numpy.int64",
        "numpy.ndarray",
        "numpy.object_",
        "numpy.str_",
        "numpy.uint8",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        # Transformers whose arrays NumPy reads, which checks their sizes; no compiled code does.
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.compose._column_transformer._RemainderColsList",  # in scikit-learn 1.6
        "sklearn.decomposition._pca.PCA",
        "sklearn.decomposition._truncated_svd.TruncatedSVD",
        "sklearn.feature_selection._variance_threshold.VarianceThreshold",
        "sklearn.impute._base.MissingIndicator",
        "sklearn.impute._base.SimpleImputer",
        "sklearn.kernel_approximation.RBFSampler",
        "sklearn.pipeline.FeatureUnion",
        "sklearn.pipeline.Pipeline",
        "sklearn.preprocessing._data.Binarizer",
        "sklearn.preprocessing._data.MaxAbsScaler",
        "sklearn.preprocessing._data.MinMaxScaler",
        "sklearn.preprocessing._data.Normalizer",
        "sklearn.preprocessing._data.PowerTransformer",
        "sklearn.preprocessing._data.QuantileTransformer",
        "sklearn.preprocessing._data.RobustScaler",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing._encoders.OneHotEncoder",
        "sklearn.preprocessing._encoders.OrdinalEncoder",
        "sklearn.preprocessing._function_transformer.FunctionTransformer",  # without a function
    }
)
# What skops may do with them. Absent are the kinds of node that name functions and methods.
_TRUSTED_NODES = frozenset(
    {
        "DTypeNode",
        "DictNode",
        "JsonNode",
        "ListNode",
        "NdArrayNode",
        "ObjectNode",
        "SliceNode",
        "SparseMatrixNode",
        "TupleNode",
        "TypeNode",
    }
)


def unknown_types(schema: Any, more: frozenset[str]) -> list[str]:
    """Full names of the types of a schema that are neither on our list nor on another."""
    return sorted(
        {
            full_name(node)
            for node in typed_nodes(schema)
            if full_name(node) not in more
            and (
                full_name(node) not in TRUSTED_TYPES
                or str(node.get("__loader__")) not in _TRUSTED_NODES
            )
        }
    )


def stored_name(name: str) -> str:
    """The name of a type in model files, which for our classes does not tell their module.

    Examples
    --------
    >>> stored_name("semiordinal._score.auto.AutoOrdinalClassifier")
    'semiordinal.AutoOrdinalClassifier'
    """
    is_own = name.startswith("semiordinal.")
    return _STORED_NAMES.get(name.rpartition(".")[2], name) if is_own else name


def import_path(stored: str) -> str:
    """Where a type in model files is imported from.

    Examples
    --------
    >>> import_path("semiordinal.StoredForest")
    'semiordinal._packing.forests.StoredForest'
    """
    return _CLASS_PATHS.get(stored, stored)
