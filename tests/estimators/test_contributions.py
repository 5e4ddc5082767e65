"""Contributions of views to single samples add up to what views are to the whole."""

import warnings

import numpy as np
import pytest

import latefusion as lf
from latefusion.estimators.contributions import contributions, share_contributions

ESTIMATORS = {
    "GAM": lf.GlobalAlignmentClustering,
    "LAM": lf.LocalAlignmentClustering,
    "late fusion": lf.LateFusionClustering,
}


def test_terms_add_up_to_the_squared_weights():
    model = lf.GlobalAlignmentClustering(3, random_state=0, tol=1e-12, max_iter=1000)
    model.fit(lf.datasets.make_views(80, 3, random_state=0).views)
    terms = contributions(model.partitions_, model.rotations_, model.view_weights_, model.consensus_)
    np.testing.assert_allclose(terms.sum(axis=0) / terms.sum(), model.view_weights_**2, rtol=1e-4)


def test_terms_are_those_of_the_objective():
    model = lf.GlobalAlignmentClustering(3, regularization=0.0, random_state=0)
    model.fit(lf.datasets.make_views(80, 3, random_state=0).views)
    terms = contributions(model.partitions_, model.rotations_, model.view_weights_, model.consensus_)
    assert terms.sum() == pytest.approx(model.objective_[-1], rel=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_shares_of_a_sample_sum_to_one_over_the_views_that_it_has(estimator, missing):
    views = lf.datasets.make_views(80, 3, missing=missing, random_state=0).views
    model = estimator(3, random_state=0).fit(views)
    weights = model.sample_view_weights()
    assert weights.shape == model.observed_.shape
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert weights.min() >= 0
    assert not weights[~model.observed_].any()


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_a_view_of_noise_has_little_to_do_with_any_sample(estimator):
    views = dict(lf.datasets.make_views(90, 3, random_state=0).views.items())
    views["noise"] = np.random.default_rng(0).normal(size=(90, 10))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "View 'noise' is statistically unrelated")
        weights = estimator(3, random_state=0).fit(views).sample_view_weights()
    assert np.argmin(weights.mean(axis=0)) == 3


def test_a_corrupted_view_contributes_less():
    """Ten samples get, in one view, the features of another cluster: there the view speaks against the others."""
    data = lf.datasets.make_views(120, 3, separation=8.0, random_state=0)
    arrays = [array.copy() for array in data.views.arrays]
    spoilt = np.arange(10)
    arrays[1][spoilt] = arrays[1][[np.flatnonzero(data.target != data.target[row])[row] for row in spoilt]]
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(arrays)
    weights = model.sample_view_weights()[:, 1]
    assert weights[spoilt].mean() < 0.4 * weights[10:].mean()


def test_contributions_that_are_all_negative_are_shared_alike():
    observed = np.array([[True, True, False], [True, True, True]])
    found = share_contributions(np.array([[-1.0, -2.0, 5.0], [3.0, -1.0, 1.0]]), observed)
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.0], [0.75, 0.0, 0.25]])
