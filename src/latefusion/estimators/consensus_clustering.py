"""Consensus clustering: several clusterings of the same samples become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, ValuesView
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import require_memory
from latefusion.assignment import ASSIGNMENTS, LargestVote
from latefusion.base import ALIGNMENT_CONSTRAINTS, store_if_any, warn_not_converged
from latefusion.encoding.coordinates import Unchanged
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.new_samples import NewSamplesMixin
from latefusion.partitions.imputation import Fill
from latefusion.partitions.partitions import Block
from latefusion.selection.candidates import sameness
from latefusion.similarities.factor import FactorExtension
from latefusion.similarities.given import KINDS, GivenMap, GivenPartition, centered_basis, indicator
from latefusion.solvers.label_agreement import ComparedPartition, refine_labels
from latefusion.solvers.subspace_consensus import Subspaces
from latefusion.summaries import SummaryMixin
from latefusion.types import Views
from latefusion.validation import as_table, check_n_clusters, columns_of, is_frame, match_rows, per_view
from latefusion.validation.opening import named_views
from latefusion.validation.sample_ids import index_of
from latefusion.validation.views import fingerprint

# One more direction than clusters for every three clusters: with k directions the starting labels are less diverse.
EXTRA_DIRECTIONS = 3
# A partition counts by the square of its number of clusters, up to this multiple of n_clusters: a partition of fewer
# clusters does not say how to separate n_clusters of them, and agreement with it favors merged clusters.
FINEST = 2
# How much the numbers of clusters of the partitions count as evidence, compared with the eigenvalues.
NUMBER_SHARE = 0.25


class PartitionLabels(NamedTuple):
    """Labels of one partition.

    Attributes
    ----------
    name : str
    assigned : ndarray of bool of shape (n_samples,)
        Samples with a cluster in the partition.
    labels : ndarray of shape (n_samples,) or None
        Number of the cluster, for memberships that of the largest one, -1 for unassigned samples; None for an
        embedding.
    names : list of str
        Of the clusters.
    """

    name: str
    assigned: NDArray[np.bool_]
    labels: NDArray[np.intp] | None
    names: list[str]


@dataclass(frozen=True)
class PartitionSchema:
    """How partitions of new samples are read.

    Attributes
    ----------
    maps : tuple of GivenMap
        One per partition.
    clusterers : tuple of str
        Names of the partitions that were given as fitted clusterers.
    fingerprint : str
        A digest of some rows of the training partitions.
    """

    maps: tuple[GivenMap, ...]
    clusterers: tuple[str, ...]
    fingerprint: str


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
    n_clusters : int, "auto" or None, default="auto"
        Number of clusters. "auto" (or None) selects the number k after which the evidence decreases most: the
        eigenvalue of direction k - 1 of the mean co-membership, plus a quarter of the weighted share of partitions with
        at least k clusters. At most the number of clusters of the finest partition.
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
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "kind": [StrOptions(set(KINDS)), list, tuple, Mapping],
        "unassigned": "no_validation",
        "weights": [StrOptions({"auto", "equal"}), "array-like", Mapping],
        **ALIGNMENT_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int | str | None = "auto",
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
        partitions, ids = _read(X)
        names = list(partitions)
        labels = [_labels_of(one, name) for name, one in partitions.items()]
        kinds = per_view(self.kind, names, "kind", default="auto")
        maps = tuple(
            GivenPartition(kind, self.unassigned).fit_map(one, name)
            for kind, one, name in zip(kinds, labels, names, strict=True)
        )
        views = _indicators(labels, maps, names, ids)
        self._clusterers = {name: one for name, one in partitions.items() if _is_clusterer(one)}
        self.input_schema_ = PartitionSchema(maps, tuple(self._clusterers), fingerprint(views))
        self.view_names_ = np.array(names, dtype=object)
        self.n_views_ = len(names)
        store_if_any(self, sample_ids_=ids)
        self._cluster(views)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def new_views(self, X: Any) -> Views:
        """The partitions of samples as columns of cluster indicators, in the order of the training partitions.

        Parameters
        ----------
        X : as in `fit`
            The same partitions of new samples, labels in the same coding; for a clusterer its labels or, where it has
            `predict`, the features of the new samples.

        Returns
        -------
        Views
        """
        check_is_fitted(self)
        names = list(self.view_names_)
        partitions, ids = _read(X, names)
        labels = [self._new_labels(name, one) for name, one in partitions.items()]
        return _indicators(labels, self.input_schema_.maps, names, ids)

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
        partitions, ids = _read(X, list(self.view_names_))
        labels = {name: as_table(self._new_labels(name, one)) for name, one in partitions.items()}
        return Views(labels, sample_ids=ids)

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
        found = []
        for (name, columns), given in zip(views.items(), self.input_schema_.maps, strict=True):
            assigned = np.diff(columns.indptr) > 0
            labels: NDArray[np.intp] | None = None
            names: list[str] = []
            if given.kind != "embedding":
                # The last column of memberships is zero for unassigned samples.
                shares = columns if given.coding is not None else columns[:, :-1]
                labels = np.where(assigned, np.asarray(shares.argmax(axis=1)).ravel(), -1)
                values = range(shares.shape[1]) if given.coding is None else given.coding.values.tolist()
                names = [str(value) for value in values]
            found.append(PartitionLabels(name, assigned, labels, names))
        return found, views.sample_ids

    def _new_labels(self, name: str, one: Any) -> Any:
        if name not in self.input_schema_.clusterers or len(getattr(one, "shape", ())) != 2 or one.shape[1] == 1:
            return _labels_of(one, name)
        if not hasattr(self, "_clusterers"):
            raise ValueError(
                f"Partition {name!r} has {one.shape[1]} columns of features, but the clusterer that labels them is not "
                f"in the file that this {type(self).__name__} was loaded from. Give the labels that it predicts."
            )
        return self._clusterers[name].predict(one)

    def _present(self, views: Views) -> NDArray[np.bool_]:
        return _assigned(views)

    def _observed_views(self) -> None:
        """Samples that are unassigned in some partitions have smaller votes."""

    def _kernel_views(self) -> NDArray[np.bool_]:
        return np.zeros(self.n_views_, dtype=bool)

    def _store_samples(self, views: Views) -> None:
        maps = list(zip(self.input_schema_.maps, views.arrays, strict=True))
        for name, (_, columns) in zip(views.names, maps, strict=True):
            if len(np.unique(columns.indices)) < 2:  # as `fit` refuses it
                raise ValueError(f"view {name!r} has fewer than two clusters among them.")
        refitted = tuple(replace(one, weights=centered_basis(columns, one.assigned)) for one, columns in maps)
        self.input_schema_ = replace(self.input_schema_, maps=refitted)

    def _cluster(self, views: Views) -> None:
        """From the columns of all partitions to the consensus, its labels, and the map for new samples."""
        columns, maps = hstack(views.arrays, format="csr"), self.input_schema_.maps
        n_samples, width = columns.shape
        require_memory(
            3 * width**2 * 8,
            f"The contingency tables of partitions with {width} clusters in all",
            "Use fewer or coarser partitions.",
        )
        products = (columns.T @ columns).toarray()
        spaces = Subspaces.of([given.weights for given in maps], products)
        counts = self._counts(spaces, n_samples)
        spaces = replace(spaces, factors=np.sqrt(counts))
        self.eigenvalues_ = spaces.values
        self.n_clusters_ = self._number(spaces.values, spaces.widths, counts)
        _check_number(self.n_clusters_, columns, maps)
        coefficients, result = spaces.fuse(
            self.n_clusters_ + self.n_clusters_ // EXTRA_DIRECTIONS,
            regularization=self.regularization,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store_solution(result)
        self.view_weights_ = np.asarray(result.weights)
        shared = columns @ np.concatenate([given.weights @ own for given, own in zip(maps, coefficients, strict=True)])
        compared = _compared(maps, products, counts, self.n_clusters_)
        refined = [refine_labels(columns, compared, labels, self.n_clusters_) for labels in self._starts(shared)]
        votes = max(refined, key=lambda one: one[:2]).votes
        fitted = _table_map([votes[own] for own in _slices(maps)])
        self.consensus_ = fitted.rows(views)
        rule = LargestVote.of(self.consensus_)
        self.labels_ = rule.predict(self.consensus_)
        self.confidence_ = rule.confidence(self.consensus_)
        self.agreement_ = _agreement(views, maps, self.labels_, self.n_clusters_)
        self._store_map(replace(fitted, rule=rule), views, [Unchanged()] * self.n_views_, _assigned(views))

    def _counts(self, spaces: Subspaces, n_samples: int) -> NDArray[np.float64]:
        """Weight of every partition."""
        if isinstance(self.weights, str):
            if self.weights == "equal":
                return np.ones(self.n_views_)
            same = sameness(spaces.overlap())
            return spaces.trust(same, n_samples) / same.sum(axis=1)
        weights = self.weights if isinstance(self.weights, Mapping) else list(self.weights)
        given = np.asarray(per_view(weights, list(self.view_names_), "weights"), dtype=np.float64)
        if not np.all(np.isfinite(given)) or given.min() < 0 or given.max() <= 0:
            raise ValueError(f"weights must be numbers >= 0, not all zero; got {self.weights!r}.")
        return given / given.max()

    def _number(self, values: NDArray[Any], widths: NDArray[np.intp], counts: NDArray[np.float64]) -> int:
        """The number of clusters: given, or after which the evidence decreases most."""
        if isinstance(self.n_clusters, Integral):
            return int(self.n_clusters)
        finest = int(widths.max())
        padded = np.concatenate([values, np.zeros(finest + 1)])[: finest + 1]
        # k clusters have k - 1 directions beside the constant one.
        as_fine = (widths >= np.arange(1, finest + 2)[:, None]) @ counts / counts.sum()
        evidence = padded + NUMBER_SHARE * as_fine
        return 2 + int(np.argmax(evidence[:-1] - evidence[1:]))

    def _starts(self, shared: NDArray[np.float64]) -> list[NDArray[np.intp]]:
        """Labels of the rows of U; one result per start of k-means."""
        assign = ASSIGNMENTS[self.assign_labels]
        if self.assign_labels != "kmeans":
            return [assign(shared, self.n_clusters_, n_init=self.n_init, random_state=self.random_state)[0]]
        generator = check_random_state(self.random_state)
        return [assign(shared, self.n_clusters_, n_init=1, random_state=generator)[0] for _ in range(self.n_init)]


def consensus(partitions: Any, n_clusters: int | str | None = "auto", **options: Any) -> ConsensusClustering:
    """Consensus clustering in one line.

    Parameters
    ----------
    partitions : list or dict of partitions, data frame or array
        Labels, memberships, embeddings and fitted clusterers, in any mixture; see `ConsensusClustering.fit`.
    n_clusters : int, "auto" or None, default="auto"
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


