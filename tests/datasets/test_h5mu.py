"""Data sets in .h5mu files: written piece by piece, and by mudata where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.datasets import load_views
from latefusion.datasets.h5mu import h5mu_header

h5py = pytest.importorskip("h5py")

CELLS = ["c1", "c2", "c3", "c4"]
RNA = scipy.sparse.random(3, 6, density=0.5, random_state=0, format="csr", dtype=np.float32)
PROTEIN = np.arange(8.0).reshape(4, 2)


def store_obs(group, names, **columns):
    obs = group.create_group("obs")
    obs.attrs["_index"] = "_index"
    obs["_index"] = np.array(names, dtype=object)
    for column, values in columns.items():
        words, codes = np.unique(values, return_inverse=True)
        held = obs.create_group(column)
        held.attrs["encoding-type"] = "categorical"
        held["categories"], held["codes"] = words.astype(object), codes.astype(np.int8)
    obs.attrs["column-order"] = list(columns)


def store_matrix(group, matrix):
    if not scipy.sparse.issparse(matrix):
        group["X"] = matrix
        return
    held = group.create_group("X")
    held.attrs["encoding-type"] = f"{matrix.format}_matrix"
    held.attrs["shape"] = matrix.shape
    held["data"], held["indices"], held["indptr"] = matrix.data, matrix.indices, matrix.indptr


@pytest.fixture
def write(tmp_path):
    def save(name="cells", rna=RNA, protein=PROTEIN, protein_cells=CELLS, **columns):
        path = tmp_path / f"{name}.h5mu"
        with h5py.File(path, "w") as root:
            store_obs(root, CELLS, **columns)
            for modality, matrix, names in (("rna", rna, CELLS[1:]), ("protein", protein, protein_cells)):
                group = root.create_group(f"mod/{modality}")
                store_matrix(group, matrix)
                store_obs(group, names)
            root["mod"].attrs["mod-order"] = ["rna", "protein"]
        return path

    return save


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_modalities_are_views_in_the_order_of_the_samples(write, form):
    matrix = RNA.toarray() if form == "dense" else RNA.asformat(form)
    dataset = load_views(write(rna=matrix, cell_type=["b", "t", "t", "b"]))
    views = dataset.views
    assert views.names == ("rna", "protein")
    assert views.sample_ids.tolist() == CELLS
    assert views.mask.tolist() == [[False, True], [True, True], [True, True], [True, True]]
    rna = views.arrays[0]
    assert scipy.sparse.issparse(rna) == (form != "dense")
    np.testing.assert_array_equal((rna.toarray() if form != "dense" else rna)[1:], RNA.toarray())
    np.testing.assert_array_equal(views.arrays[1], PROTEIN)
    assert dataset.target.tolist() == [0, 1, 1, 0]
    assert dataset.target_names == ("b", "t")


def test_classes_are_asked_for_by_name(write):
    path = write(batch=["x", "y", "x", "y"])
    assert load_views(path).target is None
    assert load_views(path, label_column="batch").target.tolist() == [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"no column 'donor' in obs; its columns are \['batch'\]"):
        load_views(path, label_column="donor")


def test_header(write):
    assert h5mu_header(write("a", cell_type=["b", "t", "t", "b"])) == (4, 2, 2, "features")
    assert h5mu_header(write("b")) == (4, 2, None, "features")


def test_broken_files(tmp_path, write):
    with pytest.raises(ValueError, match=r"obs has the sample 'c1' 2 times"):
        load_views(write("twice", protein_cells=["c1", "c1", "c2", "c3"]))
    with h5py.File(tmp_path / "none.h5mu", "w") as root:
        root["something"] = [1]
    with pytest.raises(ValueError, match=r"none\.h5mu' has no modalities.*got something"):
        load_views(tmp_path / "none.h5mu")
    path = write("matrix")
    with h5py.File(path, "r+") as root:
        del root["mod/rna/X"]
    with pytest.raises(ValueError, match=r"modality 'rna' has no matrix X; it has obs"):
        load_views(path)
    with h5py.File(path, "r+") as root:
        root["mod/rna/X"] = np.ones(3)
    with pytest.raises(ValueError, match=r"modality 'rna': X has shape \(3,\)"):
        load_views(path)
    whole = write("whole").read_bytes()
    (tmp_path / "cut.h5mu").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.h5mu' cannot be read as a file of MuData"):
        load_views(tmp_path / "cut.h5mu")
    (tmp_path / "text.h5mu").write_text("no data")
    with pytest.raises(ValueError, match=r"text\.h5mu' cannot be read as a file of MuData"):
        load_views(tmp_path / "text.h5mu")


def test_damaged_bytes_are_refused_or_change_values_only(tmp_path, write):
    """Whatever happens to the bytes, it ends in a data set or in an error that names the file."""
    whole = write("whole", cell_type=["b", "t", "t", "b"]).read_bytes()
    generator = np.random.default_rng(0)
    refused = []
    for _ in range(60):
        damaged = bytearray(whole)
        for place in generator.integers(len(whole), size=40):
            damaged[place] = generator.integers(256)
        (tmp_path / "hit.h5mu").write_bytes(damaged)
        try:
            load_views(tmp_path / "hit.h5mu")
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all("hit.h5mu" in message or "modality" in message for message in refused)


@pytest.mark.filterwarnings("ignore")  # those of anndata and mudata
def test_files_of_mudata(tmp_path):
    mudata = pytest.importorskip("mudata")
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    rna = anndata.AnnData(RNA.copy(), obs=pd.DataFrame({"cell_type": ["t", "t", "b"]}, index=CELLS[1:]))
    protein = anndata.AnnData(PROTEIN.copy(), obs=pd.DataFrame(index=CELLS[::-1]))
    mdata = mudata.MuData({"rna": rna, "protein": protein})
    mdata.obs["label"] = pd.Categorical([f"type {cell}" for cell in mdata.obs_names])
    mdata.write(tmp_path / "cells.h5mu")
    dataset = load_views(tmp_path / "cells.h5mu")
    assert dataset.views.names == ("rna", "protein")
    assert dataset.views.sample_ids.tolist() == mdata.obs_names.tolist()
    for view, (name, modality) in enumerate(mdata.mod.items()):
        rows = [mdata.obs_names.get_loc(cell) for cell in modality.obs_names]
        array = dataset.views.arrays[view]
        held = modality.X.toarray() if name == "rna" else modality.X
        np.testing.assert_array_equal((array.toarray() if name == "rna" else array)[rows], held)
    assert [dataset.target_names[code] for code in dataset.target] == mdata.obs["label"].tolist()
    assert load_views(tmp_path / "cells.h5mu", label_column="label").target is not None
