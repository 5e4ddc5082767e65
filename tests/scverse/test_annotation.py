import numpy as np
import pytest

import latefusion as lf
from latefusion.scverse import annotate, read_views
from tests.scverse.conftest import cells_with

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:mudata")


def test_any_model_is_written_as_it_is(mdata):
    views = read_views(mdata).views
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(views)
    annotate(mdata, model, key_added="gam", weight_key="share")
    assert mdata.obs["gam"].astype(int).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(mdata.obs["gam_confidence"], model.confidence_)
    np.testing.assert_array_equal(mdata.obsm["X_gam"], model.consensus_)
    np.testing.assert_array_equal(mdata.obs[["rna:share", "prot:share"]], model.sample_view_weights())
    record = mdata.uns["gam"]
    assert record["method"] == "GlobalAlignmentClustering"
    assert record["version"] == lf.__version__
    assert list(record["view_weights"].values()) == model.view_weights_.tolist()
    assert "selection" not in record


def test_cells_that_were_not_seen_have_no_cluster(mdata):
    views = read_views(mdata, {"prot": "X"}).views
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(views)
    annotate(mdata, model)
    seen = cells_with(mdata, "prot")
    assert mdata.obs["latefusion"].isna().tolist() == (~seen).tolist()
    assert np.isnan(mdata.obsm["X_latefusion"][~seen]).all()
    labels = dict(zip(model.sample_ids_, model.labels_, strict=True))
    assert all(int(mdata.obs["latefusion"][cell]) == labels[cell] for cell in mdata.obs_names[seen])


def test_methods_without_consensus_or_weights_leave_them_out(adata):
    views = read_views(adata).views
    model = lf.baselines.METHODS["concat-kmeans"](4, random_state=0).fit(views)
    annotate(adata, model)
    assert adata.obs["latefusion"].astype(int).tolist() == model.labels_.tolist()
    assert "latefusion_confidence" not in adata.obs


def test_objects_of_other_cells_are_refused(mdata, adata):
    views = read_views(adata).views
    named = lf.GlobalAlignmentClustering(4, random_state=0).fit(views)
    with pytest.raises(ValueError, match=r"1 training samples .* are not cells of the object, such as 'cell0'"):
        annotate(adata[1:].copy(), named)
    nameless = lf.GlobalAlignmentClustering(4, random_state=0).fit(list(views.arrays))
    with pytest.raises(ValueError, match="fitted on 240 samples without ids, but the object has 239 cells"):
        annotate(adata[1:].copy(), nameless)
    annotate(adata, nameless)
    assert adata.obs["latefusion"].astype(int).tolist() == nameless.labels_.tolist()


def test_a_model_from_a_file_annotates_without_weights(adata, tmp_path):
    """Weights of views per cell need training data: the error comes before anything is written."""
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(read_views(adata).views)
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    with pytest.raises(ValueError, match=r"loaded from a file.*weight_key=None"):
        annotate(adata, again)
    assert "latefusion" not in adata.obs
    annotate(adata, again, weight_key=None)
    assert adata.obs["latefusion"].astype(int).tolist() == model.labels_.tolist()
