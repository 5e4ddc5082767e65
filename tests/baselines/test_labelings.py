import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cluster import KMeans

import latefusion as lf
from latefusion.baselines import CONSENSUS_METHODS, CoAssociationLinkage, IndicatorKMeans
from latefusion.baselines.labelings import cluster_indicators, co_association


@pytest.fixture
def labelings():
    generator = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 30)
    noisy = [np.where(generator.random(120) < 0.2, generator.integers(0, 4, 120), truth) for _ in range(7)]
    return truth, noisy


methods = pytest.mark.parametrize("method", CONSENSUS_METHODS.values())


@methods
def test_planted_clusters_are_found_from_any_container(method, labelings):
    truth, noisy = labelings
    labels = method(4).fit_predict(noisy)
    assert lf.metrics.clustering_accuracy(truth, labels) > 0.95
    as_views = lf.Views({f"run {position}": one[:, None] for position, one in enumerate(noisy)})
    words = {str(position): np.array(["a", "b", "c", "d"])[one] for position, one in enumerate(noisy)}
    for X in (as_views, words):
        assert lf.metrics.adjusted_rand(labels, clone(method(4)).fit_predict(X)) == 1


@methods
def test_exactly_so_many_clusters(method):
    """Also where many pairs of samples are equally similar."""
    labels = method(4).fit_predict([np.repeat([0, 1], 10), np.tile([0, 1], 10)])
    assert len(np.unique(labels)) == 4
    assert len(np.unique(method(3).fit_predict([np.repeat([0, 1], 10), np.tile([0, 1], 10)]))) == 3


def test_indicators_are_those_of_one_hot_coding(labelings):
    _, noisy = labelings
    columns = np.hstack([np.eye(4)[one] for one in noisy])
    assert np.array_equal(np.hstack([one.toarray() for one in cluster_indicators(noisy)]), columns)
    expected = KMeans(4, n_init=10, random_state=3).fit_predict(columns)
    assert lf.metrics.adjusted_rand(IndicatorKMeans(4, random_state=3).fit_predict(noisy), expected) == 1


def test_linkage_is_that_of_scipy(labelings):
    _, noisy = labelings
    apart = np.mean([one[:, None] != one for one in noisy], axis=0)
    np.testing.assert_allclose(1 - co_association(cluster_indicators(noisy)), apart, atol=1e-12)
    expected = fcluster(linkage(squareform(apart, checks=False), "average"), 4, "maxclust")
    assert lf.metrics.adjusted_rand(CoAssociationLinkage(4).fit_predict(noisy), expected) == 1


def test_unassigned_samples_count_only_where_they_are_assigned():
    found = co_association(cluster_indicators([[0, 0, 1, -1], [0, 1, 1, 1]]))
    expected = [[1, 0.5, 0, 0], [0.5, 1, 0.5, 1], [0, 0.5, 1, 1], [0, 1, 1, 1]]
    np.testing.assert_array_equal(found, expected)


def test_the_matrix_must_fit_into_memory(monkeypatch):
    monkeypatch.setattr("latefusion.arrays.memory.available_memory", lambda like=None: 10)
    with pytest.raises(MemoryError, match="CoAssociationLinkage works on a 4 x 4 matrix"):
        CoAssociationLinkage(2).fit([[0, 0, 1, 1]])


@methods
def test_wrong_parameters_are_errors(method):
    with pytest.raises(ValueError, match="n_clusters"):
        method(0).fit([[0, 0, 1, 1]])