def _read(X: Any, names: Sequence[str] | None = None) -> tuple[dict[str, Any], NDArray[Any] | None]:
    """Partitions by name, in the order of ``names`` if given, rows matched by sample id, and the ids."""
    if is_frame(X):
        X = {str(column): X[column] for column in columns_of(X)}
    elif isinstance(X, Views):
        X = dict(X.items())
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        X = list(X.T)
    elif not isinstance(X, (Mapping, list, tuple, ValuesView)):
        got = f"shape {X.shape}" if hasattr(X, "shape") else type(X).__name__
        raise ValueError(
            f"X must be a list or a dict of partitions, or an array with one labeling per column; got {got}."
        )
    if names is not None and not isinstance(X, Mapping) and len(X) == len(names):
        X = dict(zip(names, X, strict=True))
    named = named_views(X)
    if names is not None:
        if set(named) != set(names):
            raise ValueError(
                f"The consensus was fitted on the partitions {list(names)}; got {list(named)}. Give the same."
            )
        named = {name: named[name] for name in names}
    matched = match_rows(named, missing=True)  # a sample that is absent from a partition is unassigned there
    aligned = {name: one.reindex(matched.index) for name, one in named.items()} if matched.rows else named
    return {name: _plain(one) for name, one in aligned.items()}, matched.ids


