"""NEMO: neighbourhood based multi-omics clustering.

The graphs of the views hold relative similarities to the nearest samples, and are averaged over the views in which both
samples of a pair are observed:

    S_ij = mean over v in V_ij of (A_v + A_vᵀ)_ij,

where A_v holds the q_v largest entries of every row of the affinity W_v, scaled to sum one. A pair without a common
view gets the mean of S over all other pairs. There is no objective function. Labels come from spectral clustering of S.
W_v is that of `latefusion.baselines.support.scaled_affinity`.

============  ======  ================================================================
here          paper   shape
============  ======  ================================================================
affinities    S_l     m matrices, of the n_v samples observed in view v
neighbors     RS_l    m sparse matrices A_v + A_vᵀ, n_samples x n_samples
graph         ARS     n_samples x n_samples
mask          -       n_samples x m, True where a sample is observed
n_neighbors   k       one number q_v for every view
============  ======  ================================================================

The affinity of a view takes O(n_v² d_v) and exists only while its view is read. The graphs have n_v q_v entries each,
so with the default q_v = n_v / 6 their sum is nearly dense for many views; with fewer neighbours it is sparse.

Differences from the authors' code (R package NEMO): the rotation that gives the labels starts at rows that point
furthest apart, and at random rotations, instead of at the sample in the middle of the table
(``assign_labels="published"``). q_v is at least 2, since a sample counts as one of its own neighbours. Columns are
divided by their standard deviations here; the authors do it in the scripts of their benchmark.

Rappoport, Shamir: NEMO: cancer subtyping by integration of partial multi-omic data. Bioinformatics, 2019.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import require_memory
from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.scaled_affinity import (
    Distance,
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
from latefusion.types import SolverResult, Views

# Fewest samples in which a view must be observed: a sample, a neighbour, and one that is not.
FEWEST_SAMPLES = 3
# Stored pairs whose common views are counted at a time.
COUNTED_PAIRS = 2**20


def solve_nemo(
    affinities: Iterable[NDArray[Any]], mask: NDArray[np.bool_], n_neighbors: Sequence[int], n_clusters: int
) -> tuple[SolverResult, Any]:
    """Average the relative similarities of all views.

    Parameters
    ----------
    affinities : iterable of ndarray of shape (n_observed_v, n_observed_v)
        Affinities of the observed samples of every view. They are read one after the other.
    mask : ndarray of bool of shape (n_samples, n_views)
        True where a sample is observed; every sample in at least one view.
    n_neighbors : sequence of int
        Entries q_v in a row of the graph of every view, including the diagonal.
    n_clusters : int
        Number of columns of the embedding.

    Returns
    -------
    result : SolverResult
        The consensus is the spectral embedding of S. The only value of the objective is the sum of the ``n_clusters``
        smallest eigenvalues of the normalised Laplacian of S.
    graph : csr_array or ndarray of shape (n_samples, n_samples)
        S; sparse if every two samples have a common view.
    """
    blocks = zip(affinities, mask.T, n_neighbors, strict=True)
    graph = average_graphs([relative_similarities(one, observed, width) for one, observed, width in blocks], mask)
    values, embedding = spectral_embedding(graph, n_clusters)
    return SolverResult(embedding, None, [float(values.sum())], 1, True), graph


def relative_similarities(
    affinity: NDArray[Any], observed: NDArray[np.bool_], n_neighbors: int
) -> scipy.sparse.csr_array:
    """A + Aᵀ of one view, with empty rows for samples that are not observed.

    Parameters
    ----------
    affinity : ndarray of shape (n_observed, n_observed)
    observed : ndarray of bool of shape (n_samples,)
    n_neighbors : int
        Entries in a row of A, including the diagonal.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
    """
    nearest = largest_entries(affinity, n_neighbors)
    block = (nearest + nearest.T).tocoo()
    present = np.flatnonzero(observed)
    shape = (len(observed), len(observed))
    return scipy.sparse.coo_array((block.data, (present[block.row], present[block.col])), shape=shape).tocsr()


def average_graphs(graphs: Sequence[scipy.sparse.csr_array], mask: NDArray[np.bool_]) -> Any:
    """Mean of the graphs of the views, for every pair of samples over the views that observe both.

    Parameters
    ----------
    graphs : sequence of csr_array of shape (n_samples, n_samples)
    mask : ndarray of bool of shape (n_samples, n_views)

    Returns
    -------
    csr_array or ndarray of shape (n_samples, n_samples)
        Dense if some pairs have no common view: they get the mean of all other pairs.
    """
    total = graphs[0]
    for graph in graphs[1:]:
        total = total + graph
    total = total.tocsr()
    if mask.all():
        return total / len(graphs)
    rows = np.repeat(np.arange(len(mask)), np.diff(total.indptr))
    for start in range(0, total.nnz, COUNTED_PAIRS):
        part = slice(start, start + COUNTED_PAIRS)
        total.data[part] /= np.count_nonzero(mask[rows[part]] & mask[total.indices[part]], axis=1)
    patterns, pattern_of = np.unique(mask, axis=0, return_inverse=True)
    if ((patterns.astype(np.intp) @ patterns.T) > 0).all():
        return total
    return _with_mean_of_pairs(total, patterns, pattern_of.ravel())


def _with_mean_of_pairs(
    graph: scipy.sparse.csr_array, patterns: NDArray[np.bool_], pattern_of: NDArray[np.intp]
) -> NDArray[Any]:
    apart = (patterns.astype(np.intp) @ patterns.T) == 0
    sizes = np.bincount(pattern_of, minlength=len(patterns))
    n_samples = len(pattern_of)
    n_pairs = (n_samples * (n_samples - 1) - sizes @ apart @ sizes) / 2
    mean = (graph.sum() - graph.diagonal().sum()) / 2 / n_pairs if n_pairs else 0.0
    dense = graph.toarray()
    for samples, others in zip(range(len(patterns)), apart, strict=True):
        dense[np.ix_(pattern_of == samples, others[pattern_of])] = mean
    return dense


class NeighborhoodClustering(ComparisonMethod):
    """Neighbourhood based multi-omics clustering (NEMO), for complete and for incomplete views.

    Averages the relative similarities of samples to their nearest neighbours, for every pair of samples over the views
    in which both are observed, and clusters the mean graph by spectral clustering. There is no objective function.

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
        Whether columns are divided by the standard deviations of the observed samples. Kernels stay as they are.
    distance : {"euclidean", "sqeuclidean"}, default="sqeuclidean"
        Distances in the exponent of the affinity, squared as in the authors' code, or plain.
    n_neighbors : int, default=None
        Number q of neighbours of a sample, itself included, in every view; fewer if there are fewer samples. A sixth of
        the observed samples of the view when None.
    width : float, default=0.5
        The factor μ of the width of the affinities.
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
    graph_ : csr_array or ndarray of shape (n_samples, n_samples)
        The mean graph S; dense if some pairs of samples have no common view.
    n_neighbors_ : ndarray of shape (n_views,)
        Number of neighbours in every view.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Eigenvectors of the smallest eigenvalues of the normalised Laplacian of S.
    objective_ : ndarray of shape (1,)
        Sum of these eigenvalues.
    n_iter_ : int
        Always one.
    converged_ : bool
        Always true.

    See Also
    --------
    latefusion.baselines.snf.SimilarityNetworkFusion : Diffuses such graphs through each other.

    References
    ----------
    Rappoport, Shamir: NEMO: cancer subtyping by integration of partial multi-omic data. Bioinformatics, 2019.

    Examples
    --------
    >>> from latefusion.baselines.nemo import NeighborhoodClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=3, missing=0.3, random_state=0)
    >>> model = NeighborhoodClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> model.n_neighbors_
    array([7, 7, 7])
    >>> model.estimate_n_clusters(range(2, 8))[0]
    3
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    accepts_missing_views: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "standardize": ["boolean"],
        "distance": [StrOptions({"euclidean", "sqeuclidean"})],
        "n_neighbors": [Interval(Integral, 2, None, closed="left"), None],
        "width": [Interval(Real, 0, None, closed="neither")],
        "assign_labels": [StrOptions({"rotation", "kmeans", "published"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        standardize: bool = True,
        distance: Distance = "sqeuclidean",
        n_neighbors: int | None = None,
        width: float = 0.5,
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
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> NeighborhoodClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views. Samples may be missing in some of them (`Views` with a mask).
        y : ignored

        Returns
        -------
        NeighborhoodClustering
            The fitted estimator.
        """
        views = self._fit_views(X)
        mask = views.observed
        self.n_neighbors_ = self._neighbor_numbers(views)
        largest, n_samples = int(mask.sum(axis=0).max()), len(views)
        n_entries = largest**2 * 2 + n_samples**2 * (1 if not mask.all() else 0)
        require_memory(
            n_entries * 8,
            f"{type(self).__name__} makes one {largest} x {largest} affinity at a time, and a graph of {n_samples} "
            f"samples: it",
            "Use fewer samples, or GlobalAlignmentClustering, which needs no such matrices for large problems.",
        )
        result, self.graph_ = solve_nemo(self._affinities(views), mask, self.n_neighbors_.tolist(), self.n_clusters)
        labels = label_embedding(
            result.consensus, self.n_clusters, self.assign_labels, n_init=self.n_init, random_state=self.random_state
        )
        self._store(result, labels)
        return self

    def _neighbor_numbers(self, views: Views) -> NDArray[np.intp]:
        counts = views.observed.sum(axis=0)
        for name, count in zip(views.names, counts.tolist(), strict=True):
            if count < FEWEST_SAMPLES:
                raise ValueError(
                    f"View {name!r} is observed for {count} sample(s), but a graph of neighbours needs at least "
                    f"{FEWEST_SAMPLES}. Remove the view, or add samples that have it."
                )
        wanted = np.rint(counts / 6) if self.n_neighbors is None else np.full(len(counts), self.n_neighbors)
        return np.clip(wanted, 2, counts - 1).astype(np.intp)

    def _affinities(self, views: Views) -> Iterator[NDArray[Any]]:
        columns = zip(views.arrays, self.view_inputs_, views.observed.T, self.n_neighbors_.tolist(), strict=True)
        for array, kind, observed, n_neighbors in columns:
            part = array if observed.all() else array[observed]
            if kind == "precomputed" and not observed.all():
                part = part[:, observed]
            delta = view_distances(part, kind, standardize=self.standardize, distance=self.distance)
            yield scaled_affinity(delta, n_neighbors, self.width)

    def estimate_n_clusters(self, candidates: Sequence[int] | None = None) -> list[int]:
        """Numbers of clusters by the gaps between the eigenvalues of the mean graph, best first.

        Parameters
        ----------
        candidates : sequence of int, default=None
            Numbers of clusters below the number of samples; those from 2 to 15 when None.

        Returns
        -------
        list of int
        """
        check_is_fitted(self)
        return rank_cluster_numbers(self.graph_, range(2, 16) if candidates is None else candidates, weighted=True)
