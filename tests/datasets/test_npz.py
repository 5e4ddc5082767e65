"""Data sets in .npz archives: real ones, written ones and broken ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.datasets import load_views
from latefusion.datasets.npz import npz_header


@pytest.fixture
def write(tmp_path):
    def save(name="toy", **content):
        path = tmp_path / f"{name}.npz"
        np.savez_compressed(path, **content)
        return path

    return save


def csr_parts(matrix, key):
    matrix = scipy.sparse.csr_array(matrix)
    return {f"{key}_{part}": np.asarray(getattr(matrix, part)) for part in ("data", "indices", "indptr", "shape")}


DENSE = np.arange(12, dtype=np.float32).reshape(4, 3)
SPARSE = np.array([[0, 1.0], [2.0, 0], [0, 0], [0, 3.0]])


def test_dense_and_sparse_views_come_back_as_written(write):
    path = write(
        view_0=DENSE, **csr_parts(SPARSE, "view_1"), y=[1, 0, 1, 1], names=["color", "words"], class_names=["a", "b"]
    )
    dataset = load_views(path)
    assert dataset.kind == "features"
    assert dataset.name == "toy"
    assert dataset.target_names == ("a", "b")
    assert dataset.views.names == ("color", "words")
    dense, sparse = dataset.views.arrays
    assert dense.dtype == np.float32
    np.testing.assert_array_equal(dense, DENSE)
    assert scipy.sparse.issparse(sparse)
    assert sparse.nnz == 3
    np.testing.assert_array_equal(sparse.toarray(), SPARSE)
    np.testing.assert_array_equal(dataset.target, [1, 0, 1, 1])
    np.testing.assert_array_equal(dataset.views[[3, 1]].arrays[1].toarray(), SPARSE[[3, 1]])


def test_kernels_are_recognized(write):
    kernels = np.random.default_rng(0).uniform(size=(2, 4, 4))
    dataset = load_views(str(write(kernel_0=kernels[0], kernel_1=kernels[1])))
    assert dataset.kind == "kernels"
    np.testing.assert_array_equal(dataset.views.arrays[1], kernels[1])


def test_names_labels_and_other_keys_are_optional(write):
    dataset = load_views(write(view_0=DENSE, view_1=SPARSE, y_other=[1, 2], remark="anything"))
    assert dataset.views.names == ("view_0", "view_1")
    assert dataset.target is None
    assert dataset.target_names == ()


def test_views_are_ordered_by_number_not_by_letters(write):
    dataset = load_views(write(**{f"view_{i}": np.full((2, 1), i) for i in range(11)}))
    assert [int(array[0, 0]) for array in dataset.views.arrays] == list(range(11))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"y": [0, 1]}, "none of the keys view_0"),
        ({"view_0": DENSE, "view_2": DENSE}, "has no key view_1"),
        ({"view_0": DENSE, "names": ["a", "b"]}, "has no key view_1"),
        ({"kernel_1": np.eye(4)}, "has no key kernel_0"),
        ({"view_0": DENSE, "kernel_0": np.eye(4)}, "both views and kernels"),
        ({"view_0": DENSE, **csr_parts(SPARSE, "view_0")}, "view_0 both dense and as sparse parts"),
        ({"view_0_data": np.ones(2), "view_0_shape": [2, 2]}, "has no key view_0_indices"),
        ({**csr_parts(SPARSE, "view_0"), "view_0_shape": [9, 2]}, "parts of view_0 do not make a sparse matrix"),
        ({**csr_parts(SPARSE, "view_0"), "view_0_indices": [0, 1, 7]}, "parts of view_0 do not make a sparse matrix"),
        ({"view_0": DENSE, "view_1": DENSE[:3]}, "view_1 has 3 rows, but the first one has 4"),
        ({"view_0": DENSE[0]}, r"view_0 has shape \(3,\)"),
        ({"view_0": np.array([["a", "b"]])}, "view_0 contains values of type <U1"),
        ({"kernel_0": np.eye(4)[:, :3]}, r"kernel_0 has shape \(4, 3\), but a kernel must be square"),
        ({"kernel_0": np.eye(4), "kernel_1": np.eye(3)}, "kernel_1 has 3 rows"),
        ({"view_0": DENSE, "y": [0, 1]}, r"y has shape \(2,\), but 4 samples"),
        ({"view_0": DENSE, "view_1": DENSE, "names": ["a"]}, "names must contain 2 different names"),
        ({"view_0": DENSE, "view_1": DENSE, "names": ["a", "a"]}, "names must contain 2 different names"),
    ],
)
def test_broken_content_is_refused_by_file_and_key(write, content, message):
    with pytest.raises(ValueError, match=rf"broken\.npz.*{message}"):
        load_views(write("broken", **content))


def test_pickled_objects_are_never_loaded(write):
    path = write("objects", view_0=DENSE, y=np.array([0, "a", None, 1], dtype=object))
    with pytest.raises(ValueError, match=r"objects\.npz.*key 'y' cannot be read.*run code"):
        load_views(path)


def test_damaged_archives_are_refused(tmp_path, write):
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(ValueError, match=r"text\.npz' is not a readable \.npz archive"):
        load_views(tmp_path / "text.npz")
    with (tmp_path / "single.npz").open("wb") as file:
        np.save(file, DENSE)
    with pytest.raises(ValueError, match=r"single\.npz' is a single NumPy array"):
        load_views(tmp_path / "single.npz")
    whole = write("whole", view_0=np.random.default_rng(0).uniform(size=(50, 50))).read_bytes()
    middle = len(whole) // 2
    (tmp_path / "hit.npz").write_bytes(whole[:middle] + bytes(64) + whole[middle + 64 :])
    with pytest.raises(ValueError, match=r"hit\.npz"):
        load_views(tmp_path / "hit.npz")


@pytest.mark.parametrize(
    ("name", "kind", "widths", "n_samples", "n_classes"),
    [
        ("msrc_v1", "features", (24, 576, 512, 256, 254), 210, 7),
        ("3sources", "features", (3560, 3631, 3068), 169, 6),
        ("yale_kernels", "kernels", (165,) * 5, 165, 15),
        ("nutrimouse", "features", (120, 21), 40, 2),
    ],
)
def test_real_files(shared_data, name, kind, widths, n_samples, n_classes):
    dataset = load_views(shared_data(name))
    assert dataset.kind == kind
    assert dataset.views.widths == widths
    assert len(dataset.views) == n_samples
    assert len(np.unique(dataset.target)) == n_classes


def test_real_sparse_views_stay_sparse(shared_data):
    assert all(scipy.sparse.issparse(array) for array in load_views(shared_data("3sources")).views.arrays)


def test_real_class_names(shared_data):
    dataset = load_views(shared_data("caltech101_7"))
    assert len(dataset.target_names) == 7


@pytest.mark.parametrize(
    "content",
    [
        {"view_0": DENSE, "view_1": SPARSE, "y": [3, 3, 0, 7], "other": np.ones(2)},
        {**csr_parts(SPARSE, "view_0")},
        {"kernel_0": np.eye(4), "kernel_1": np.eye(4), "names": ["a", "b"]},
    ],
)
def test_header_agrees_with_what_is_read(write, content):
    path = write(**content)
    header, dataset = npz_header(path), load_views(path)
    assert header.n_samples == len(dataset.views)
    assert header.n_views == dataset.views.n_views
    assert header.kind == dataset.kind
    assert header.n_classes == (None if dataset.target is None else len(np.unique(dataset.target)))


def test_header_needs_no_readable_view(write):
    """Only the first bytes of a view are looked at, so damage further on goes unnoticed: so it is quick."""
    path = write(view_0=np.random.default_rng(0).uniform(size=(100, 100)), y=np.arange(100) % 3)
    whole = path.read_bytes()
    path.write_bytes(whole[:40_000] + bytes(64) + whole[40_064:])
    assert npz_header(path) == (100, 1, 3, "features")
    with pytest.raises(ValueError, match="cannot be read"):
        load_views(path)


def test_header_of_no_archive(tmp_path):
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(ValueError, match=r"text\.npz' is not a readable"):
        npz_header(tmp_path / "text.npz")
