"""Fitters read only the rows that they announce, and fit the map that is fitted in memory on all rows."""

import numpy as np
import pytest
import scipy.sparse

from latefusion import GraphSimilarity, KernelSimilarity
from latefusion.similarities.centered_rows import CenteredRows
from latefusion.similarities.factor import mean_row

VIEW = np.random.default_rng(0).standard_normal((10_200, 6)) + 3


class Seen:
    """Rows of a view, but only those that were asked for beforehand."""

    def __init__(self, view, rows):
        self.view, self.rows = view, {*rows.tolist()}

    def __call__(self, rows):
        assert {*rows.tolist()} <= self.rows
        return self.view[rows]


def fitted(similarity, view=VIEW):
    fitter = similarity.fitter(view.shape[0], 3)
    return fitter, fitter.fit(Seen(view, fitter.rows), mean_row(view))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "gaussian", "laplace"])
def test_kernels_have_the_features_they_have_in_memory(kernel, sparse):
    view = scipy.sparse.csr_array(np.maximum(VIEW - 3, 0)) if sparse else VIEW
    similarity = KernelSimilarity(kernel)
    fitter, extension = fitted(similarity, view)
    factor, _ = similarity.similarity(view, 3)
    found, expected = extension.features(view[:50]), factor.rows(0, 50)
    assert isinstance(found, CenteredRows) == isinstance(expected, CenteredRows) == (sparse and kernel == "linear")
    if isinstance(found, CenteredRows):  # rows that are known by their products only
        found, expected = found.inner_products(found), expected.inner_products(expected)
    np.testing.assert_array_equal(found, expected)
    if kernel == "linear":
        assert len(np.unique(fitter.rows)) < 10_200


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_graphs_have_the_anchors_they_have_in_memory(metric):
    similarity = GraphSimilarity(metric=metric, n_anchors=50)
    _, extension = fitted(similarity)
    factor, expected = similarity.similarity(VIEW, 3)
    assert extension.sigma == expected.sigma
    plain = extension.features(VIEW[:100]).toarray()
    np.testing.assert_allclose(plain.sum(axis=1), 1.0)
    np.testing.assert_allclose(plain * factor.feature_map.scale, factor.rows(0, 100).toarray(), atol=1e-9)
