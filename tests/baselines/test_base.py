"""The base class of the comparison methods: the matrices that methods work on, and the attributes of a result."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.arrays import memory
from latefusion.baselines import METHODS
from latefusion.baselines.base import ComparisonMethod
from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel, linear_kernel, polynomial_kernel, standardize_kernel
from latefusion.types import SolverResult

DATA = make_views(40, 3, n_views=2, n_features=[4, 3], random_state=0)
A, B = DATA.views.arrays


class Shell(ComparisonMethod):
    """A comparison method that does nothing."""

    def __init__(
        self,
        n_clusters=3,
        *,
        views=None,
        similarity="auto",
        kernel="gaussian",
        kernel_params=None,
        n_init=3,
        random_state=0,
    ):
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.random_state = random_state


def test_comparison_methods_see_standardised_kernels():
    for kernel, expected in zip(Shell()._fit_kernels([A.astype(np.float32), B]), (A, B), strict=True):
        assert kernel.dtype == np.float64
        np.testing.assert_allclose(kernel, standardize_kernel(gaussian_kernel(expected))[0], atol=1e-4)


def test_comparison_methods_see_affinities_that_are_not_centred():
    (affinity,) = Shell()._fit_affinities([A])
    distances = np.sqrt(np.sum((A[:, None] - A) ** 2, axis=2))
    np.testing.assert_allclose(affinity, np.exp(-(distances**2) / (2 * np.median(distances) ** 2)), atol=1e-10)
    (given,) = Shell(similarity="precomputed")._fit_affinities([7 * linear_kernel(A)])
    cosines = linear_kernel(A / np.linalg.norm(A, axis=1, keepdims=True))
    np.testing.assert_allclose(given, np.maximum(cosines, 0.0), atol=1e-12)
    (power,) = Shell(kernel="polynomial", kernel_params={"degree": 4})._fit_affinities([A])
    np.testing.assert_allclose(power, cosines**4, atol=1e-10)
    (own,) = Shell(kernel=lambda left, right: polynomial_kernel(left, right, degree=4))._fit_affinities([A])
    np.testing.assert_allclose(own, power, atol=1e-10)


def test_comparison_methods_see_features_with_the_inner_products_of_a_kernel():
    dense, from_kernel = Shell(similarity=["auto", "precomputed"])._fit_features([sp.csr_array(A), gaussian_kernel(B)])
    np.testing.assert_array_equal(dense, A)
    np.testing.assert_allclose(linear_kernel(from_kernel), standardize_kernel(gaussian_kernel(B))[0], atol=1e-8)


def test_results_become_attributes_and_labels():
    consensus = np.eye(3)[DATA.target]
    model = Shell()._store(SolverResult(consensus, np.array([0.5, 0.5]), [2.0, 1.0], 2, True))
    assert adjusted_rand_score(DATA.target, model.labels_) == 1.0
    assert (model.n_iter_, model.converged_) == (2, True)
    assert list(model.objective_) == [2.0, 1.0]
    given = Shell()._store(SolverResult(None, None, [1.0], 1, True, labels=DATA.target))
    np.testing.assert_array_equal(given.labels_, DATA.target)
    assert not hasattr(given, "consensus_")
    assert not hasattr(given, "view_weights_")


def test_no_convergence_warns_with_advice():
    with pytest.warns(ConvergenceWarning, match=r"Shell did not converge in 1 iterations. Raise max_iter or tol"):
        Shell()._store(SolverResult(np.eye(3)[DATA.target], None, [1.0], 1, False))


@pytest.mark.parametrize("step", ["_fit_kernels", "_fit_affinities"])
def test_comparison_methods_ask_for_the_memory_of_all_kernels(monkeypatch, step):
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 3 * 40 * 40 * 8)
    getattr(Shell(), step)([A, B])
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 3 * 40 * 40 * 8 - 1)
    with pytest.raises(MemoryError, match=r"Shell works on one 40 x 40 similarity .*GlobalAlignmentClustering"):
        getattr(Shell(), step)([A, B])


@pytest.mark.parametrize("name", ["LMSC", "MVGL", "GMC", "SWMC", "MvWCMD"])
def test_methods_on_features_ask_for_memory_before_they_work(monkeypatch, name):
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 0)
    with pytest.raises(MemoryError, match=r" 40 x \d+ .*fewer samples"):
        METHODS[name](n_clusters=3).fit([A, B])


def test_a_wrong_number_of_components_is_reported_and_the_right_one_is_not(recwarn):
    graph, model = sp.csr_array(np.diag([1.0, 0.0])), Shell()
    model._store_graph(graph, 3)
    assert not recwarn.list
    with pytest.warns(ConvergenceWarning, match=r"Shell.* 2 connected.* instead of n_clusters=3.*spectral"):
        model._store_graph(graph, 2)
    assert model.n_components_ == 2
    assert model.graph_.nnz == 1


def test_rows_stay_sparse_and_in_double_precision():
    dense, sparse = Shell()._fit_rows([A.astype(np.float32), sp.csr_array(B)])
    assert isinstance(dense, np.ndarray)
    assert dense.dtype == sparse.dtype == np.float64
    np.testing.assert_allclose(dense, A, rtol=1e-6)
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), B)
    (factor,) = Shell(similarity="precomputed")._fit_rows([linear_kernel(A)])
    np.testing.assert_allclose(factor @ factor.T, standardize_kernel(linear_kernel(A))[0], atol=1e-10)
