"""Late fusion that decides for itself: scaling, kinds of similarity and λ, without labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import threads_for
from latefusion.assignment import ASSIGNMENTS
from latefusion.base import KERNEL_CONSTRAINTS, MultiViewClusterMixin, warn_not_converged
from latefusion.estimators.choices import SEARCH_SHARE, ChoicesMixin
from latefusion.estimators.diagnostics import ViewDiagnosticsMixin
from latefusion.estimators.fusion import Fusion
from latefusion.estimators.fusion_map import fused_map
from latefusion.estimators.incomplete import assign_known, observed_agreement, weigh_confidence
from latefusion.estimators.new_samples import NewSamplesMixin
from latefusion.estimators.novelty import fit_novelty
from latefusion.partitions.ensemble import EnsembleKey
from latefusion.partitions.sources import ViewSource, mask_zero_rows
from latefusion.progress import report_progress
from latefusion.solvers.late_fusion_spectra import FusedSpectra
from latefusion.types import Views
from latefusion.validation import can_be_fused

# Beyond this many samples, the novelty of training samples is computed only where it is asked for.
NOVELTY_SAMPLES = 100_000


class LateFusionClustering(
    ChoicesMixin,
    ViewDiagnosticsMixin,
    NewSamplesMixin,
    MultiViewClusterMixin,
    BaseEstimator,
):
    """Multi-view clustering by late fusion that needs nothing but the views.

    Every view is scaled by what it holds (counts, distributions, measurements in different units, coordinates). From
    every view come several base partitions, of nearest-neighbour graphs and of a kernel, which are fused by global
    alignment. Which kinds of partition and how strong the pull λ towards their mean is chosen by how much the clusters
    say about neighbouring samples and about the clusterings of the single views; no labels are used.

    Parameters
    ----------
    n_clusters : int, "auto" or range, default=8
        Number of clusters; "auto" tries 2 to 20, a range or list the numbers in it, and takes the one whose clusters
        are found again in other samples and say most about the data.
    regularization : float or "auto", default="auto"
        Pull towards the partition of the mean similarity (the paper's λ); "auto" chooses among 1, 2 and 4.
    views : mapping or sequence, default=None
        When X is one table: the columns of every view, as slices, positions or names. None makes it a single view.
    partition : {"auto", "kernel", "graph", "precomputed", "labels"}, object, or one of these per view, default="auto"
        Where base partitions come from: "kernel" and "graph" leave no choice, "auto" tries both and their combination;
        with "precomputed" the view is a kernel, from which distances for graphs are taken as well; with "labels" it is
        a clustering, one label per sample, which a one-dimensional view of text or categories is in any case. An object
        such as `KernelPartition` or `GivenPartition` gives the one base partition of its view.
    kernel : {"gaussian", "linear", "polynomial", "laplace", "sigmoid"} or callable, default="gaussian"
        Kernel of the scaled features.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out are taken from the data.
    missing : {"impute", "align"}, default="impute"
        What is done about samples that lack views. Similarities of a view are those of the samples that have it, either
        way. "impute" fills in the rows of its eigenvectors for the others, from the views that they have and by what
        views have in common; "align" leaves them zero. Rows of zeros in views of counts or distributions, which are
        compared by direction, are missing as well then. Without missing views there is no difference, and rows of
        zeros are rows like others.
    init : {"align", "identity"}, default="align"
        Start of the rotations.
    max_iter : int, default=100
        Cap on the number of iterations.
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    assign_labels : {"kmeans", "rotation", "cluster_qr"}, default="kmeans"
        How the consensus is turned into labels.
    n_init : int, default=10
        Starts of the label assignment.
    random_state : int, RandomState or None, default=None
        For the label assignment and, above 3000 samples, for the samples that the search looks at.
    n_jobs : int, default=None
        Similarities worked on at the same time (threads).
    verbose : int, default=0
        Log every candidate.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        The consensus partition F.
    view_weights_ : ndarray of shape (n_views,)
        Weight of every view, their squares sum to one. All partitions of a view share it.
    selection_ : Selection
        What was tried, the score of each, and why this one won.
    number_selection_ : NumberOfClusters
        The evidence for every number of clusters that was tried, where there was a choice.
    kind_ : {"both", "graph", "kernel"}
        Kind of base partitions that was chosen.
    weighing_ : {"alike", "by agreement"}
        Whether all views count alike from the start, or by how well each agrees with the others; then all views side by
        side are one more view.
    regularization_ : float
        λ that was chosen.
    n_directions_ : int or None
        Number of directions that views were taken to have in common when missing rows were filled in; None if none
        were.
    view_kinds_ : dict
        What every view was found to hold: "counts", "distribution", "measurements", "coordinates", "kernel", "labels",
        "memberships" or "embedding"; "given" where the partition is another object.
    confidence_ : ndarray of shape (n_samples,)
        From 0 (two clusters fit equally well) to 1; lower for samples that lack views, by how much these count.
    novelty_ : ndarray of shape (n_samples,) or None
        How far every sample is from the other training samples; above 1 for about one in a hundred. None beyond 100 000
        samples; then ``predict(X, return_novelty=True)`` computes it.
    agreement_ : ndarray of shape (n_views,)
        How well the base partitions of every view agree with the consensus, 0 to 1.
    partitions_ : list of ndarray of shape (n_samples, n_clusters)
        The base partitions that were fused.
    partition_names_ : list of (str, str)
        View and similarity of every base partition.
    partition_weights_ : ndarray of shape (n_partitions,)
        Weight of every base partition in the consensus.
    rotations_ : ndarray of shape (n_partitions, n_clusters, n_clusters)
    objective_ : ndarray
        Value after every iteration.
    n_iter_ : int
    converged_ : bool
    n_clusters_ : int
    observed_ : ndarray of bool of shape (n_samples, n_views)
        Which samples have which views; rows of zeros that were taken as missing are not there.
    n_observed_views_ : ndarray of shape (n_samples,)
        Number of views that every sample has; zero for samples that have rows of zeros only.
    view_names_, n_views_, n_features_in_, n_features_per_view_
        What was fitted on.

    See Also
    --------
    GlobalAlignmentClustering : one partition per view, all choices yours.
    LocalAlignmentClustering : central samples count more.

    Examples
    --------
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=150, n_clusters=3, random_state=0)
    >>> model = lf.LateFusionClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), "array-like", range],
        "regularization": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "missing": [StrOptions({"align", "impute"})],
        "init": [StrOptions({"align", "identity"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "assign_labels": [StrOptions(set(ASSIGNMENTS))],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _accepts_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        regularization: float | str = "auto",
        views: Any = None,
        partition: Any = "auto",
        kernel: Any = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        missing: str = "impute",
        init: str = "align",
        max_iter: int = 100,
        tol: float = 1e-6,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.regularization = regularization
        self.views = views
        self.partition = partition
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.missing = missing
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or `Views` of arrays, MuData, one table, or kernels
            Several views of the same samples; one table with ``views=`` naming groups of its columns, or as a single
            view; with ``partition="precomputed"`` a list of kernels or an array of shape (n_samples, n_samples,
            n_views).
        y : ignored
            Present by convention.

        Returns
        -------
        self
        """
        views = self._fit_views(X, n_clusters=min(self._numbers()) if self._seeks_number() else None)
        with threads_for(len(views)):
            self._fit(views)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def _accepts_missing_views(self) -> bool:
        return True

    def _fit(self, views: Views) -> None:
        """Number, kinds and λ, by what the samples say; then the consensus."""
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._sources = [self._source(views, view) for view in range(self.n_views_)]
        self._directional = np.zeros(self.n_views_, dtype=bool)
        if self._mask is not None:
            self._leave_out_zero_rows(views, self._mask)
        fusion, plan, seen = self._decide(views.names)
        report_progress("consensus", SEARCH_SHARE)
        if seen is not None:
            fusion = self._fusion(self._sources, self._keys_to_fit(self._sources, list(plan)), self._shares)
        self._store(fusion, plan, *fusion.fuse(plan, [self.regularization_], **self._solver_options()))
        self._store_novelty(views)

    def _source(self, views: Views, view: int) -> ViewSource:
        observed = None if self._mask is None else self._mask[:, view]
        return self._known_similarities.source(views, view, self._partition_specs(views)[view], observed)

    def _leave_out_zero_rows(self, views: Views, mask: NDArray[np.bool_]) -> None:
        """Rows of zeros are missing in views that are compared by directions, if enough is left."""
        heard, directional = mask_zero_rows(self._sources, mask)
        if not can_be_fused(heard, min(self._numbers()) if self._seeks_number() else self.n_clusters):
            return
        self._directional, self._mask = directional, heard
        self.observed_, self.n_observed_views_ = heard, heard.sum(axis=1, dtype=np.intp)
        # Anew: what a view holds and how rare its words are is told by the rows that are left.
        for view in np.flatnonzero((heard != mask).any(axis=0)):
            self._sources[view] = self._source(views, int(view))

    def _store_novelty(self, views: Views) -> None:
        encodings = ["kernel" if source.kind == "kernel" else source.encoding() for source in self._sources]
        novelty = fit_novelty(views, encodings, self._mask)
        self.consensus_map_ = replace(self.consensus_map_, novelty=novelty)
        self.novelty_ = novelty(views, self._mask) if len(views) <= NOVELTY_SAMPLES else None

    def _store(self, fusion: Fusion, plan: Mapping[EnsembleKey, float], fused: FusedSpectra) -> None:
        ensemble, result = fusion.ensemble, fused.result
        self.consensus_ = np.asarray(ensemble.rows(fused.coefficients))
        self.labels_, rule = assign_known(self._assign, self.consensus_, self._mask, self.n_clusters_)
        self.objective_ = np.asarray(result.objective)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.rotations_ = result.rotations
        self.partition_weights_ = np.asarray(result.weights) * np.array(list(plan.values()))
        self._plan = plan
        self._average = np.asarray(ensemble.rows(fused.mean))
        names = [*map(str, self.view_names_), "all views"]
        self.partition_names_ = [(names[key.view], key.similarity) for key in plan]
        self.partitions_ = [ensemble.spectra[ensemble.position(key)].vectors[:, : self.n_clusters_] for key in plan]
        self.consensus_map_ = fused_map(fusion, fused.coefficients, plan, rule, self._directional, self.missing)
        owners = np.array([key.view for key in plan])
        self.view_weights_ = self._weights_of_views(result.weights)
        self.confidence_ = weigh_confidence(rule.confidence(self.consensus_), self.view_weights_, self._mask)
        agreement = [
            observed_agreement(partition, self.consensus_, None if key.view == self.n_views_ else self._mask, key.view)
            for key, partition in zip(plan, self.partitions_, strict=True)
        ]
        of_views = owners < self.n_views_
        self.agreement_ = np.bincount(owners[of_views], np.array(agreement)[of_views]) / np.bincount(owners[of_views])
        self._n_features_out = self.n_clusters_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
