"""Whatever holds chunks becomes chunked views with the same values; what cannot be used is refused by name."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

from latefusion import Views
from latefusion.distributed.chunks import ChunkError
from latefusion.distributed.stores import chunked_views, is_chunked
from latefusion.validation.holes import empty_rows

ARRAY = np.random.default_rng(0).standard_normal((200, 4)).astype(np.float32)


def stored(kind, folder):
    path = folder / f"view.{kind}"
    if kind == "npy":
        np.save(path, ARRAY)
    elif kind == "zarr":
        zarr.create_array(str(path), data=ARRAY, chunks=(30, 2))
    else:
        pd.DataFrame(ARRAY, columns=list("abcd")).to_parquet(path)
    return path


def opened(kind, folder):
    if kind == "dask":
        return da.from_array(ARRAY, chunks=(70, 3))
    if kind == "frame":
        return dd.from_pandas(pd.DataFrame(ARRAY, columns=list("abcd")), npartitions=3)
    if kind == "memmap":
        return np.load(stored("npy", folder), mmap_mode="r")
    if kind == "fortran":
        np.save(folder / "f.npy", np.asfortranarray(ARRAY))
        return np.load(folder / "f.npy", mmap_mode="r")
    if kind == "zarr array":
        return zarr.open(str(stored("zarr", folder)))
    return stored(kind, folder)


@pytest.mark.parametrize("kind", ["dask", "frame", "memmap", "fortran", "zarr array", "npy", "zarr", "parquet"])
def test_values_are_those_of_the_store_in_chunks_of_rows(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("latefusion.distributed.stores.CHUNK_BYTES", 1000)
    view = opened(kind, tmp_path)
    assert is_chunked([view])
    assert is_chunked(view)
    views = chunked_views({"a": view, "b": ARRAY})
    assert views.names == ("a", "b")
    for array in views.arrays:
        assert array.dtype == np.float32
        assert array.numblocks[1] == 1
        np.testing.assert_array_equal(array.compute(), ARRAY)
    assert views.columns == ({"a": list("abcd")} if kind in ("frame", "parquet") else {})


def test_what_lies_in_memory_is_not_chunked():
    frame = pd.DataFrame(ARRAY)
    for X in (ARRAY, [ARRAY, ARRAY], {"a": ARRAY}, Views([ARRAY]), frame, scipy.sparse.csr_array(ARRAY)):
        assert not is_chunked(X)
    assert is_chunked([ARRAY, da.zeros((3, 3))])
    assert is_chunked(Views([ARRAY, da.zeros((200, 3))]))


def test_a_part_of_a_memory_map_is_an_array_in_memory(tmp_path):
    """It does not know where it begins in the file."""
    view = np.load(stored("npy", tmp_path), mmap_mode="r")
    assert not is_chunked(view[50:])
    views = chunked_views({"a": view[50:], "b": da.from_array(ARRAY[50:])})
    np.testing.assert_array_equal(views.arrays[0].compute(), ARRAY[50:])


def test_whole_numbers_become_floats_and_sparse_matrices_stay_sparse():
    views = chunked_views([da.ones((20, 3), dtype=np.int32), scipy.sparse.csr_array(np.eye(20))])
    assert views.arrays[0].dtype == np.float64
    assert scipy.sparse.issparse(views.arrays[1].compute())


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_chunks_of_other_array_libraries_come_to_numpy_one_by_one(library):
    xp = pytest.importorskip(library)
    empty = xp.empty((0, 0), dtype=xp.float32)
    chunks = da.from_array(ARRAY, chunks=(50, -1)).map_blocks(lambda block: xp.asarray(block.copy()), meta=empty)
    views = chunked_views([chunks])
    assert views.arrays[0].dtype == np.float32
    assert views.arrays[0].numblocks == (4, 1)
    np.testing.assert_array_equal(views.arrays[0].compute(), ARRAY)


def test_names_come_from_the_model_where_a_list_has_none():
    views = chunked_views([da.ones((20, 3)), da.ones((20, 2))], names=("first", "second"))
    assert views.names == ("first", "second")


def refused(message, view, error=ValueError):
    with pytest.raises(error, match=message):
        chunked_views({"good": da.ones((200, 3)), "bad": view})


def test_what_cannot_be_used_is_refused_by_name(tmp_path):
    unknown = da.from_array(ARRAY, chunks=(50, 4))
    refused(r"View 'bad' has chunks of unknown size.*compute_chunk_sizes", unknown[unknown[:, 0] > 0])
    refused(r"'bad' has the dtype object", da.from_array(ARRAY.astype(object), chunks=50))
    refused(r"'bad' has the dtype complex128", da.ones((200, 2), dtype=complex))
    refused(r"same number of rows; got \{'good': 200, 'bad': 199\}", da.ones((199, 2)))
    refused(r"'bad' must have two dimensions.*\(200,\)", da.ones(200))
    refused(r"'bad' is empty", da.ones((200, 0)))
    np.save(tmp_path / "numbers.npy", np.ones(200))
    refused(r"'bad' must have two dimensions.*\(200,\)", tmp_path / "numbers.npy")
    refused(r"'bad'.*'.*nowhere.zarr' does not exist", tmp_path / "nowhere.zarr", FileNotFoundError)
    frame = pd.DataFrame({"x": np.zeros(200), "colour": ["red"] * 200})
    refused(r"'bad' contains columns that are not numeric: \{'colour': ", dd.from_pandas(frame, npartitions=2))
    (tmp_path / "words.zarr").mkdir()
    refused(r"'bad'.*words.zarr' cannot be opened as a .npy file, Zarr array or Parquet", tmp_path / "words.zarr")


@pytest.mark.parametrize("damage", ["pages", "end"])
def test_a_damaged_part_of_a_parquet_folder_is_named(damage, tmp_path):
    dd.from_pandas(pd.DataFrame(ARRAY, columns=list("abcd")), npartitions=4).to_parquet(tmp_path / "bad")
    part = sorted((tmp_path / "bad").glob("*.parquet"))[2]
    whole = part.read_bytes()
    half = len(whole) // 2
    part.write_bytes(whole[:40] + bytes(half - 40) + whole[half:] if damage == "pages" else whole[:200])
    with pytest.raises(ChunkError, match=r"View 'bad', chunk 2 cannot be read or computed") as caught:
        chunked_views({"good": da.ones((200, 3)), "bad": tmp_path / "bad"})
    assert (caught.value.view, caught.value.chunk) == ("bad", 2)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_mask_becomes_rows_of_nan(sparse):
    """Whatever is there; the same as a sample that holds nothing but NaN."""
    mask = np.ones((200, 2), dtype=bool)
    mask[[3, 77], 1] = False
    view = np.where(np.arange(200)[:, None] == 77, np.inf, ARRAY)
    view = scipy.sparse.csr_array(view) if sparse else view
    views = chunked_views(Views([da.from_array(ARRAY, chunks=(50, -1)), view], mask=mask))
    np.testing.assert_array_equal(views.arrays[0].compute(), ARRAY)
    found = views.arrays[1].compute()
    np.testing.assert_array_equal(np.flatnonzero(empty_rows(found)), [3, 77])
    found = found.toarray() if sparse else found
    np.testing.assert_array_equal(found[mask[:, 1]], ARRAY[mask[:, 1]])
    assert found.dtype == np.float32
