"""SNF: similarity network fusion.

The affinity of every view is diffused through the neighbour graphs of the other views, until all networks agree:

    W_v ← S_v ( Σ_{u≠v} W_u / (m - 1) ) S_vᵀ,    then  W_v ← (N(W_v) + N(W_v)ᵀ) / 2,

all views from the old networks. There is no objective function. N divides the entries of a row by twice the sum of
those off the diagonal, and puts ½ on the diagonal. The local graph S_v holds the K largest entries of every row of the
first W_v, scaled to sum one; the diagonal is one of them. The fused network is P = N(Σ W_v / m), symmetrised. Labels
come from spectral clustering of P.

============  ======  ==========================================================
here          paper   shape
============  ======  ==========================================================
affinities    W       m matrices, n_samples x n_samples, see `scaled_affinity`
networks      P_v     m matrices, n_samples x n_samples
local         S_v     m sparse matrices, n_samples x n_samples
fused         P_c     n_samples x n_samples
width         µ       number
n_neighbors   K       number
max_iter      T       number of rounds
============  ======  ==========================================================

A round costs O(m n² K), since S_v is sparse; published implementations take O(m n³). Memory is O(m n²).

Differences from the authors' code (R package SNFtool 2.3.1):

- All entries that tie with the K-th largest are kept. The code keeps the last of them, so that its result depends on
  the order of the samples.
- The rotation that gives the labels starts at rows that point furthest apart, and at random rotations. The code starts
  at the sample in the middle of the table: ``assign_labels="published"``.
- With one view there is nothing to diffuse, and the fused network is N(W), symmetrised; the code divides by zero.
- Equal samples have distance zero. In the code it is about 1e-8, the root of a rounding error.

Wang, Mezlini, Demir, Fiume, Tu, Brudno, Haibe-Kains, Goldenberg: Similarity network fusion for aggregating data types
on a genomic scale. Nature Methods, 2014.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import require_memory, row_blocks
from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.scaled_affinity import (
    Distance,
    Ties,
    largest_entries,
    scaled_affinity,
    view_distances,
)
from latefusion.baselines.support.spectral_labels import (
    Labelling,
    label_embedding,
    rank_cluster_numbers,
    spectral_embedding,
)
from latefusion.types import SolverResult

# Columns of a network that are multiplied at a time.
BLOCK_COLUMNS = 256


def solve_snf(
    affinities: Iterable[NDArray[Any]],
    n_clusters: int,
    *,
    n_neighbors: int = 20,
    max_iter: int = 20,
    ties: Ties = "all",
) -> tuple[SolverResult, NDArray[Any], list[NDArray[Any]]]:
    """Fuse affinities by diffusion.

    Parameters
    ----------
    affinities : iterable of ndarray of shape (n_samples, n_samples)
        Symmetric and non-negative. They are read one after the other and not changed.
    n_clusters : int
        Number of columns of the embedding.
    n_neighbors : int, default=20
        Entries K in a row of the local graphs, including the diagonal.
    max_iter : int, default=20
        Number of rounds.
    ties : {"all", "last"}, default="all"
        Which of equal entries the local graphs keep: all, or those with the highest indices as in the authors' code.

    Returns
    -------
    result : SolverResult
        The consensus is the spectral embedding of the fused network. The objective is the relative change of the mean
        network in every round, ‖W̄_new - W̄‖ / ‖W̄‖; the method does not minimise it.
    fused : ndarray of shape (n_samples, n_samples)
    networks : list of ndarray of shape (n_samples, n_samples)
        Those of the views after the last round.
    """
    networks = [normalize_network(affinity) for affinity in affinities]
    if not 1 <= n_neighbors < len(networks[0]):
        raise ValueError(
            f"n_neighbors={n_neighbors} must be at least 1 and below n_samples={len(networks[0])}. Use fewer "
            "neighbours or more samples."
        )
    n_views = len(networks)
    total = _total(networks)
    objective = []
    if n_views > 1:
        local = [largest_entries(network, n_neighbors, ties=ties) for network in networks]
        for _ in range(max_iter):
            for view, graph in enumerate(local):
                others = total - networks[view]
                others /= n_views - 1
                networks[view] = normalize_network(_product(graph, _product(graph, others)))
            previous, total = total, _total(networks)
            objective.append(float(np.linalg.norm(total - previous) / np.linalg.norm(previous)))
    fused = normalize_network(total / n_views)
    embedding = spectral_embedding(fused, n_clusters)[1]
    objective = objective or [0.0]
    return SolverResult(embedding, None, objective, len(objective), True), fused, networks


def normalize_network(affinity: NDArray[Any]) -> NDArray[Any]:
    """N(W), symmetrised: half of a row is on the diagonal, the other half is shared by the other samples.

    Parameters
    ----------
    affinity : ndarray of shape (n_samples, n_samples)

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    network = affinity.copy()
    np.fill_diagonal(network, 0.0)
    sums = network.sum(axis=1, keepdims=True)
    network /= np.where(sums > 0, 2.0 * sums, 1.0)
    np.fill_diagonal(network, 0.5)
    symmetric = network + network.T
    symmetric *= 0.5
    return symmetric


