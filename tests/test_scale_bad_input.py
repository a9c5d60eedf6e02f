"""Files that are not as they should be: errors that name them, and no model left behind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import NotFittedError

from scale_problems import NAMES, labeled, unlabeled, write_parts
from semiordinal import LinearOrdinalClassifier
from semiordinal._rows import SourceError, parquet
from semiordinal._rows.sources import Features
from semiordinal.scale import ParquetSource

X, Y = labeled()
ROWS = unlabeled(9000)


@pytest.fixture
def folder(tmp_path):
    return write_parts(tmp_path / "parts", ROWS, row_group=1000)


def refused(source, model=None) -> str:
    """The message of a fit that fails, and leaves no model."""
    model = LinearOrdinalClassifier() if model is None else model
    with pytest.raises(SourceError) as caught:
        model.fit(X, Y, X_unlabeled=source)
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError):
        model.predict(X)
    return str(caught.value)


def rewrite(path, change) -> None:
    frame = change(pd.read_parquet(path))
    frame.to_parquet(path, row_group_size=1000, index=False)


def test_a_missing_column(folder):
    rewrite(folder / "part-1.parquet", lambda f: f.drop(columns="dose"))
    message = refused(folder)
    assert "part-1.parquet" in message
    assert "lacks the column 'dose'" in message


def test_a_renamed_column(folder):
    rewrite(folder / "part-2.parquet", lambda f: f.rename(columns={"age": "Age", "dose": "d"}))
    message = refused(folder)
    assert "part-2.parquet" in message
    assert "lacks the columns 'age', 'dose'" in message
    assert "which are needed. Its columns are: 'weight', 'height', 'Age', 'd'" in message


@pytest.mark.parametrize("kind", ["str", "datetime64[s]"])
def test_a_column_that_is_no_number(folder, kind):
    rewrite(folder / "part-1.parquet", lambda f: f.assign(dose=f["dose"].astype(int).astype(kind)))
    message = refused(folder)
    assert "part-1.parquet" in message
    assert "column 'dose' is of type" in message


def test_a_column_twice(folder):
    table = pq.read_table(folder / "part-0.parquet")
    pq.write_table(table.append_column("dose", table["dose"]), folder / "part-0.parquet")
    assert "more than one column 'dose'" in refused(folder)


@pytest.mark.parametrize("value", [np.nan, np.inf, None])
@pytest.mark.parametrize("chunk_rows", [700, 2500, 10**6])
@pytest.mark.parametrize("piece_rows", [1000, 10**6])
def test_nan_is_named_by_file_row_group_and_row(folder, monkeypatch, value, chunk_rows, piece_rows):
    monkeypatch.setattr(parquet, "_PIECE_ROWS", piece_rows)

    def spoil(frame):
        frame = frame.astype({"dose": "Float32" if value is None else "float32"})
        frame.loc[2345, "dose"] = pd.NA if value is None else value
        return frame

    rewrite(folder / "part-1.parquet", spoil)
    message = refused(ParquetSource(folder, chunk_rows=chunk_rows))
    assert "part-1.parquet', row group 2, row 345, column 'dose'" in message


def test_nan_in_rows_that_are_drawn_from(folder):
    rewrite(folder / "part-1.parquet", lambda f: f.assign(age=np.nan))
    message = refused(folder, LinearOrdinalClassifier(max_unlabeled=10))
    assert "part-1.parquet', row group 0, row 0, column 'age'" in message


def test_a_file_without_rows(folder):
    rewrite(folder / "part-2.parquet", lambda f: f[:0])
    message = refused(folder)
    assert "part-2.parquet' has no rows" in message


def test_a_truncated_file(folder):
    path = folder / "part-1.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    message = refused(folder)
    assert "part-1.parquet' cannot be read" in message


def test_a_file_with_a_hole(folder):
    """The footer is whole, so that only reading a row group shows that it is not."""
    path = folder / "part-1.parquet"
    place = pq.ParquetFile(path).metadata.row_group(1).column(0)
    content = bytearray(path.read_bytes())
    start = place.dictionary_page_offset or place.data_page_offset
    content[start : start + place.total_compressed_size] = b"\xff" * place.total_compressed_size
    path.write_bytes(content)
    message = refused(ParquetSource(folder, chunk_rows=1000))
    assert "part-1.parquet', row group 1, cannot be read" in message


def test_a_folder_without_parquet_files(tmp_path):
    (tmp_path / "rows.csv").write_text("age\n1\n")
    (tmp_path / "_temporary").mkdir()
    write_parts(tmp_path / "_temporary", ROWS)
    assert f"'{tmp_path}' holds no Parquet files" in refused(tmp_path)


def test_paths_that_lead_nowhere(tmp_path):
    assert "There is no file or folder" in refused(tmp_path / "nothing.parquet")
    assert "No file matches" in refused(str(tmp_path / "*.parquet"))


def test_a_file_that_is_no_parquet(tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_text("age,dose\n1,2\n")
    assert "rows.parquet' cannot be read" in refused(path)


class Meddler(ParquetSource):
    """Something is done to the files after the first pass."""

    def __init__(self, path, meddle):
        super().__init__(path)
        self.meddle = meddle

    def _reduce(self, chunk_sum, step):
        total = super()._reduce(chunk_sum, step)
        if self.n_passes == 1:
            self.meddle()
        return total


def test_a_file_deleted_in_the_middle_of_a_fit(folder):
    path = folder / "part-2.parquet"
    message = refused(Meddler(folder, path.unlink))
    assert "part-2.parquet' is not there" in message


def test_a_file_rewritten_in_the_middle_of_a_fit(folder):
    path = folder / "part-0.parquet"
    message = refused(Meddler(folder, lambda: rewrite(path, lambda f: f[:-1])))
    assert "part-0.parquet' was changed" in message


def test_a_file_rewritten_while_its_row_groups_are_handed_out(folder):
    source = ParquetSource(folder / "part-0.parquet").open(Features(len(NAMES), NAMES))
    (piece,) = source._pieces()
    rewrite(folder / "part-0.parquet", lambda f: f[:-1])
    with pytest.raises(SourceError, match=r"part-0.parquet' was changed"):
        next(piece.chunks())


def test_of_two_faults_the_first_is_told(folder):
    """Whichever thread finds its own fault first, that of the earlier rows is reported."""
    for part in (1, 2):
        rewrite(folder / f"part-{part}.parquet", lambda f: f.assign(age=np.nan))
    for _ in range(5):
        assert "part-1.parquet', row group 0, row 0" in refused(folder)


def test_a_model_that_was_there_stays(folder):
    """A fit that fails leaves the last one as it was, names of features and all."""
    model = LinearOrdinalClassifier().fit(X[NAMES[:2]], Y)
    before = model.coef_.copy()
    (folder / "part-1.parquet").write_bytes(b"PAR1")
    with pytest.raises(SourceError):
        model.fit(X, Y, X_unlabeled=folder)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.predict(X[NAMES[:2]]).shape == Y.shape


def test_names_without_names(folder):
    model = LinearOrdinalClassifier()
    with pytest.raises(SourceError, match="X has none, so they cannot be matched"):
        model.fit(X.to_numpy(), Y, X_unlabeled=folder)
    with pytest.raises(SourceError, match="columns names 2 columns, and X has 4"):
        model.fit(X, Y, X_unlabeled=ParquetSource(folder, columns=NAMES[:2]))


def test_datasets_that_are_not_plain_files(folder, tmp_path):
    dataset = pa.dataset.dataset(folder)
    filtered = dataset.filter(pa.dataset.field("age") > 0)
    assert "has a filter" in refused(filtered)
    in_memory = pa.dataset.dataset(pa.Table.from_pandas(ROWS))
    assert "not one of Parquet files" in refused(in_memory)


def test_iterators_of_other_things():
    def fails_later():
        yield ROWS[:100]
        raise OSError("the disk is gone")

    rows = ROWS.to_numpy()
    assert "block 1 of X_unlabeled has the shape (3, 2)" in refused(
        lambda: iter([rows, np.ones((3, 2))])
    )
    assert "block 0 of X_unlabeled holds" in refused(lambda: iter([np.full((3, 4), "a")]))
    assert "block 0 of X_unlabeled lacks the column 'dose'" in refused(
        lambda: iter([ROWS.drop(columns="dose")])
    )
    assert "has no rows" in refused(lambda: iter([]))
    assert "not an iterator of blocks" in refused(lambda: 3)
    bad = rows.copy()
    bad[17, 1] = np.nan
    assert "block 1 of X_unlabeled, row 17, column 'dose'" in refused(lambda: iter([rows, bad]))
    with pytest.raises(OSError, match="the disk is gone"):
        LinearOrdinalClassifier().fit(X, Y, X_unlabeled=fails_later)


def test_an_iterator_that_changes():
    lengths = iter([9000, 8000, 8000, 8000])
    message = refused(lambda: iter([ROWS[: next(lengths)]]))
    assert "gave 8000 rows in one pass and 9000 in the first" in message


def test_a_sparse_block():
    from scipy import sparse

    assert "is sparse" in refused(lambda: iter([sparse.csr_matrix(ROWS)]))
