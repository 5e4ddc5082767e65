"""Consensus clustering: several clusterings of the same samples become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.assignment import LargestVote
from latefusion.assignment.cluster_ids import RuleWithIds
from latefusion.base import ALIGNMENT_CONSTRAINTS, store_if_any, warn_not_converged
from latefusion.encoding.coordinates import Unchanged
from latefusion.estimators.given_partitions import (
    PartitionLabels,
    PartitionSchema,
    assigned_samples,
    is_clusterer,
    labels_of,
    labels_of_columns,
    partition_columns,
    read_partitions,
)
from latefusion.estimators.late_fusion import check_numbers
from latefusion.estimators.new_samples import NewSamplesMixin
from latefusion.estimators.partition_fusion import FusionOptions, fuse_partitions, partition_agreement
from latefusion.estimators.partition_importance import (
    PartitionVerdict,
    leave_one_partition_out,
    scores_of_partitions,
)
from latefusion.similarities.given import KINDS, GivenPartition, centered_basis
from latefusion.summaries import SummaryMixin
from latefusion.types import Views
from latefusion.validation import as_table, per_view
from latefusion.validation.views import fingerprint


class ConsensusClustering(NewSamplesMixin, SummaryMixin, ClusterMixin, BaseEstimator):
    """Consensus of several clusterings of the same samples.

    A clustering is represented by the subspace of all vectors that are constant on its clusters, without the constant
    vector. The consensus F is the subspace that is nearest to all of them after the best rotation of each:

        max  Tr(FᵀU),  U = Σ_p β_p Z_p W_p + λM,   over FᵀF = I, W_pᵀW_p = I, ‖β‖₂ = 1,

    This is late fusion by global alignment in which the base partitions are Z_p, the normalized and centered cluster
    indicators. If a clustering has more clusters, W_p selects the directions that it shares with the others; if it has
    fewer, all of its directions are used.

    The rows of U are converted to labels, from several starts. From each of them samples are moved between clusters
    while the weighted mean of the adjusted Rand indices with the clusterings increases, and the best result is
    returned. In this mean a clustering counts by its weight and by the square of its number of clusters, since a
    clustering of fewer than k clusters does not say how to separate k of them.

    Parameters
    ----------
    n_clusters : int, "auto", range or None, default="auto"
        Number of clusters. "auto" (or None) selects the number k after which the evidence decreases most: the
        eigenvalue of direction k - 1 of the mean co-membership, plus a quarter of the weighted share of partitions with
        at least k clusters. At most the number of clusters of the finest partition. A range or list selects among its
        numbers.
    kind : {"auto", "labels", "memberships", "embedding"} or one of these per partition, default="auto"
        Kind of the partitions, see `GivenPartition`.
    unassigned : object or list of objects, default=None
        Labels that mark a sample as unassigned, beside None and NaN; by default every negative integer.
    weights : {"auto", "equal"} or one number per partition, default="auto"
        Weights of the partitions: given numbers; equal weights; or by the agreement of each with the others, beyond
        chance, where equal partitions count as one. They are multiplied by β, the agreement with the consensus.
    regularization : float, default=1.0
        Pull λ towards the partition of the mean co-membership.
    max_iter : int, default=100
        Cap on the number of iterations.
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    assign_labels : {"kmeans", "rotation", "cluster_qr", "average", "mixture"}, default="kmeans"
        How the rows of U are turned into labels, before samples are moved. The result of every start of k-means is
        refined; of the others only the best one.
    n_init : int, default=20
        Starts of the label assignment.
    random_state : int, RandomState or None, default=None
        For the label assignment.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Votes for every cluster: how much the mean agreement with the partitions would increase if a sample were added
        to it. The label is that of the largest vote. The votes of a sample are a sum over the partitions in which it is
        assigned.
    view_weights_ : ndarray of shape (n_views,)
        Weight β of every partition; their squares sum to one.
    agreement_ : ndarray of shape (n_views,)
        Overlap of the subspaces of every partition and `labels_`, on the samples that are assigned in it: 1 for the
        same clustering, 0 for independent ones. For labels it is the chi-squared statistic of their contingency table
        over n, divided by one less than the larger number of clusters.
    adjusted_rand_, normalized_mutual_info_ : ndarray of shape (n_views,)
        Agreement of every partition with `labels_`, on the samples that are assigned in it; NaN for an embedding.
    n_clusters_per_view_ : ndarray of shape (n_views,)
        Number of clusters of every partition.
    observed_ : ndarray of bool of shape (n_samples, n_views)
        Samples that are assigned in every partition.
    confidence_ : ndarray of shape (n_samples,)
        Difference between the two largest votes, relative to the largest one in the same cluster: from 0 (two clusters
        fit equally well) to 1. Samples that are unassigned in some partitions have fewer votes.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Probability of every cluster. Of the samples with a membership of 0.8 in their cluster, about 80 % keep it when
        the clustering is repeated on other samples. Calibrated when it is first read, which takes several fits.
    calibration_ : Calibration
        How memberships were calibrated, computed with them.
    novelty_ : ndarray of shape (n_samples,) or None
        How far the clusters of a sample are from those of the other samples: 0 if other samples have the same clusters
        in all partitions, above 1 for rare combinations. None beyond 100 000 samples; then
        ``predict(X, return_novelty=True)`` computes it.
    n_clusters_ : int
    eigenvalues_ : ndarray
        Of the mean co-membership without the constant vector, descending: 1 for a split that all partitions share.
    objective_ : ndarray
        Value after every iteration.
    n_iter_ : int
    converged_ : bool
    view_names_ : ndarray of shape (n_views,)
    n_views_ : int
    input_schema_ : PartitionSchema
        How partitions of new samples are read.
    sample_ids_ : ndarray of shape (n_samples,)
        Only if partitions have ids, as series and data frames of pandas do; samples are in this order.

    See Also
    --------
    consensus : consensus clustering in one line.
    GivenPartition : clusterings among views of features.

    Notes
    -----
    Nothing of size n x n is formed. The cost is O(n m²) for the contingency tables of m labelings and O(n m k) for
    the consensus; iterations see the tables only.

    Examples
    --------
    >>> import latefusion as lf
    >>> first = ["a", "a", "a", "b", "b", "b", "c", "c", "c"]
    >>> second = [0, 0, 0, 1, 1, 1, 2, 2, -1]  # the last one is unassigned
    >>> third = [5, 5, 7, 7, 7, 7, 6, 6, 6]
    >>> model = lf.ConsensusClustering(random_state=0).fit({"first": first, "second": second, "third": third})
    >>> lf.metrics.adjusted_rand(first, model.labels_)
    1.0
    >>> model.agreement_.round(2)
    array([1.  , 1.  , 0.75])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None, "array-like", range],
        "kind": [StrOptions(set(KINDS)), list, tuple, Mapping],
        "unassigned": "no_validation",
        "weights": [StrOptions({"auto", "equal"}), "array-like", Mapping],
        **ALIGNMENT_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: Any = "auto",
        *,
        kind: Any = "auto",
        unassigned: Any = None,
        weights: Any = "auto",
        regularization: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-6,
        assign_labels: str = "kmeans",
        n_init: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kind = kind
        self.unassigned = unassigned
        self.weights = weights
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the consensus of partitions.

        Parameters
        ----------
        X : list or dict of partitions, data frame or array
            Per partition labels of shape (n_samples,) of any type, memberships of shape (n_samples, n_clusters), an
            embedding, or a fitted clusterer, whose `labels_` are used. A data frame, or an array of shape (n_samples,
            n_views), holds one labeling per column.
        y : ignored
            Present by convention.

        Returns
        -------
        self
        """
        partitions, ids = read_partitions(X)
        names = list(partitions)
        labels = [labels_of(one, name) for name, one in partitions.items()]
        kinds = per_view(self.kind, names, "kind", default="auto")
        maps = tuple(
            GivenPartition(kind, self.unassigned).fit_map(one, name)
            for kind, one, name in zip(kinds, labels, names, strict=True)
        )
        views = partition_columns(labels, maps, names, ids)
        self._clusterers = {name: one for name, one in partitions.items() if is_clusterer(one)}
        self.input_schema_ = PartitionSchema(maps, tuple(self._clusterers), fingerprint(views))
        self.view_names_ = np.array(names, dtype=object)
        self.n_views_ = len(names)
        store_if_any(self, sample_ids_=ids)
        self._cluster(views)
        self._given_columns = views
        self.observed_ = assigned_samples(views)
        coded = labels_of_columns(views, maps)
        self.adjusted_rand_, self.normalized_mutual_info_ = scores_of_partitions(coded, self.labels_)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def new_views(self, X: Any) -> Views:
        """The partitions of samples as columns of cluster indicators, in the order of the training partitions.

        Parameters
        ----------
        X : as in `fit`
            Some or all of the partitions, of new samples, labels in the same coding; for a clusterer its labels or,
            where it has `predict`, the features of the new samples.

        Returns
        -------
        Views
        """
        check_is_fitted(self)
        names = list(self.view_names_)
        partitions, ids = read_partitions(X, names)
        labels = [self._new_labels(name, one) for name, one in partitions.items()]
        return partition_columns(labels, self.input_schema_.maps, names, ids)

    def given_views(self, X: Any) -> Views:
        """The partitions as columns of labels or memberships, in the order of the samples of `new_views`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        Views
            Samples can be selected by row.
        """
        check_is_fitted(self)
        partitions, ids = read_partitions(X, list(self.view_names_))
        labels = {name: as_table(self._new_labels(name, one)) for name, one in partitions.items() if one is not None}
        n_samples = len(next(iter(labels.values())))
        for name, given in zip(partitions, self.input_schema_.maps, strict=True):
            # Unassigned samples have no label, or a row of zeros.
            empty = np.full((n_samples, 1), None) if given.coding else np.zeros((n_samples, len(given.weights) - 1))
            labels.setdefault(name, empty)
        return Views({name: labels[name] for name in partitions}, sample_ids=ids)

    def partition_labels(self, X: Any) -> tuple[list[PartitionLabels], NDArray[Any] | None]:
        """Labels of every partition.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labels : list of PartitionLabels
            One per partition.
        ids : ndarray of shape (n_samples,) or None
            Identifiers of the samples, if partitions have any.
        """
        views = self.new_views(X)
        return labels_of_columns(views, self.input_schema_.maps), views.sample_ids

    @property
    def n_clusters_per_view_(self) -> NDArray[np.intp]:
        """Number of clusters of every partition; of an embedding one more than its directions, as labels have."""
        check_is_fitted(self)
        return np.array(
            [
                given.width + 1 if given.kind == "embedding" else len(given.assigned) - (given.coding is None)
                for given in self.input_schema_.maps
            ]
        )

    def leave_one_view_out(self) -> list[PartitionVerdict]:
        """How every partition agrees with the consensus of the others, and which labels change without it.

        Takes about as long as a fit for every partition.

        Returns
        -------
        list of PartitionVerdict
            One per partition. `print` shows a sentence.
        """
        views = self._of_training("_given_columns")
        options = replace(self._options(), numbers=(int(self.n_clusters_),))
        return leave_one_partition_out(views, self.input_schema_.maps, options, self.labels_)

    def _new_labels(self, name: str, one: Any) -> Any:
        if (
            one is None
            or name not in self.input_schema_.clusterers
            or len(getattr(one, "shape", ())) != 2
            or one.shape[1] == 1
        ):
            return None if one is None else labels_of(one, name)
        if not hasattr(self, "_clusterers"):
            raise ValueError(
                f"Partition {name!r} has {one.shape[1]} columns of features, but the clusterer that labels them is not "
                f"in the file that this {type(self).__name__} was loaded from. Give the labels that it predicts."
            )
        return self._clusterers[name].predict(one)

    def _present(self, views: Views) -> NDArray[np.bool_]:
        return assigned_samples(views)

    def _observed_views(self) -> None:
        """Samples that are unassigned in some partitions have smaller votes."""

    def _kernel_views(self) -> NDArray[np.bool_]:
        return np.zeros(self.n_views_, dtype=bool)

    def _store_samples(self, views: Views) -> None:
        columns = list(zip(self.input_schema_.maps, views.arrays, strict=True))
        refitted = tuple(replace(one, weights=centered_basis(own, one.assigned)) for one, own in columns)
        if not any(one.weights.any() for one in refitted):  # as `fit` refuses it
            raise ValueError("every partition has fewer than two clusters among them.")
        self.input_schema_ = replace(self.input_schema_, maps=refitted)

    def _name_clusters(self, names: Mapping[Any, Any], n_ids: int) -> None:
        """Give clusters other ids, with the votes in ascending order of these."""
        super()._name_clusters(names, n_ids)
        rule = self.consensus_map_.rule
        order = np.argsort(rule.ids)
        rule = RuleWithIds(LargestVote(rule.rule.margins[order]), rule.ids[order], rule.n_ids)
        coefficients = self.consensus_map_.coefficients[:, order]
        self.consensus_map_ = replace(self.consensus_map_, coefficients=coefficients, rule=rule)
        self.consensus_ = self.consensus_[:, order]

    def _cluster(self, views: Views) -> None:
        """From the columns of all partitions to the consensus, its labels, and the map for new samples."""
        maps = self.input_schema_.maps
        found = fuse_partitions(views, maps, self._options())
        self.eigenvalues_ = found.eigenvalues
        self.n_clusters_ = found.n_clusters
        self._store_solution(found.solution)
        self.view_weights_ = found.weights
        self.consensus_ = found.votes
        self.labels_ = found.labels
        self.confidence_ = found.fitted.rule.confidence(found.votes)
        self.agreement_ = partition_agreement(views, maps, self.labels_, self.n_clusters_)
        self._store_map(found.fitted, views, [Unchanged()] * self.n_views_, assigned_samples(views))

    def _options(self) -> FusionOptions:
        is_auto = self.n_clusters is None or isinstance(self.n_clusters, str)
        return FusionOptions(
            None if is_auto else tuple(check_numbers(self.n_clusters)),
            self._given_weights(),
            self.regularization,
            self.max_iter,
            self.tol,
            self.assign_labels,
            self.n_init,
            self.random_state,
        )

    def _given_weights(self) -> NDArray[np.float64] | None:
        """Weights of the partitions; None for those by agreement."""
        if isinstance(self.weights, str):
            return np.ones(self.n_views_) if self.weights == "equal" else None
        weights = self.weights if isinstance(self.weights, Mapping) else list(self.weights)
        given = np.asarray(per_view(weights, list(self.view_names_), "weights"), dtype=np.float64)
        if not np.all(np.isfinite(given)) or given.min() < 0 or given.max() <= 0:
            raise ValueError(f"weights must be numbers >= 0, not all zero; got {self.weights!r}.")
        return given


def consensus(partitions: Any, n_clusters: Any = "auto", **options: Any) -> ConsensusClustering:
    """Consensus clustering in one line.

    Parameters
    ----------
    partitions : list or dict of partitions, data frame or array
        Labels, memberships, embeddings and fitted clusterers, in any mixture; see `ConsensusClustering.fit`.
    n_clusters : int, "auto", range or None, default="auto"
        Number of clusters; by default selected, see `ConsensusClustering`.
    **options : keyword arguments
        All other parameters of `ConsensusClustering`.

    Returns
    -------
    ConsensusClustering
        Fitted: `labels_`, `view_weights_`, `agreement_`, `confidence_`, and `predict` for new samples.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=150, n_clusters=3, random_state=0)
    >>> runs = [KMeans(k, n_init=1, random_state=k).fit(data.views.arrays[0]) for k in (3, 4, 5, 6)]
    >>> model = lf.consensus(runs, random_state=0)
    >>> model.n_clusters_, lf.metrics.clustering_accuracy(data.target, model.labels_)
    (3, 0.933...)
    """
    return ConsensusClustering(n_clusters, **options).fit(partitions)