def _product(graph: scipy.sparse.csr_array, matrix: NDArray[Any]) -> NDArray[Any]:
    """The product S Mᵀ, for some columns at a time: they stay in the cache."""
    product = np.empty_like(matrix)
    for columns in row_blocks(len(matrix), BLOCK_COLUMNS):
        product[:, columns] = graph @ np.ascontiguousarray(matrix[columns].T)
    return product


def _total(networks: Sequence[NDArray[Any]]) -> NDArray[Any]:
    total = networks[0].copy()
    for network in networks[1:]:
        total += network
    return total


class SimilarityNetworkFusion(ComparisonMethod):
    """Similarity network fusion (SNF).

    Diffuses the affinity of every view through the nearest-neighbour graphs of the others until they agree, and
    clusters the fused network by spectral clustering. There is no objective function.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also one entry per view. Distances in a
        kernel are those of its centred feature space, scaled to unit length.
    standardize : bool, default=True
        Whether columns are divided by their standard deviations, as the authors advise. Kernels stay as they are.
    distance : {"euclidean", "sqeuclidean"}, default="euclidean"
        Distances in the exponent, plain as in the paper, or squared as in some implementations.
    n_neighbors : int, default=20
        Number of neighbours K, for the width of the affinities and for the local graphs; fewer if there are fewer
        samples. The authors advise 10 to 30.
    width : float, default=0.5
        The factor μ of the width of the affinities. The authors advise 0.3 to 0.8.
    max_iter : int, default=20
        Number of rounds. The authors advise 10 to 20.
    assign_labels : {"rotation", "kmeans", "published"}, default="rotation"
        Labels by spectral rotation from several starts, by k-means, or by the rotation of the authors' code, whose
        start depends on the order of the samples and which may find fewer than ``n_clusters`` clusters.
    n_init : int, default=10
        Number of starts of the rotation or of k-means.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    graph_ : ndarray of shape (n_samples, n_samples)
        The fused network P; about one half on the diagonal.
    n_neighbors_ : int
        Number of neighbours K.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Eigenvectors of the smallest eigenvalues of the normalised Laplacian of P.
    objective_ : ndarray of shape (n_iter_,)
        Relative change of the mean network of the views in every round.
    n_iter_ : int
        Number of rounds; one for a single view.
    converged_ : bool
        Always true: the number of rounds is fixed.

    See Also
    --------
    latefusion.baselines.nemo.NeighborhoodClustering : Averages such graphs, also if views are missing.

    References
    ----------
    Wang, Mezlini, Demir, Fiume, Tu, Brudno, Haibe-Kains, Goldenberg: Similarity network fusion for aggregating data
    types on a genomic scale. Nature Methods, 2014.

    Examples
    --------
    >>> from latefusion.baselines.snf import SimilarityNetworkFusion
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=3, random_state=0)
    >>> model = SimilarityNetworkFusion(n_clusters=3, random_state=0).fit(data.views)
    >>> model.graph_.shape
    (60, 60)
    >>> bool(model.objective_[-1] < model.objective_[0])
    True
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [10, 15, 20, 25, 30],
        "width": [0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "standardize": ["boolean"],
        "distance": [StrOptions({"euclidean", "sqeuclidean"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "width": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "assign_labels": [StrOptions({"rotation", "kmeans", "published"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        standardize: bool = True,
        distance: Distance = "euclidean",
        n_neighbors: int = 20,
        width: float = 0.5,
        max_iter: int = 20,
        assign_labels: Labelling = "rotation",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.standardize = standardize
        self.distance = distance
        self.n_neighbors = n_neighbors
        self.width = width
        self.max_iter = max_iter
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SimilarityNetworkFusion:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        SimilarityNetworkFusion
            The fitted estimator.
        """
        views = self._fit_views(X)
        n_samples, n_views = len(views), views.n_views
        require_memory(
            (n_views + 3) * n_samples**2 * 8,
            f"{type(self).__name__} works on one {n_samples} x {n_samples} network per view ({n_views} views, and 3 "
            f"copies): it",
            "Use fewer samples, or GlobalAlignmentClustering, which needs no such matrices for large problems.",
        )
        self.n_neighbors_ = min(self.n_neighbors, n_samples - 1)
        distances = (
            view_distances(array, kind, standardize=self.standardize, distance=self.distance)
            for array, kind in zip(views.arrays, self.view_inputs_, strict=True)
        )
        affinities = (scaled_affinity(delta, self.n_neighbors_, self.width) for delta in distances)
        result, self.graph_, _ = solve_snf(
            affinities, self.n_clusters, n_neighbors=self.n_neighbors_, max_iter=self.max_iter
        )
        labels = label_embedding(
            result.consensus, self.n_clusters, self.assign_labels, n_init=self.n_init, random_state=self.random_state
        )
        self._store(result, labels)
        return self

    def estimate_n_clusters(self, candidates: Sequence[int] = (2, 3, 4, 5)) -> list[int]:
        """Numbers of clusters by the gaps between the eigenvalues of the fused network, best first.

        Parameters
        ----------
        candidates : sequence of int, default=(2, 3, 4, 5)
            Numbers of clusters below the number of samples.

        Returns
        -------
        list of int
        """
        check_is_fitted(self)
        return rank_cluster_numbers(self.graph_, candidates, weighted=False)
