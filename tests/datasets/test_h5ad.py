"""Views in .h5ad files, written piece by piece, and by anndata where it is installed."""

import numpy as np
import pytest
import scipy.sparse

from latefusion.datasets import load_files, load_views
from tests.datasets.test_h5mu import CELLS, PROTEIN, store_matrix, store_obs

h5py = pytest.importorskip("h5py")

NAMES = ["CD3", "CD4"]


@pytest.fixture
def write(tmp_path):
    def save(matrix=PROTEIN, types=None, name="cells.h5ad", cells=CELLS, features=NAMES, **columns):
        with h5py.File(tmp_path / name, "w") as root:
            store_matrix(root, matrix)
            store_obs(root, cells, **columns)
            var = root.create_group("var")
            var.attrs["_index"] = "_index"
            var["_index"] = np.array(features, dtype=object)
            if types is not None:
                var["feature_types"] = np.array(types, dtype=object)
        return tmp_path / name

    return save


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_the_matrix_is_one_view_with_ids_names_and_classes(write, form):
    matrix = PROTEIN if form == "dense" else scipy.sparse.csr_array(PROTEIN).asformat(form)
    data = load_views(write(matrix, cell_type=["b", "t", "t", "b"]))
    assert data.views.names == ("cells",)
    assert data.views.sample_ids.tolist() == CELLS
    found = data.views.arrays[0]
    np.testing.assert_array_equal(found.toarray() if form != "dense" else found, PROTEIN)
    assert data.feature_names == {"cells": NAMES}
    assert (data.target.tolist(), data.target_names) == ([0, 1, 1, 0], ("b", "t"))


def test_types_of_features_are_views(write):
    data = load_views(write(types=["Gene Expression", "Antibody Capture"], donor=list("abab")), label_column="donor")
    assert data.views.names == ("Gene Expression", "Antibody Capture")
    np.testing.assert_array_equal(data.views.arrays[1], PROTEIN[:, 1:])
    assert data.feature_names["Antibody Capture"] == ["CD4"]
    assert data.target_names == ("a", "b")
    assert load_views(write(types=["Gene Expression"] * 2)).views.names == ("cells",)


def test_cells_are_matched_with_those_of_other_files(write, tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "image.csv").write_text("cell,size\nc4,4\nc1,1\n")
    data = load_files([write(), tmp_path / "image.csv"])
    assert data.views.sample_ids.tolist() == CELLS
    assert data.views.mask[:, 1].tolist() == [True, False, False, True]


def test_what_cannot_be_read_is_refused_by_name(write, tmp_path):
    with pytest.raises(ValueError, match=r"cells\.h5ad' is damaged: X has shape \(4, 2\), but there are 3 samples"):
        load_views(write(cells=CELLS[:3]))
    with pytest.raises(ValueError, match=r"cells\.h5ad' has no column 'donor' in obs"):
        load_views(write(), label_column="donor")
    with h5py.File(tmp_path / "mu.h5ad", "w") as root:
        root.create_group("mod")
    with pytest.raises(ValueError, match=r"mu\.h5ad' has no 'X'; it has mod\. .*MuData: rename it to end in \.h5mu"):
        load_views(tmp_path / "mu.h5ad")
    with pytest.raises(ValueError, match=r"ad\.h5mu' has no modalities.*AnnData: rename it to end in \.h5ad"):
        load_views(write(name="ad.h5mu"))
    whole = write().read_bytes()
    (tmp_path / "cut.h5ad").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.h5ad' cannot be read as a file of AnnData"):
        load_views(tmp_path / "cut.h5ad")


def test_files_of_anndata_itself(tmp_path):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(scipy.sparse.csr_matrix(PROTEIN), obsm={"X_pca": np.eye(4)})
    adata.obs_names, adata.var_names = CELLS, NAMES
    adata.write_h5ad(tmp_path / "cells.h5ad")
    data = load_views(tmp_path / "cells.h5ad")
    assert data.views.names == ("cells",)
    np.testing.assert_array_equal(data.views.arrays[0].toarray(), PROTEIN)
