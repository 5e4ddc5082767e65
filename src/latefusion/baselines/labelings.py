"""Simple consensus of clusterings: k-means on cluster indicators, and average linkage on co-association.

The input is one labeling per view, not features. Labels may be of any type; negative integers, None and NaN mean that a
sample is unassigned.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.utils._param_validation import Interval

from latefusion.arrays import require_memory
from latefusion.similarities import GivenPartition
from latefusion.types import Views


class IndicatorKMeans(ClusterMixin, BaseEstimator):
    """K-means on the cluster indicators of all clusterings, side by side.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_init : int, default=10
        Number of starts of k-means.
    random_state : int, RandomState or None, default=None
        Seed of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.

    Examples
    --------
    >>> from latefusion.baselines import IndicatorKMeans
    >>> IndicatorKMeans(2, random_state=0).fit_predict([["a", "a", "b", "b"], [1, 1, 2, 3]]).tolist()
    [1, 1, 0, 0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_clusters: int = 8, *, n_init: int = 10, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> IndicatorKMeans:
        """Find the consensus of clusterings.

        Parameters
        ----------
        X : list, dict or Views of labelings
            Each of shape (n_samples,) or (n_samples, 1).
        y : ignored

        Returns
        -------
        IndicatorKMeans
        """
        columns = scipy.sparse.hstack(cluster_indicators(X)).toarray()
        self.labels_ = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state).fit_predict(columns)
        return self


class CoAssociationLinkage(ClusterMixin, BaseEstimator):
    """Average linkage, where the similarity of two samples is the share of the clusterings that join them.

    Only clusterings in which both samples are assigned count; the similarity is 0 if there are none. Memory is
    quadratic in the number of samples.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.

    Examples
    --------
    >>> from latefusion.baselines import CoAssociationLinkage
    >>> CoAssociationLinkage(2).fit_predict([["a", "a", "b", "b"], [1, 1, 2, 3]]).tolist()
    [1, 1, 0, 0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, n_clusters: int = 8) -> None:
        self.n_clusters = n_clusters

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> CoAssociationLinkage:
        """Find the consensus of clusterings.

        Parameters
        ----------
        X : list, dict or Views of labelings
            Each of shape (n_samples,) or (n_samples, 1).
        y : ignored

        Returns
        -------
        CoAssociationLinkage
        """
        model = AgglomerativeClustering(self.n_clusters, metric="precomputed", linkage="average")
        self.labels_ = model.fit_predict(1 - co_association(cluster_indicators(X)))
        return self


def cluster_indicators(X: Any) -> list[scipy.sparse.csr_array]:
    """One column per cluster of every clustering; the rows of unassigned samples are empty.

    Parameters
    ----------
    X : list, dict or Views of labelings

    Returns
    -------
    list of csr_array of shape (n_samples, n_own_clusters)
    """
    labelings = dict(X.items()) if isinstance(X, (Views, Mapping)) else dict(enumerate(X))
    given = GivenPartition("labels")
    return [given.fit_map(labels, str(name)).columns(labels) for name, labels in labelings.items()]


def co_association(indicators: list[scipy.sparse.csr_array]) -> NDArray[np.float64]:
    """Share of the clusterings that join two samples, among those in which both are assigned.

    Parameters
    ----------
    indicators : list of csr_array of shape (n_samples, n_own_clusters)

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        The diagonal is one.
    """
    n_samples = indicators[0].shape[0]
    require_memory(
        4 * n_samples**2 * 8,
        f"CoAssociationLinkage works on a {n_samples} x {n_samples} matrix, and 3 copies: it",
        "Use fewer samples, or ConsensusClustering, which needs no such matrix.",
    )
    columns = scipy.sparse.hstack(indicators, format="csr")
    assigned = np.column_stack([one.sum(axis=1) for one in indicators])
    shared = assigned @ assigned.T
    found = (columns @ columns.T).toarray() / np.where(shared > 0, shared, 1)
    np.fill_diagonal(found, 1.0)
    return found


# Methods whose input is clusterings.
CONSENSUS_METHODS = {"indicator-kmeans": IndicatorKMeans, "co-association-linkage": CoAssociationLinkage}
