"""Data sets in .mat files: every layout in both versions of the format, and broken ones."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from latefusion.datasets import load_views
from latefusion.datasets.matlab import mat_header
from tests.datasets.mat73 import save_mat73

GENERATOR = np.random.default_rng(0)
N_SAMPLES = 7
NARROW, WIDE = GENERATOR.normal(size=(N_SAMPLES, 3)), GENERATOR.normal(size=(N_SAMPLES, 11))
LABELS = np.array([1, 2, 3, 1, 2, 3, 1])
KERNELS = np.stack([NARROW @ NARROW.T, WIDE @ WIDE.T], axis=2)

has_h5py = importlib.util.find_spec("h5py") is not None
needs_h5py = pytest.mark.skipif(not has_h5py, reason="h5py is not installed")


def cell(items):
    array = np.empty((1, len(items)), dtype=object)
    array[0, :] = items
    return array


def save_mat5(path, variables):
    held = {key: cell(value) if isinstance(value, list) else value for key, value in variables.items()}
    scipy.io.savemat(path, held, do_compression=True)
    return path


@pytest.fixture(params=["v5", pytest.param("v7.3", marks=needs_h5py)])
def write(request, tmp_path):
    """Write variables (lists are cell arrays) into a file of either version."""
    save = save_mat5 if request.param == "v5" else save_mat73
    return lambda name="toy", **variables: save(tmp_path / f"{name}.mat", variables)


@pytest.mark.parametrize("key", ["KH", "K", "kernels"])
@pytest.mark.parametrize("form", ["stack", "cell"])
def test_kernels(write, key, form):
    value = KERNELS if form == "stack" else [KERNELS[..., 0], KERNELS[..., 1]]
    dataset = load_views(write(**{key: value, "Y": LABELS[:, None]}))
    assert dataset.kind == "kernels"
    assert dataset.views.n_views == 2
    for view in range(2):
        np.testing.assert_array_equal(dataset.views.arrays[view], KERNELS[..., view])
    np.testing.assert_array_equal(dataset.target, LABELS - 1)


@pytest.mark.parametrize("keys", [("X", "Y"), ("fea", "gt"), ("data", "truth"), ("views", "gnd"), ("X", "true_label")])
@pytest.mark.parametrize("lying", [(False, False), (True, True), (False, True), (True, False)])
@pytest.mark.parametrize("column", [True, False])
def test_views_are_read_in_either_orientation(write, keys, lying, column):
    views = [array.T if lies else array for array, lies in zip((NARROW, WIDE), lying, strict=True)]
    labels = LABELS[:, None] if column else LABELS[None, :]
    dataset = load_views(write(**{keys[0]: views, keys[1]: labels}))
    assert dataset.kind == "features"
    np.testing.assert_array_equal(dataset.views.arrays[0], NARROW)
    np.testing.assert_array_equal(dataset.views.arrays[1], WIDE)
    np.testing.assert_array_equal(dataset.target, LABELS - 1)


@pytest.mark.parametrize("lying", [False, True])
@pytest.mark.parametrize("labeled", [False, True])
def test_a_square_view_is_oriented_like_the_others(write, lying, labeled):
    square = GENERATOR.normal(size=(N_SAMPLES, N_SAMPLES))
    views = [array.T if lying else array for array in (square, WIDE, NARROW)]
    dataset = load_views(write(X=views, **({"Y": LABELS[:, None]} if labeled else {})))
    np.testing.assert_array_equal(dataset.views.arrays[0], square)
    np.testing.assert_array_equal(dataset.views.arrays[1], WIDE)


@pytest.mark.parametrize("lying", [False, True])
def test_without_labels_the_common_axis_holds_the_samples(write, lying):
    dataset = load_views(write(X=[NARROW.T, WIDE.T] if lying else [NARROW, WIDE]))
    assert dataset.views.widths == (3, 11)
    assert dataset.target is None


@pytest.mark.parametrize("lying", [False, True])
def test_sparse_views_stay_sparse(write, lying):
    words = scipy.sparse.random(N_SAMPLES, 20, density=0.2, random_state=0, format="csc")
    nothing = scipy.sparse.csc_matrix((N_SAMPLES, 4))
    views = [words.T, nothing.T, NARROW.T] if lying else [words, nothing, NARROW]
    dataset = load_views(write(X=views, Y=LABELS[:, None]))
    sparse, empty, dense = dataset.views.arrays
    assert scipy.sparse.issparse(sparse)
    assert sparse.format == "csr"
    np.testing.assert_array_equal(sparse.toarray(), words.toarray())
    assert empty.nnz == 0
    assert empty.shape == (N_SAMPLES, 4)
    assert isinstance(dense, np.ndarray)


@pytest.mark.parametrize(
    "labels",
    [
        LABELS[:, None] - 1,
        LABELS[None, :].astype(np.uint8),
        np.eye(3)[LABELS - 1],
        np.eye(3)[LABELS - 1].T,
        [LABELS[:, None], LABELS[:, None]],
        [f"class {label}" for label in LABELS],
    ],
    ids=["from 0", "from 1", "one-hot", "one-hot lying", "one per view", "words"],
)
def test_labels_in_every_form(write, labels):
    dataset = load_views(write(X=[NARROW, WIDE], Y=labels))
    np.testing.assert_array_equal(dataset.target, LABELS - 1)
    words = isinstance(labels, list) and isinstance(labels[0], str)
    assert dataset.target_names == (("class 1", "class 2", "class 3") if words else ())


def test_numbered_variables_names_and_numbers_of_clusters(write):
    dataset = load_views(write("a", X1=NARROW, X2=WIDE.T, Y=LABELS[:, None], k=np.array([[3.0]])))
    assert dataset.views.names == ("X1", "X2")
    np.testing.assert_array_equal(dataset.views.arrays[1], WIDE)
    dataset = load_views(write("b", X=[NARROW, WIDE], names=["color", "shape"]))
    assert dataset.views.names == ("color", "shape")
    dataset = load_views(write("c", K1=KERNELS[..., 0], K2=KERNELS[..., 1]))
    assert dataset.kind == "kernels"
    dataset = load_views(write("d", X=NARROW, Y=LABELS[:, None]))
    assert dataset.views.widths == (3,)


def test_ten_numbered_variables_are_in_order(write):
    dataset = load_views(write(**{f"X{number}": np.full((4, 2), number) for number in range(1, 12)}))
    assert [int(array[0, 0]) for array in dataset.views.arrays] == list(range(1, 12))


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"alpha": [NARROW], "weights": NARROW}, r"no variable.*alpha \(1 × 1 cell\), weights \(7 × 3 double\).*KH"),
        ({"X": [NARROW, WIDE], "Y": LABELS[:-1, None]}, r"there are 6 labels, but X\{1\}: \(7, 3\), X\{2\}: \(7, 11\)"),
        ({"X": [NARROW, WIDE[:5]], "Y": LABELS[:, None]}, r"X\{2\}: \(5, 11\) has no axis of 7"),
        ({"X": [NARROW, WIDE[:5]]}, "no length in common"),
        ({"KH": KERNELS[:, :5]}, r"KH\(:,:,1\) has shape \(7, 5\), but a kernel must be square"),
        ({"KH": KERNELS, "Y": LABELS[:5, None]}, r"KH\(:,:,1\) is a kernel of 7 samples, but there are 5 labels"),
        ({"KH": [np.eye(4), np.eye(3)]}, r"KH\{2\} is a kernel of 3 samples, but the first one is of 4"),
        ({"KH": KERNELS, "X": [NARROW]}, r"several variables.*KH \(7 × 7 × 2 double\), X \(1 × 1 cell\)"),
        ({"X": [NARROW], "data": [WIDE]}, "several variables"),
        ({"X": [NARROW, "text"]}, r"X\{2\} must be a matrix"),
        ({"X": [NARROW, np.zeros((0, 0))]}, r"X\{2\} has shape \(0, 0\)|X\{2\}.*no"),
        ({"X": [NARROW], "Y": LABELS[:, None], "gt": LABELS[::-1, None]}, "labels that differ from each other: Y"),
        ({"X": [NARROW], "Y": NARROW}, r"Y: labels must be one value per sample.*shape \(7, 3\)"),
        ({"X": [NARROW], "Y": LABELS[:, None] + 0.5}, "the label of sample 1 is 1.5"),
    ],
)
def test_broken_content_is_refused_by_file_and_variable(write, variables, message):
    with pytest.raises(ValueError, match=rf"broken\.mat.*({message})"):
        load_views(write("broken", **variables))


def test_structures_are_listed_but_not_read(tmp_path):
    scipy.io.savemat(tmp_path / "s.mat", {"data": {"X": NARROW, "Y": LABELS}})
    with pytest.raises(ValueError, match=r"s\.mat.*It has data \(1 × 1 struct\)"):
        load_views(tmp_path / "s.mat")


def test_complex_numbers_are_refused(tmp_path):
    scipy.io.savemat(tmp_path / "c.mat", {"X": NARROW + 1j})
    with pytest.raises(ValueError, match=r"c\.mat.*X contains values of type complex"):
        load_views(tmp_path / "c.mat")


@pytest.mark.parametrize(
    "variables",
    [
        {"X": [NARROW, WIDE.T], "Y": LABELS[:, None]},
        {"KH": KERNELS, "Y": LABELS[:, None]},
        {"KH": KERNELS},
        {"X1": NARROW, "X2": WIDE},
        {"X": NARROW, "gt": np.eye(3)[LABELS - 1]},
    ],
)
def test_header_agrees_with_what_is_read(write, variables):
    path = write(**variables)
    dataset = load_views(path)
    n_classes = None if dataset.target is None else len(np.unique(dataset.target))
    assert mat_header(path) == (len(dataset.views), dataset.views.n_views, n_classes, dataset.kind)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97])
def test_files_cut_short_are_refused(write, tmp_path, share):
    whole = write("whole", X=[NARROW, GENERATOR.normal(size=(N_SAMPLES, 400))], Y=LABELS[:, None]).read_bytes()
    cut = tmp_path / "cut.mat"
    cut.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ValueError, match=r"cut\.mat"):
        load_views(cut)


def test_damaged_bytes_are_refused_or_change_values_only(tmp_path, write):
    """Whatever happens to the bytes, it ends in a data set or in an error that names the file."""
    whole = write("whole", X=[NARROW, WIDE], Y=LABELS[:, None]).read_bytes()
    generator = np.random.default_rng(1)
    refused = []
    for _ in range(60):
        damaged = bytearray(whole)
        for place in generator.integers(128, len(whole), size=len(whole) // 200):
            damaged[place] = generator.integers(256)
        (tmp_path / "hit.mat").write_bytes(damaged)
        try:
            load_views(tmp_path / "hit.mat")
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all("hit.mat" in message for message in refused)


def test_no_matlab_file_at_all(tmp_path):
    (tmp_path / "text.mat").write_text("x = 1;\n" * 40)
    with pytest.raises(ValueError, match=r"text\.mat' cannot be read as a MATLAB file"):
        load_views(tmp_path / "text.mat")


def test_version_7_3_without_h5py_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "new.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(64))
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match=r"new\.mat' needs h5py.*latefusion\[io\]"):
        load_views(path)


@needs_h5py
def test_hdf5_written_by_others_than_matlab(tmp_path):
    """Plain datasets, no classes noted, kernels stacked along the first axis of the file's own order."""
    import h5py

    with h5py.File(tmp_path / "plain.mat", "w") as root:
        root["KH"], root["Y"] = KERNELS, LABELS
    dataset = load_views(tmp_path / "plain.mat")
    assert dataset.kind == "kernels"
    np.testing.assert_allclose(dataset.views.arrays[1], KERNELS[..., 1])


def test_real_kernels_survive_the_way_through_matlab(shared_data, tmp_path):
    original = load_views(shared_data("yale_kernels"))
    stack = np.stack(original.views.arrays, axis=2)
    scipy.io.savemat(tmp_path / "YALE_Kmatrix.mat", {"KH": stack, "Y": original.target[:, None] + 1.0})
    copy = load_views(tmp_path / "YALE_Kmatrix.mat")
    np.testing.assert_array_equal(np.stack(copy.views.arrays, axis=2), stack)
    np.testing.assert_array_equal(copy.target, original.target)


def test_matrices_of_a_stack_among_other_variables_have_names_of_their_own(write):
    data = load_views(write(view_0=NARROW, view_1=np.stack([WIDE, 2 * WIDE], axis=2), Y=LABELS))
    assert list(data.views.names) == ["view_0", "view_1(:,:,1)", "view_1(:,:,2)"]
    np.testing.assert_array_equal(data.views.arrays[2], 2 * WIDE)
