"""Rows on the workers of a Dask cluster give the fit that rows in memory give."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from scale_problems import NAMES, assert_same_fit, labeled, unlabeled, write_parts
from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal._rows import SourceError
from semiordinal.model_selection import LabeledKFold
from semiordinal.scale import ClusterError, DaskSource

pytest.importorskip("hypothesis", reason="of the extra dev")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from property_settings import examples

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

RISKS = {"SV": 0.0, "LU": 1.0, "SEMI": 0.3}
X, Y = labeled()
ROWS = unlabeled()


@contextmanager
def started(n_workers: int, processes: bool = True):
    """A cluster and its client; closed with patience, as a worker may be slow to end."""
    cluster = distributed.LocalCluster(
        n_workers=n_workers,
        processes=processes,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
    client = distributed.Client(cluster)
    try:
        yield cluster, client
    finally:
        client.close(timeout=30)
        cluster.close(timeout=60)


@pytest.fixture(scope="module")
def client():
    with started(2) as (_, client):
        yield client


@pytest.fixture
def frame(client):
    """A DataFrame of seven partitions, with its columns in another order."""
    return dd.from_pandas(ROWS[NAMES[::-1]], npartitions=7, sort=False)


def test_a_tuned_fit_on_dask_is_that_in_memory(frame):
    model = LinearOrdinalClassifierCV(class_prior="uniform", max_unlabeled=50_000, random_state=0)
    whole = clone(model).fit(X, Y, X_unlabeled=ROWS)
    model.fit(X, Y, X_unlabeled=frame)
    assert_same_fit(model, whole)
    assert (model.l2_, model.unlabeled_weight_) == (whole.l2_, whole.unlabeled_weight_)


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("loss", ["at", "ls"])
def test_two_workers_give_the_fit_of_rows_in_memory(frame, loss, risk):
    settings = {"loss": loss, "unlabeled_weight": RISKS[risk]}
    in_memory = LinearOrdinalClassifier(**settings).fit(X, Y, X_unlabeled=ROWS)
    model = LinearOrdinalClassifier(**settings).fit(X, Y, X_unlabeled=frame)
    assert_same_fit(model, in_memory)


def test_arrays_partitions_and_passes_anew(client, frame, tmp_path):
    in_memory = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=ROWS)
    array = da.from_array(ROWS.to_numpy(), chunks=(4100, 3))
    assert_same_fit(LinearOrdinalClassifier().fit(X.to_numpy(), Y, X_unlabeled=array), in_memory)
    files = dd.read_parquet(write_parts(tmp_path / "parts", ROWS))
    for source in (
        frame.repartition(npartitions=2),
        DaskSource(frame, client, persist=False),
        DaskSource(files, persist=False),
    ):
        assert_same_fit(LinearOrdinalClassifier().fit(X, Y, X_unlabeled=source), in_memory)


def test_a_source_is_held_from_fit_to_fit(client, frame):
    source, held = DaskSource(frame, client), None
    for loss in ("at", "ls"):
        in_memory = LinearOrdinalClassifier(loss=loss).fit(X, Y, X_unlabeled=ROWS)
        model = LinearOrdinalClassifier(loss=loss).fit(X, Y, X_unlabeled=source)
        assert_same_fit(model, in_memory)
        held = held or source._held
        assert source._held is held


def test_empty_partitions_are_passed_over(frame):
    some = frame[frame["age"] > 50]
    kept = ROWS[ROWS["age"] > 50]
    emptied = dd.concat([some, frame[frame["age"] > 1e9]])
    in_memory = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=kept)
    assert_same_fit(LinearOrdinalClassifier().fit(X, Y, X_unlabeled=emptied), in_memory)


def test_kernels(frame):
    settings = {"l2": 1e-3}
    in_memory = KernelOrdinalClassifier(**settings).fit(X, Y, X_unlabeled=ROWS)
    assert_same_fit(KernelOrdinalClassifier(**settings).fit(X, Y, X_unlabeled=frame), in_memory)


def test_max_unlabeled_draws_the_rows_that_it_draws_in_memory(frame):
    settings = {"max_unlabeled": 1500, "random_state": 3}
    in_memory = LinearOrdinalClassifier(**settings).fit(X, Y, X_unlabeled=ROWS)
    model = LinearOrdinalClassifier(**settings).fit(X, Y, X_unlabeled=frame)
    assert_same_fit(model, in_memory)
    assert (model.subsampling_.n_drawn, model.subsampling_.n_rows) == (1500, 30_000)


class Interrupted(DaskSource):
    """Something happens to the cluster after the first pass."""

    def __init__(self, collection, client, happening, patience=60.0):
        super().__init__(collection, client, patience=patience)
        self.happening = happening

    def _reduce(self, chunk_sum, step):
        total = super()._reduce(chunk_sum, step)
        if self.n_passes == 1:
            self.happening()
        return total


def slow(block, seconds=0.2):
    """Work that takes long enough to be interrupted."""
    time.sleep(seconds)
    return block


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_fit():
    """Partitions that it held are computed again, and the fit ends as it would have."""
    in_memory = LinearOrdinalClassifier().fit(X, Y, X_unlabeled=ROWS)
    with started(2) as (_, client):
        frame = dd.from_pandas(ROWS, npartitions=8, sort=False).map_partitions(slow, meta=ROWS[:0])
        victim = next(iter(client.run(os.getpid).values()))
        source = DaskSource(frame, client)
        threading.Timer(0.4, os.kill, (victim, signal.SIGKILL)).start()
        assert_same_fit(LinearOrdinalClassifier().fit(X, Y, X_unlabeled=source), in_memory)
        assert victim not in client.run(os.getpid).values()


def test_a_cluster_that_goes_away():
    """All workers leave and none comes: an error that names them, after patience alone."""
    with started(1, processes=False) as (cluster, client):
        frame = dd.from_pandas(ROWS, npartitions=4, sort=False)
        (address,) = client.run(os.getpid)
        source = Interrupted(frame, client, lambda: cluster.scale(0), patience=1.0)
        model = LinearOrdinalClassifier()
        start = time.monotonic()
        with pytest.raises(ClusterError, match="no workers for 1 seconds") as caught:
            model.fit(X, Y, X_unlabeled=source)
        assert time.monotonic() - start < 30
        assert address in str(caught.value)
        assert not hasattr(model, "coef_")


def test_a_scheduler_that_goes_away():
    with started(1, processes=False) as (cluster, client):
        frame = dd.from_pandas(ROWS, npartitions=4, sort=False)
        address = cluster.scheduler_address
        source = Interrupted(frame, client, cluster.close, patience=1.0)
        start = time.monotonic()
        with pytest.raises(ClusterError) as caught:
            LinearOrdinalClassifier().fit(X, Y, X_unlabeled=source)
        assert time.monotonic() - start < 60
        assert address in str(caught.value)


def refused(collection) -> str:
    model = LinearOrdinalClassifier()
    with pytest.raises(SourceError) as caught:
        model.fit(X, Y, X_unlabeled=collection)
    assert not hasattr(model, "coef_")
    return str(caught.value)


def test_bad_collections(client, frame):
    assert "lacks the column 'dose'" in refused(frame.drop(columns="dose"))
    assert "column 'dose' is of type" in refused(frame.assign(dose="much"))
    assert "has no rows" in refused(frame[frame["age"] > 1e9])
    assert "Dask Delayed" in refused(frame.to_delayed()[0])
    with pytest.raises(SourceError, match=r"rows of 4 columns"):
        LinearOrdinalClassifier().fit(X, Y, X_unlabeled=da.zeros((10, 3)))


def test_nan_is_named_by_partition_and_worker(client):
    spoilt = ROWS.copy()
    spoilt.loc[20_010, "dose"] = np.nan
    message = refused(dd.from_pandas(spoilt, npartitions=3, sort=False))
    assert "row 10 of partition 2" in message
    assert "column 'dose'" in message
    assert any(address in message for address in client.scheduler_info()["workers"])


def lie_about_types(block):
    return block.assign(dose="much")


def test_partitions_that_are_not_what_they_were_said_to_be(client, frame):
    lying = frame.map_partitions(lie_about_types, meta=frame._meta)
    message = refused(lying)
    assert "partition" in message
    assert "column 'dose'" in message
    assert "on worker tcp://" in message


def test_experiments_on_a_cluster(client):
    """scikit-learn's own loops run on the workers through joblib."""
    y = np.where(np.arange(len(Y)) % 4 == 0, np.nan, Y)
    cv = LabeledKFold(3)
    here = cross_val_score(LinearOrdinalClassifier(), X, y, cv=cv)
    with parallel_config("dask"):
        there = cross_val_score(LinearOrdinalClassifier(), X, y, cv=cv, n_jobs=2)
    np.testing.assert_allclose(there, here, rtol=1e-12)


