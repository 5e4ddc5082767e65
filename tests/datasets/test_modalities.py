"""MuData as X: the same as its modalities matched by hand."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.datasets.modalities import is_mudata, modality_views

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:mudata")

VIEWS = lf.datasets.make_views(80, 3, random_state=0).views
IDS = np.array([f"s{row}" for row in range(80)])


def modality(array, ids, name="a"):
    names = [f"{name}{column}" for column in range(array.shape[1])]
    return anndata.AnnData(array, obs=pd.DataFrame(index=ids), var=pd.DataFrame(index=names))


@pytest.fixture
def mdata():
    left, right = VIEWS.arrays[:2]
    return mudata.MuData(
        {"left": modality(left[:70], IDS[:70]), "right": modality(right[::-1][:60], IDS[::-1][:60], "b")}
    )


def test_holes_become_a_mask(mdata):
    assert is_mudata(mdata)
    assert not is_mudata(mdata.mod["left"])
    views = modality_views(mdata)
    rows = np.array([int(one[1:]) for one in views.sample_ids])
    np.testing.assert_array_equal(views.mask, np.column_stack([rows < 70, rows >= 20]))
    for view, (array, given) in enumerate(zip(views.arrays, VIEWS.arrays, strict=False)):
        here = views.mask[:, view]
        np.testing.assert_array_equal(array[here], given[rows[here]])
        assert np.isnan(array[~here]).all()


@pytest.mark.parametrize("estimator", [lf.LateFusionClustering, lf.GlobalAlignmentClustering])
def test_estimators_take_mudata_as_they_take_frames(mdata, estimator):
    frames = {
        name: pd.DataFrame(one.X, index=one.obs_names).reindex(mdata.obs_names) for name, one in mdata.mod.items()
    }
    one, other = estimator(3, random_state=0).fit(mdata), estimator(3, random_state=0).fit(frames)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.sample_ids_.tolist() == mdata.obs_names.tolist()
    assert one.view_names_.tolist() == ["left", "right"]
    np.testing.assert_array_equal(one.predict(mdata), one.labels_)
    np.testing.assert_array_equal(one.predict(mdata[:30]), one.labels_[:30])


def test_methods_for_complete_views_name_what_is_missing(mdata):
    with pytest.raises(ValueError, match=r"does not support missing views.*\{'left': 10, 'right': 20\}"):
        lf.baselines.METHODS["concat-kmeans"](3).fit(mdata)


def test_files_and_objects_give_the_same(mdata, tmp_path):
    mdata.write(tmp_path / "cells.h5mu")
    read, held = lf.datasets.load_views(tmp_path / "cells.h5mu").views, modality_views(mdata)
    assert read.sample_ids.tolist() == held.sample_ids.tolist()
    np.testing.assert_array_equal(read.mask, held.mask)
    for one, other in zip(read.arrays, held.arrays, strict=True):
        np.testing.assert_array_equal(one, other)


def test_files_that_stay_on_disk_are_read(mdata, tmp_path):
    mdata.write(tmp_path / "cells.h5mu")
    backed = mudata.read_h5mu(tmp_path / "cells.h5mu", backed="r")
    for one, other in zip(modality_views(backed).arrays, modality_views(mdata).arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    backed.file.close()


def test_what_cannot_be_views_is_refused(mdata):
    with pytest.raises(ValueError, match="No modalities were given"):
        modality_views(mdata, {})
    with pytest.raises(ValueError, match="modality 'left' has no matrix X"):
        modality_views(mdata, {"left": None})
    with pytest.raises(ValueError, match=r"modality 'left' has the shape \(3,\)"):
        modality_views(mdata, {"left": np.ones(3)})
    shared = mudata.MuData({"a": modality(np.eye(3), list("xyz")), "b": modality(np.eye(3), list("uvw"))}, axis=1)
    with pytest.raises(ValueError, match="share variables"):
        modality_views(shared)
    mdata.mod["left"].obs_names = ["s0", *mdata.mod["left"].obs_names[1:-1], "s0"]
    with pytest.raises(ValueError, match="Modality 'left' has the sample 's0' more than once"):
        modality_views(mdata)
