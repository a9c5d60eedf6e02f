"""Unlabelled rows that are read in passes give the fit that rows in memory give."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from scale_problems import NAMES, assert_same_fit, labeled, parameters, unlabeled, write_parts
from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal._rows import parquet
from semiordinal._rows.sources import Features
from semiordinal._utils.computing import Workspace, blas_threads_for, block_threads, map_in_order
from semiordinal.baselines import TransductiveOrdinalClassifier
from semiordinal.scale import BlockSource, ParquetSource

RISKS = {"SV": 0.0, "LU": 1.0, "SEMI": 0.3}
X, Y = labeled()
ROWS = unlabeled()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("rows") / "parts", ROWS)


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("loss", ["at", "ls"])
@pytest.mark.parametrize("model", [LinearOrdinalClassifier, KernelOrdinalClassifier])
def test_files_give_the_fit_of_rows_in_memory(folder, model, loss, risk):
    make = {"loss": loss, "unlabeled_weight": RISKS[risk], "l2": 1e-3}
    in_memory = model(**make).fit(X, Y, X_unlabeled=ROWS)
    from_files = model(**make).fit(X, Y, X_unlabeled=folder)
    assert_same_fit(from_files, in_memory)
    assert from_files.objective_value_ == pytest.approx(in_memory.objective_value_, rel=1e-10)
    np.testing.assert_array_equal(from_files.predict(ROWS[:500]), in_memory.predict(ROWS[:500]))


@pytest.mark.parametrize("loss", ["at", "ls"])
def test_neither_chunks_nor_the_order_of_files_matter(folder, loss):
    files = sorted(folder.iterdir())
    model = LinearOrdinalClassifier(loss=loss)
    first = LinearOrdinalClassifier(loss=loss).fit(X, Y, X_unlabeled=folder)
    sources = [
        ParquetSource(folder, chunk_rows=777),
        ParquetSource(folder, chunk_rows=10**6),
        files[::-1],
    ]
    for source in sources:
        assert_same_fit(model.fit(X, Y, X_unlabeled=source), first)


def test_every_kind_of_source(folder):
    def blocks():
        for start in range(0, len(ROWS), 4321):
            yield ROWS[start : start + 4321][NAMES[::-1]]

    def arrays():
        return (block[NAMES].to_numpy() for block in blocks())

    in_memory = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=ROWS)
    sources = [
        str(folder),
        folder / "*.parquet",
        [folder / "part-2.parquet", str(folder / "part-[01].parquet")],
        pyarrow.dataset.dataset(folder),
        blocks,
        BlockSource(arrays),
    ]
    for source in sources:
        assert_same_fit(LinearOrdinalClassifier().fit(X, Y, X_unlabeled=source), in_memory)


def test_weights_and_more_unlabelled_rows_in_memory(folder):
    """Rows of X without a label, and weights, count beside the rows of the source."""
    y = np.where(np.arange(len(Y)) % 3 == 0, np.nan, Y)
    weights = np.random.default_rng(3).uniform(0.5, 2, len(Y))
    weights[:5] = 0
    for loss in ("at", "ls"):
        model = LinearOrdinalClassifier(loss=loss)
        in_memory = LinearOrdinalClassifier(loss=loss).fit(X, y, weights, X_unlabeled=ROWS)
        assert_same_fit(model.fit(X, y, weights, X_unlabeled=folder), in_memory)


def test_a_correction_that_binds(folder):
    """Slopes of the correction are searched with the rows in files."""
    settings = {"correction": "non_negative", "unlabeled_weight": 1.0, "removed_class": 4}
    prior = [0.6, 0.2, 0.15, 0.05]
    in_memory = LinearOrdinalClassifier(class_prior=prior, **settings)
    in_memory.fit(X, Y, X_unlabeled=ROWS)
    free = LinearOrdinalClassifier(class_prior=prior, **{**settings, "correction": "none"})
    assert in_memory.objective_value_ > free.fit(X, Y, X_unlabeled=ROWS).objective_value_ + 1e-4
    from_files = LinearOrdinalClassifier(class_prior=prior, **settings)
    assert_same_fit(from_files.fit(X, Y, X_unlabeled=folder), in_memory, 1e-6)


def test_rows_unlike_the_labelled_ones_keep_their_digits(tmp_path):
    """Where the labelled rows mislead about where columns lie, the rows are summed again."""
    far = ROWS.astype(np.float64).assign(dose=lambda rows: rows["dose"] + 1e6)
    folder = write_parts(tmp_path / "far", far)
    for loss in ("at", "ls"):
        in_memory = LinearOrdinalClassifier(loss=loss).fit(X, Y, X_unlabeled=far)
        model = LinearOrdinalClassifier(loss=loss).fit(X, Y, X_unlabeled=folder)
        np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=1e-6)


def test_few_passes(tmp_path):
    """One for least squares; for all thresholds, a start on some rows saves most."""
    rows = unlabeled(200_000)
    folder = write_parts(tmp_path / "many", rows, row_group=50_000)
    assert LinearOrdinalClassifier(loss="ls").fit(X, Y, X_unlabeled=folder).n_passes_ == 1
    model = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=folder)
    assert model.n_passes_ <= 6
    assert model.n_unlabeled_ == 200_000
    assert_same_fit(model, LinearOrdinalClassifier().fit(X, Y, X_unlabeled=rows))


def test_threads_change_nothing(folder):
    models = []
    for threads in (1, 4):
        with threadpool_limits(threads, user_api="blas"):
            models.append(LinearOrdinalClassifier().fit(X, Y, X_unlabeled=folder))
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    np.testing.assert_array_equal(models[0].thresholds_, models[1].thresholds_)


def test_pieces_are_read_in_any_order_by_any_thread(folder, monkeypatch):
    """Each row group a piece, several of them from one file at once, the last ones first."""
    monkeypatch.setattr(parquet, "_PIECE_ROWS", 4000)
    source = ParquetSource(folder, chunk_rows=1500).open(Features(len(NAMES), NAMES))
    pieces = list(source._pieces())
    assert [piece.n_rows for piece in pieces] == [4000, 4000, 2000] * 3

    def read(piece):
        return [(c.start, np.column_stack(c.values.columns)) for c in piece.chunks()]

    with ThreadPoolExecutor(4) as pool:
        found = [part for parts in pool.map(read, pieces[::-1]) for part in parts]
    assert len(found) == 3 * (3 + 3 + 2)
    for start, values in found:
        np.testing.assert_array_equal(values, ROWS[NAMES].iloc[start : start + len(values)])
    assert sum(len(values) for _, values in found) == len(ROWS)


@pytest.mark.parametrize("loss", ["at", "ls"])
def test_threads_change_nothing_where_files_have_several_pieces(folder, monkeypatch, loss):
    whole = LinearOrdinalClassifier(loss=loss).fit(X, Y, X_unlabeled=folder)
    monkeypatch.setattr(parquet, "_PIECE_ROWS", 4000)
    models = []
    for threads in (1, 4):
        with threadpool_limits(threads, user_api="blas"):
            models.append(LinearOrdinalClassifier(loss=loss).fit(X, Y, X_unlabeled=folder))
    np.testing.assert_array_equal(parameters(models[0]), parameters(models[1]))
    assert_same_fit(models[0], whole, 1e-11)


def test_row_groups_without_rows_are_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_PIECE_ROWS", 500)
    table = pa.Table.from_pandas(ROWS[:2000], preserve_index=False)
    path = tmp_path / "rows.parquet"
    with pq.ParquetWriter(path, table.schema) as writer:
        for start, stop in ((0, 0), (0, 1000), (0, 0), (1000, 2000), (0, 0)):
            writer.write_table(table.slice(start, stop - start))
    assert pq.ParquetFile(path).num_row_groups == 5
    model = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=path)
    assert_same_fit(model, LinearOrdinalClassifier().fit(X, Y, X_unlabeled=ROWS[:2000]))


def test_threads_in_memory_change_nothing():
    rows = np.random.default_rng(0).normal(size=(1_100_000, 4)).astype(np.float32)
    models = []
    for threads in (1, 4):
        with threadpool_limits(threads, user_api="blas"):
            models.append(LinearOrdinalClassifier().fit(X.to_numpy(), Y, X_unlabeled=rows))
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_block_threads_are_those_that_blas_had():
    with threadpool_limits(3, user_api="blas"):
        assert block_threads() == 1
        with blas_threads_for(5), blas_threads_for(5):
            assert block_threads() == 3
    with threadpool_limits(1, user_api="blas"), blas_threads_for(5):
        assert block_threads() == 1


def test_map_in_order_reads_ahead_but_not_far():
    taken, done = [], []

    def items():
        for i in range(20):
            taken.append(i)
            assert i - len(done) <= 4
            yield i

    for result in map_in_order(lambda i: i * i, items(), 2):
        done.append(result)
    assert done == [i * i for i in range(20)]


def test_map_in_order_ends_with_the_first_error():
    calls = []

    def work(i):
        calls.append(i)
        if i == 3:
            raise KeyError("three")
        return i

    with pytest.raises(KeyError, match="three"):
        list(map_in_order(work, range(1000), 2))
    assert len(calls) < 20


def test_workspaces_are_kept_and_are_each_threads_own():
    space = Workspace()
    space((10, 3)), space((5,))
    space.clear()
    first = space((10, 3))
    assert first.flags.f_contiguous
    second = space((5,))
    assert not np.shares_memory(first, second)
    space.clear()
    again = space((10, 3))
    assert np.shares_memory(first, again)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(lambda: (space((10, 3)), space.clear(), space((10, 3)))[2]).result()
    assert not np.shares_memory(again, other)


def test_progress_counts_all_rows_of_every_pass(folder, monkeypatch):
    import semiordinal._rows.sources as module

    bars = []

    class Bar:
        def __init__(self, title, total, show):
            self.title, self.total, self.steps = title, total, 0
            if show:
                bars.append(self)

        def __enter__(self):
            return self.step

        def __exit__(self, *_):
            return False

        def step(self, n_rows):
            self.steps += n_rows

    monkeypatch.setattr(module, "progress", Bar)
    model = LinearOrdinalClassifier(verbose=True).fit(X, Y, X_unlabeled=folder)
    assert len(bars) == model.n_passes_ > 1
    assert all(bar.steps == bar.total == len(ROWS) for bar in bars)
    assert bars[1].title.startswith("Pass 2")
    bars.clear()
    LinearOrdinalClassifier().fit(X, Y, X_unlabeled=folder)
    assert not bars


def test_whole_numbers_and_flags_are_numbers(tmp_path):
    frame = ROWS.head(3000).assign(
        age=lambda f: f["age"].astype(np.int64), dose=lambda f: f["dose"] > 0
    )
    folder = write_parts(tmp_path / "mixed", frame)
    in_memory = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=frame.astype(np.float64))
    assert_same_fit(LinearOrdinalClassifier().fit(X, Y, X_unlabeled=folder), in_memory)


def test_named_columns_for_an_x_without_names(folder):
    named = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=folder)
    source = ParquetSource(folder, columns=NAMES)
    model = LinearOrdinalClassifier().fit(X.to_numpy(), Y, X_unlabeled=source)
    assert_same_fit(model, named)


def test_what_holds_all_rows_says_so(folder):
    message = (
        "TransductiveOrdinalClassifier holds all rows.*linear and kernel classifiers take files"
    )
    with pytest.raises(ValueError, match=message):
        TransductiveOrdinalClassifier().fit(X, Y, X_unlabeled=folder)
    with pytest.raises(ValueError, match=r"centers='all' needs all rows in memory"):
        KernelOrdinalClassifier(centers="all").fit(X, Y, X_unlabeled=folder)
    with pytest.raises(ValueError, match="X is sparse"):
        LinearOrdinalClassifier().fit(sparse.csr_matrix(X), Y, X_unlabeled=lambda: iter([X]))


def test_labels_are_checked_before_rows_are_read():
    def never():
        raise AssertionError("rows were read")
        yield

    with pytest.raises(ValueError, match=r"Class 9 has no labelled row"):
        LinearOrdinalClassifier(classes=[1, 2, 3, 4, 9]).fit(X, Y, X_unlabeled=never)
    with pytest.raises(ValueError, match="max_unlabeled=0 must be"):
        LinearOrdinalClassifier(max_unlabeled=0).fit(X, Y, X_unlabeled=never)


def test_features_are_named_in_messages():
    assert Features(2).label(1) == "column 1"
    assert Features(2, ["a", "b"]).label(1) == "column 'b'"
