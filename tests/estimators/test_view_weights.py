"""Weights of views by hand: prior factors that the solver multiplies."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.estimators.alignment_map import aligned_partitions

OURS = (lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering, lf.LateFusionClustering)
DATA = lf.datasets.make_views(n_samples=90, n_clusters=3, n_views=3, random_state=0)
NAMES = list(DATA.views.names)


@pytest.mark.parametrize("method", OURS)
def test_equal_weights_change_nothing(method):
    plain = method(3, random_state=0).fit(DATA.views)
    for weights in ([1, 1, 1], [5.0, 5.0, 5.0], dict.fromkeys(NAMES, 2), {NAMES[0]: 1}):
        model = method(3, random_state=0, view_weights=weights).fit(DATA.views)
        np.testing.assert_allclose(np.abs(model.consensus_.T @ plain.consensus_), np.eye(3), atol=1e-8)
        np.testing.assert_array_equal(model.labels_, plain.labels_)


@pytest.mark.parametrize("method", OURS)
def test_a_larger_factor_gives_a_larger_weight(method):
    weights = [method(3, random_state=0, view_weights={NAMES[0]: c}).fit(DATA.views).view_weights_ for c in (0.2, 1, 5)]
    shares = [one[0] ** 2 / np.sum(one**2) for one in weights]
    assert shares[0] < shares[1] < shares[2]


@pytest.mark.parametrize("method", OURS)
def test_a_dominant_view_decides(method):
    """Two views of other clusters: the consensus follows the view with the large factor."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, 100), rng.integers(0, 2, 100)
    views = {name: rng.normal(0, 0.3, (100, 3)) + 3 * labels[:, None] for name, labels in (("a", first), ("b", second))}
    for name, labels in (("a", first), ("b", second)):
        model = method(2, random_state=0, view_weights={name: 30}).fit(views)
        if method is not lf.LateFusionClustering:
            model.set_params(regularization=0.0).fit(views)  # M is the mean of both
        assert lf.metrics.adjusted_rand(labels, model.labels_) > 0.9
        np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_the_weights_satisfy_their_formula():
    """β_p is proportional to √c_p Tr(Fᵀ H_p W_p), and F is the polar factor of Σ_p √c_p β_p H_p W_p + λM."""
    prior = np.array([3.0, 1.0, 0.5])
    model = lf.GlobalAlignmentClustering(3, random_state=0, view_weights=prior, tol=1e-15, max_iter=1000)
    model.fit(DATA.views)
    partitions, average = aligned_partitions(model._partitions)
    factors = np.sqrt(prior / prior.mean())
    traces = np.array([np.trace(model.consensus_.T @ h @ w) for h, w in zip(partitions, model.rotations_, strict=True)])
    expected = factors * traces
    np.testing.assert_allclose(model.view_weights_, expected / np.linalg.norm(expected), atol=1e-6)
    fused = average + sum(
        f * b * h @ w for f, b, h, w in zip(factors, model.view_weights_, partitions, model.rotations_, strict=True)
    )
    left, _, right = np.linalg.svd(fused, full_matrices=False)
    np.testing.assert_allclose(left @ right, model.consensus_, atol=1e-5)
    np.testing.assert_allclose(model.transform(DATA.views), model.consensus_, atol=1e-10)


@pytest.mark.parametrize("weights", [{"view_0": 0}, [1, -1, 1], [np.inf, 1, 1], {"view_0": np.nan}])
def test_weights_must_be_positive(weights):
    with pytest.raises(ValueError, match=r"view_weights must be positive numbers.*leave it out"):
        lf.GlobalAlignmentClustering(3, view_weights=weights).fit(DATA.views)


def test_unknown_views_and_wrong_numbers_are_named():
    with pytest.raises(ValueError, match=r"view_weights contains unknown views: \['x'\]"):
        lf.LateFusionClustering(3, view_weights={"x": 2}).fit(DATA.views)
    with pytest.raises(ValueError, match="view_weights has 2 entries for 3 views"):
        lf.LateFusionClustering(3, view_weights=[1, 2]).fit(DATA.views)


def test_leaving_out_a_view_leaves_out_its_factor():
    model = lf.LateFusionClustering(3, random_state=0, view_weights=[3, 1, 1]).fit(DATA.views)
    assert [verdict.view for verdict in model.leave_one_view_out()] == NAMES