def _indicators(
    partitions: Sequence[Any], maps: Sequence[GivenMap], names: Sequence[str], ids: NDArray[Any] | None
) -> Views:
    """The columns that describe every partition, for samples that are in at least one of them."""
    columns = [given.columns(one) for given, one in zip(maps, partitions, strict=True)]
    lengths = {str(name): one.shape[0] for name, one in zip(names, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"All partitions must contain the same samples, but their lengths differ: {lengths}. Mark missing "
            f"samples as unassigned."
        )
    views = Views(columns, names, sample_ids=ids)
    unassigned = np.flatnonzero(~_assigned(views).any(axis=1))
    if len(unassigned):
        first = int(unassigned[0]) if ids is None else ids[unassigned[0]]
        raise ValueError(
            f"{len(unassigned)} samples are unassigned in every partition; the first is sample {first!r}. Remove "
            f"them, or add a partition in which they are assigned."
        )
    return views


def _check_number(n_clusters: int, columns: csr_array, maps: Sequence[GivenMap]) -> None:
    """Raise an error for more clusters than groups of samples that the partitions distinguish."""
    check_n_clusters(n_clusters, columns.shape[0])
    generator = np.random.default_rng(0)
    # Samples with the same clusters have the same product with a random vector; others almost surely do not.
    table = np.concatenate([given.weights @ generator.standard_normal(given.width) for given in maps])
    n_groups = len(np.unique(np.round(columns @ table * np.sqrt(columns.shape[0]), 9)))
    if n_clusters > n_groups:
        raise ValueError(
            f"n_clusters={n_clusters} is too large: the partitions together distinguish only {n_groups} groups of "
            f"samples. Use at most {n_groups} clusters, or add finer partitions."
        )


def _compared(
    maps: Sequence[GivenMap], products: NDArray[np.float64], counts: NDArray[np.float64], n_clusters: int
) -> list[ComparedPartition]:
    """The partitions as `refine_labels` compares them with labels; weights sum to one."""
    n_compared = np.minimum([given.width + 1 for given in maps], FINEST * n_clusters)
    weights = counts * n_compared**2
    found = []
    for given, weight, own in zip(maps, weights / weights.sum(), _slices(maps), strict=True):
        within, assigned = products[own, own], given.assigned
        factor = given.co_membership(float(assigned @ within @ assigned))
        found.append(ComparedPartition.of(factor, assigned, within, float(weight)))
    return found


def _slices(maps: Sequence[GivenMap]) -> list[slice]:
    """The columns of every partition."""
    ends = np.cumsum([len(given.weights) for given in maps])
    return [slice(end - len(given.weights), end) for given, end in zip(maps, ends, strict=True)]


def _table_map(tables: Sequence[NDArray[Any]]) -> ConsensusMap:
    """The map whose rows are the sum over partitions of the rows of tables, one row per cluster."""
    n_views, width = len(tables), tables[0].shape[1]
    return ConsensusMap(
        n_views=n_views,
        blocks=tuple(
            Block(view, "given", Unchanged(), FactorExtension(Unchanged()), one) for view, one in enumerate(tables)
        ),
        coefficients=np.tile(np.eye(width), (n_views, 1)),
        rule=None,
        fill=Fill(np.zeros(n_views * width, dtype=bool)),
    )


def _agreement(
    views: Views, maps: Sequence[GivenMap], labels: NDArray[np.intp], n_clusters: int
) -> NDArray[np.float64]:
    """Squared cosines between the subspaces of partitions and labels, over the larger dimension."""
    found = []
    for given, own, assigned in zip(maps, views.arrays, _assigned(views).T, strict=True):
        # Samples that are unassigned in a partition do not count as disagreement.
        clusters = indicator(np.where(assigned, labels, -1), n_clusters)
        basis = centered_basis(clusters, np.ones(n_clusters))
        cosines = given.weights.T @ (own.T @ clusters) @ basis
        found.append(np.sum(cosines**2) / max(given.width, basis.shape[1]))
    return np.array(found)


def _assigned(views: Views) -> NDArray[np.bool_]:
    """Which samples are assigned in which partitions."""
    return np.stack([np.diff(columns.indptr) > 0 for columns in views.arrays], axis=1)


def _plain(one: Any) -> Any:
    """A data frame or series as an array; everything else as it is."""
    if not is_frame(one):
        return np.asarray(one) if index_of(one) is not None else one
    columns = columns_of(one)
    return np.asarray(one[columns[0]]) if len(columns) == 1 else one.to_numpy()


def _is_clusterer(one: Any) -> bool:
    return hasattr(one, "fit") and not hasattr(one, "shape")


def _labels_of(one: Any, name: str) -> Any:
    if not _is_clusterer(one):
        return one
    if not hasattr(one, "labels_"):
        raise ValueError(
            f"Partition {name!r} is a {type(one).__name__} without labels_. Fit it first, or pass its labels."
        )
    return one.labels_
