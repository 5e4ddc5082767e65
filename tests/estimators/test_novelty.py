"""Novelty: how far a sample is from all training samples, calibrated on these."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import latefusion as lf

DATA = lf.datasets.make_views(300, 3, n_views=2, n_features=[5, 8], random_state=0)
ESTIMATORS = [lf.LateFusionClustering, lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering]


@pytest.fixture(params=ESTIMATORS, ids=lambda one: one.__name__)
def model(request):
    return request.param(3, random_state=0).fit(DATA.views)


def novelty_of(model, views):
    return model.predict(views, return_novelty=True)[1]


def test_a_sample_far_from_all_others_is_novel_although_its_label_is_clear(model):
    views = [view[:2].copy() for view in DATA.views.arrays]
    for view in views:
        view[1] = 1000.0
    near, far = novelty_of(model, views)
    assert near < 2
    assert far > 50


def test_few_new_samples_of_the_same_kind_are_novel(model):
    new = lf.datasets.make_views(300, 3, n_views=2, n_features=[5, 8], random_state=0, noise=1.0)
    assert np.mean(novelty_of(model, new.views) > 1) < 0.1


def test_training_samples_have_their_novelty(model):
    np.testing.assert_allclose(novelty_of(model, DATA.views), model.novelty_, rtol=1e-10)
    assert model.novelty_.shape == (300,)
    assert np.mean(model.novelty_ > 1) < 0.1


def test_novelty_comes_after_the_confidence(model):
    labels, confidence, novelty = model.predict(DATA.views, return_confidence=True, return_novelty=True)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_allclose(confidence, model.confidence_, atol=1e-8)
    np.testing.assert_allclose(novelty, model.novelty_, rtol=1e-10)


def test_a_sample_is_judged_by_the_views_it_has(model):
    name, other = DATA.views.names
    far = {name: np.full((1, 5), 1000.0)}
    assert novelty_of(model, far)[0] > 50
    both = {name: DATA.views.arrays[0][:1], other: np.full((1, 8), 1000.0)}
    assert novelty_of(model, both)[0] > 20


def test_the_unit_of_a_view_does_not_matter():
    scaled = [DATA.views.arrays[0] * 1e4, DATA.views.arrays[1] * 1e-3]
    plain, other = (lf.LateFusionClustering(3, random_state=0).fit(views) for views in (DATA.views.arrays, scaled))
    np.testing.assert_allclose(other.novelty_, plain.novelty_, rtol=1e-6)


def test_sparse_views_stay_sparse():
    rng = np.random.default_rng(0)
    counts = [sp.csr_array(rng.poisson(0.2, (80, 60)).astype(float)) for _ in range(2)]
    model = lf.LateFusionClustering(2, random_state=0).fit(counts)
    assert np.all(np.isfinite(model.novelty_))
    np.testing.assert_allclose(novelty_of(model, counts), model.novelty_, rtol=1e-8)


def test_samples_that_coincide_are_not_novel():
    view = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    for offset in (0.0, 1e6):
        model = lf.GlobalAlignmentClustering(3, random_state=0).fit([view + offset, 2 * view - offset])
        assert np.all(model.novelty_ == 0)
        near, far = novelty_of(model, [[[offset, offset], [5.0 + offset] * 2], [[-offset] * 2, [9.0 - offset] * 2]])
        assert near == 0
        assert far > 1


@pytest.mark.parametrize("seed", range(3))
def test_about_one_in_a_hundred_new_samples_is_novel(seed):
    views = lf.datasets.make_views(3000, 4, n_views=3, random_state=seed).views
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(views[:1500])
    assert 0.001 < np.mean(novelty_of(model, views[1500:]) > 1) < 0.04


def test_one_product_for_all_views_gives_what_views_one_by_one_give(model, monkeypatch):
    novelty, observed = model.consensus_map_.novelty, np.ones((300, 2), dtype=bool)
    observed[0, 1] = False
    whole = novelty(DATA.views)
    np.testing.assert_allclose(novelty(DATA.views, observed)[1:], whole[1:])
    monkeypatch.setattr("latefusion.estimators.novelty.BLOCK_ENTRIES", 7 * 256)
    np.testing.assert_allclose(novelty(DATA.views), whole)


def test_a_sample_without_any_view_is_not_novel(model):
    observed = np.ones((300, 2), dtype=bool)
    observed[3] = False
    assert model.consensus_map_.novelty(DATA.views, observed)[3] == 0


def test_fit_leaves_the_novelty_of_training_samples_to_its_first_reader(model):
    assert "novelty_" not in vars(model)
    assert model.novelty_ is model.novelty_
    assert "novelty_" in vars(model)
    assert not hasattr(clone(model), "novelty_")


def test_a_second_fit_has_its_own_novelty():
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(DATA.views)
    first = model.novelty_
    model.fit(DATA.views[:200])
    np.testing.assert_allclose(model.novelty_, novelty_of(model, DATA.views[:200]), rtol=1e-10)
    assert len(first) == 300


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["copy", "deepcopy", "pickle"]
)
def test_copies_have_the_novelty(model, again):
    twin = again(model)
    assert "novelty_" in vars(twin)
    np.testing.assert_array_equal(twin.novelty_, model.novelty_)


def test_model_files_contain_the_novelty(model, tmp_path):
    lf.save(model, tmp_path / "m")
    np.testing.assert_array_equal(lf.load(tmp_path / "m").novelty_, model.novelty_)


def halve_a_value(view):
    view[301, 2] /= 2


def reverse_rows(view):
    view[:] = view[::-1].copy()


@pytest.mark.parametrize("change", [halve_a_value, reverse_rows])
@pytest.mark.parametrize("convert", [np.ascontiguousarray, np.asfortranarray])
def test_views_that_were_changed_in_place_have_no_novelty(change, convert):
    views = [convert(view) for view in lf.datasets.make_views(600, 3, n_views=2, random_state=0).views.arrays]
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    change(views[1])
    with pytest.warns(UserWarning, match="changed in place after fit"):
        assert model.novelty_ is None


def test_large_models_do_not_keep_their_training_views(monkeypatch):
    monkeypatch.setattr("latefusion.estimators.new_samples.LARGEST_TRAINING", 299)
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(DATA.views)
    assert model._training_views is None
    assert model.novelty_ is None
