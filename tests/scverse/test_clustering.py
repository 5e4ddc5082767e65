"""Clustering as a person with MuData does it: in one call, with cells that lack a modality."""

import mudata
import numpy as np
import pytest

import latefusion as lf
from latefusion.scverse import cluster
from tests.scverse.conftest import cells_with

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:mudata")


def test_cells_of_both_modalities_are_told_apart_where_each_alone_cannot(mdata):
    """The worked example of the documentation: counts in, types found, weights per cell, and files that keep them."""
    cluster(mdata, 4)
    assert mdata.obs["latefusion"].cat.categories.tolist() == ["0", "1", "2", "3"]
    assert not mdata.obs["latefusion"].isna().any()
    both = cells_with(mdata, "rna") & cells_with(mdata, "prot")
    assert both.sum() == 190
    types, found = mdata.obs["type"], mdata.obs["latefusion"]
    together = lf.metrics.clustering_accuracy(types[both], found[both])
    alone = []
    for name in ("rna", "prot"):
        single = cluster(mdata, 4, use_rep={name: "X"}, key_added="alone", copy=True)
        alone.append(lf.metrics.clustering_accuracy(types[both], single.obs["alone"][both]))
    assert together > 0.95 > 0.85 > max(alone)


def test_weights_of_modalities_are_those_of_the_cell(mdata):
    cluster(mdata, 4)
    weights = mdata.obs[["rna:mod_weight", "prot:mod_weight"]]
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    for name in ("rna", "prot"):
        assert not mdata.obs[f"{name}:mod_weight"][~cells_with(mdata, name)].any()
    # Proteins say most where RNA sees no difference, and the other way round.
    by_type = weights["prot:mod_weight"][cells_with(mdata, "rna") & cells_with(mdata, "prot")].groupby(
        mdata.obs["type"], observed=True
    )
    means = by_type.mean()
    assert means[["T0", "T1"]].min() > means[["T2", "T3"]].max()


@pytest.mark.parametrize("form", ["h5mu", "zarr"])
def test_what_was_written_is_read_back(mdata, tmp_path, form):
    cluster(mdata, range(3, 6), key_added="fused")
    path = tmp_path / f"cells.{form}"
    mdata.write(path) if form == "h5mu" else mdata.write_zarr(path)
    again = mudata.read_h5mu(path) if form == "h5mu" else mudata.read_zarr(path)
    assert again.obs["fused"].dtype == "category"
    columns = ["fused", "fused_confidence", "rna:mod_weight", "prot:mod_weight"]
    for column in columns:
        assert again.obs[column].tolist() == mdata.obs[column].tolist()
    np.testing.assert_array_equal(again.obsm["X_fused"], mdata.obsm["X_fused"])
    one, other = mdata.uns["fused"], again.uns["fused"]
    assert set(one) == set(other)
    for key in ("view_weights", "agreement", "read_as", "view_kinds", "params", "reason", "number_reason"):
        assert other[key] == one[key]
    for key in ("selection", "number_selection"):
        assert one[key].to_dict("list") == other[key].to_dict("list")
    again.update()
    assert set(columns) <= set(again.obs.columns)


def test_anndata_with_features_of_two_types(adata):
    found = cluster(adata, 4, copy=True)
    assert "latefusion" not in adata.obs
    assert lf.metrics.clustering_accuracy(found.obs["type"], found.obs["latefusion"]) > 0.95
    assert "Gene Expression:mod_weight" in found.obs


def test_options_reach_the_estimator(mdata):
    cluster(mdata, 4, regularization=1.0, missing="zero", weight_key=None)
    assert mdata.uns["latefusion"]["params"]["missing"] == "zero"
    assert set(mdata.uns["latefusion"]["selection"]["regularization"]) == {1.0}
    assert not [column for column in mdata.obs if "mod_weight" in column]
