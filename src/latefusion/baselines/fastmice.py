"""FastMICE: fast multi-view clustering via ensembles.

Many cheap spectral clusterings of random views and random features, and one clustering of these. A base clustering

1. draws a number K of clusters from k..2k, a number of views, some of the features of every view, and the views;
2. chooses anchors in every view, about p in all, and joins every sample to its nearest anchors, about q in all:
   b_ij = exp(-d_ij² / 2σ²) with the mean distance σ, rows divided by their norm;
3. cuts the bipartite graph of samples and the anchors of all its views into K clusters.

The consensus cuts the bipartite graph of samples and the clusters of all base clusterings into k. For both cuts

    N = D_y^{-1/2} Bᵀ D_x^{-1} B D_y^{-1/2},    E = D_x^{-1} B D_y^{-1/2} V,

where V holds the leading eigenvectors of N; k-means on the rows of E, divided by their norms, gives the labels.

==============  ======  ==================================================
here            paper   shape
==============  ======  ==================================================
views           X_v     m matrices, n_samples x n_features_v
weights         B       n_samples x n_anchors or total number of clusters
base_labels     π       n_samples x n_clusterings
embedding       E       n_samples x n_clusters
==============  ======  ==================================================

A base clustering costs O(n √p d + n q d + p² d + p³) and the memory of its sparse graph, O(nq): linear in n.

Differences from the authors' code:

- One seed determines all draws; every base clustering has a generator of its own. The code seeds from the clock before
  every draw.
- Samples and views are first brought to an order of their own, so results do not depend on the order of the input.
- Where there are few samples and anchors, nearest anchors are exact. The approximate search has as many candidates as
  there are anchors where 10q + 1 are more; the code fails there.
- With more connected components than clusters, the code uses an arbitrary part of their indicators. Here the number of
  neighbours is doubled, three times at most, while a base graph has more components than clusters. If it still has, its
  components are the base clusters. If the base clusterings agree on more than k parts there is a warning, and the
  smaller parts are joined to the k largest arbitrarily.
- k-means of the consensus starts from k-means++ and runs to convergence, instead of 20 iterations from random rows. The
  one of base clusterings has few rounds from random rows, as in the code, but with means instead of unit centres.
- A precomputed kernel is represented by its principal components. They are not features of equal standing, so all of
  them are used in every base clustering.

Huang, Wang, Lai: Fast Multi-view Clustering via Ensembles: Towards Scalability, Superiority, and Simplicity. IEEE
Trans. Knowledge and Data Engineering, 2023.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import take_columns, threads_for
from latefusion.assignment import assign_by_kmeans
from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.anchor_search import Metric, anchor_affinity, draw_anchors, nearest_anchors
from latefusion.baselines.support.bipartite_cut import connected_parts, membership_graph, transfer_cut
from latefusion.baselines.support.canonical_order import canonical_order
from latefusion.baselines.support.lloyd import centers_of_rows
from latefusion.baselines.support.shifted_rows import without_shift
from latefusion.types import Array, SolverResult

# Share of the features of a view in a base clustering.
LEAST_SHARE, LARGEST_SHARE = 0.2, 0.8
# Rounds of k-means, from random rows, for a base clustering. There are few, as in the authors' code: base clusterings
# should differ from each other.
BASE_ROUNDS = 5
# Factors of the number of neighbours, tried until a graph has no more components than clusters.
FACTORS = (1, 2, 4, 8)


class Draw(NamedTuple):
    """What a base clustering uses.

    Attributes
    ----------
    n_clusters : int
    views : ndarray of shape (n_drawn,)
        Positions of the views.
    features : list of ndarray
        Positions of the features, one array for each of all views.
    """

    n_clusters: int
    views: NDArray[np.intp]
    features: list[NDArray[np.intp]]


def draw_group(
    widths: Sequence[int], is_whole: Sequence[bool], n_clusters: int, generator: np.random.RandomState
) -> Draw:
    """Draw the number of clusters, the views and the features of a base clustering.

    Parameters
    ----------
    widths : sequence of int
        Number of features of every view.
    is_whole : sequence of bool
        Whether all features of a view are used.
    n_clusters : int
        The number k of clusters; the base clustering has k to 2k.
    generator : RandomState

    Returns
    -------
    Draw
    """
    n_views = len(widths)
    n_drawn_clusters = int(generator.randint(n_clusters, 2 * n_clusters + 1))
    size = int(generator.randint(1, n_views + 1))
    features = []
    for width, whole in zip(widths, is_whole, strict=True):
        share = generator.uniform(LEAST_SHARE, LARGEST_SHARE)
        n_drawn = width if whole else int(np.ceil(share * width))
        features.append(np.sort(generator.choice(width, n_drawn, replace=False)))
    return Draw(n_drawn_clusters, np.sort(generator.choice(n_views, size, replace=False)), features)


def base_graph(
    views: Sequence[Array],
    draw: Draw,
    n_anchors: int,
    n_neighbors: int,
    generator: np.random.RandomState,
    metric: Metric = "euclidean",
) -> scipy.sparse.csr_array:
    """Join samples to their nearest anchors in the drawn views.

    Parameters
    ----------
    views : sequence of ndarray or csr_array of shape (n_samples, n_features_v)
    draw : Draw
    n_anchors, n_neighbors : int
        In all views of the draw together, rounded up in each of them.
    generator : RandomState
    metric : {"euclidean", "cosine"}, default="euclidean"

    Returns
    -------
    csr_array of shape (n_samples, total number of anchors)
        The number of neighbours is doubled, three times at most, while the graph has more components than clusters.
    """
    size = len(draw.views)
    pairs = []
    for view in draw.views.tolist():
        rows = take_columns(views[view], draw.features[view])
        if metric == "cosine":
            rows = _unit_rows(rows)
        pairs.append((rows, draw_anchors(rows, -(-n_anchors // size), generator, unit=metric == "cosine")))
    for factor in FACTORS:
        blocks = []
        for rows, anchors in pairs:
            n_own = min(factor * -(-n_neighbors // size), len(anchors))
            blocks.append(anchor_affinity(nearest_anchors(rows, anchors, n_own, generator), len(anchors), metric))
        graph = scipy.sparse.hstack(blocks, format="csr")
        if connected_parts(graph)[0] <= draw.n_clusters:
            break
    return graph


def _unit_rows(rows: Array) -> Array:
    """Rows of any size divided by their norm; zero rows stay zero."""
    lengths = np.sqrt(without_shift(rows).squared_norms())
    inverse = 1.0 / np.where(lengths > 0, lengths, 1.0)
    return (
        (scipy.sparse.diags_array(inverse) @ rows).tocsr() if scipy.sparse.issparse(rows) else rows * inverse[:, None]
    )


def solve_fastmice(base_labels: NDArray[np.intp], n_clusters: int) -> tuple[SolverResult, int]:
    """Embed the samples by the bipartite graph of samples and the clusters of all base clusterings.

    Parameters
    ----------
    base_labels : ndarray of shape (n_samples, n_clusterings)
        Labels from 0, one clustering per column.
    n_clusters : int

    Returns
    -------
    result : SolverResult
        The consensus is the embedding, rows of unit length. The objective is the normalised cut in its relaxation, k
        minus the sum of the k leading eigenvalues of N: zero if the graph has k connected components.
    n_parts : int
        Number of connected components.
    """
    cut = transfer_cut(membership_graph(base_labels), n_clusters)
    result = SolverResult(cut.embedding, None, [float(n_clusters - cut.eigenvalues.sum())], 1, True)
    return result, cut.n_parts


class FastEnsembleClustering(ComparisonMethod):
    """Consensus of many fast spectral clusterings of random views and features (FastMICE).

    Every base clustering joins the samples to anchors in some of the views, using some of the features, and cuts this
    bipartite graph. The consensus cuts the graph of samples and base clusters. Cost and memory grow linearly with the
    number of samples.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k; base clusterings have k to 2k.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also one entry per view. Kernels become
        their principal components, all of which are used.
    n_clusterings : int, default=20
        Number of base clusterings.
    n_anchors : int, default=1000
        Anchors of a base clustering, in all its views together; every sample is one if there are fewer samples.
    n_neighbors : int, default=5
        Anchors that a sample is joined to, in all views of a base clustering together.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between samples and anchors. Features are used as they are, so that with "euclidean" those of large
        variance count most.
    n_init : int, default=10
        Number of k-means starts for the consensus.
    random_state : int, RandomState or None, default=None
        Seed of all draws.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        The embedding of the consensus, rows of unit length.
    base_labels_ : ndarray of shape (n_samples, n_clusterings)
        Labels of the base clusterings.
    objective_ : ndarray of shape (1,)
        Relaxed normalised cut of the graph of samples and base clusters: zero if the base clusterings agree on
        ``n_clusters`` parts that none of their clusters joins.
    n_iter_ : int
        One.
    converged_ : bool
        True.

    References
    ----------
    Huang, Wang, Lai: Fast Multi-view Clustering via Ensembles: Towards Scalability, Superiority, and Simplicity. IEEE
    Trans. Knowledge and Data Engineering, 2023.

    Examples
    --------
    >>> from latefusion.baselines.fastmice import FastEnsembleClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=3, random_state=0)
    >>> model = FastEnsembleClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> model.base_labels_.shape
    (60, 20)
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_clusterings": [Interval(Integral, 1, None, closed="left")],
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"euclidean", "cosine"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        n_clusterings: int = 20,
        n_anchors: int = 1000,
        n_neighbors: int = 5,
        metric: Metric = "euclidean",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_clusterings = n_clusterings
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> FastEnsembleClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples. Sparse views stay sparse.
        y : ignored

        Returns
        -------
        FastEnsembleClustering
            The fitted estimator.
        """
        given = self._fit_rows(X)
        samples, order = canonical_order(given)
        views = [given[position][samples] for position in order]
        is_whole = [self.view_inputs_[position] == "precomputed" for position in order]
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_clusterings + 1)
        base_labels = np.empty((len(samples), self.n_clusterings), dtype=np.intp)
        with threads_for(len(samples)):
            for clustering, seed in enumerate(seeds[1:].tolist()):
                base_labels[samples, clustering] = self._base_clustering(views, is_whole, seed)
        self.base_labels_ = base_labels
        result, n_parts = solve_fastmice(base_labels[samples], self.n_clusters)
        if n_parts > self.n_clusters:
            warnings.warn(
                f"FastEnsembleClustering: the base clusterings agree on {n_parts} parts, more than "
                f"n_clusters={self.n_clusters}, and do not tell which of them belong together. The smaller parts are "
                f"joined to the largest ones arbitrarily. Raise n_clusters to {n_parts}, or n_neighbors.",
                ConvergenceWarning,
                stacklevel=2,
            )
        found, _ = assign_by_kmeans(result.consensus, self.n_clusters, n_init=self.n_init, random_state=int(seeds[0]))
        embedding, labels = np.empty_like(result.consensus), np.empty(len(samples), dtype=np.intp)
        embedding[samples], labels[samples] = result.consensus, found
        self._store(result._replace(consensus=embedding), labels)
        return self

    def _base_clustering(self, views: Sequence[Array], is_whole: Sequence[bool], seed: int) -> NDArray[np.intp]:
        generator = np.random.RandomState(seed)
        n_samples = views[0].shape[0]
        draw = draw_group([view.shape[1] for view in views], is_whole, self.n_clusters, generator)
        n_anchors = min(self.n_anchors, n_samples)
        graph = base_graph(views, draw, n_anchors, self.n_neighbors, generator, self.metric)
        n_clusters = min(draw.n_clusters, n_samples)
        cut = transfer_cut(graph, n_clusters)
        if cut.n_parts > n_clusters:
            return cut.parts
        start = np.sort(generator.choice(n_samples, n_clusters, replace=False))
        return centers_of_rows(without_shift(cut.embedding), start, BASE_ROUNDS)[1].labels