def test_without_a_client(monkeypatch, frame):
    def none():
        raise ValueError("no client")

    monkeypatch.setattr(distributed, "get_client", none)
    assert "There is no Dask client" in refused(frame)


@pytest.fixture(scope="module")
def client_in_process():
    """Two workers that are threads, to which many small pieces of work are sent sooner."""
    with started(2, processes=False) as (_, client):
        yield client


# Meanwhile the scheduler's thread draws random numbers of its own.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@given(
    st.sampled_from(sorted(RISKS.values())),
    st.integers(1, 400),
    st.integers(1, 9),
    st.integers(0, 2**32 - 1),
)
@settings(examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_of_any_size_give_the_fit_of_rows_in_memory(
    client_in_process, weight, n_rows, n_chunks, seed
):
    """Of the squared margin, which takes a single pass over the rows."""
    rows = unlabeled(n_rows, seed).to_numpy()
    source = da.from_array(rows, chunks=(-(-n_rows // n_chunks), rows.shape[1]))
    model = LinearOrdinalClassifier(unlabeled_weight=weight, margin="squared")
    in_memory = clone(model).fit(X.to_numpy(), Y, X_unlabeled=rows)
    source = DaskSource(source, client_in_process)
    assert_same_fit(model.fit(X.to_numpy(), Y, X_unlabeled=source), in_memory, 1e-6)
