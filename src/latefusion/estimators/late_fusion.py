"""Late fusion with all choices made without labels: scaling, similarities, weights of views, λ."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from latefusion.arrays import beside, is_device_array, on_host, take_rows, threads_for, to_numpy
from latefusion.assignment import ASSIGNMENTS
from latefusion.base import FUSION_CONSTRAINTS, MultiViewClusterMixin, store_if_any, warn_not_converged
from latefusion.estimators.added_views import AddViewMixin
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.contributions import cluster_directions, contributions, share_contributions
from latefusion.estimators.new_samples import NewSamplesMixin, weigh_confidence
from latefusion.metrics import observed_agreement
from latefusion.partitions.fitting import fit_imputation, root_values
from latefusion.partitions.imputation import Fill
from latefusion.partitions.sources import Source, known_samples, observed_mask
from latefusion.progress import report_progress
from latefusion.selection import Alternative, NumberPath, ViewVerdict, WeightIntervals, search, view_importance
from latefusion.selection.added_views import fit_all_samples, of_views, select_as_before
from latefusion.selection.candidates import CandidateSpace, Plan
from latefusion.selection.cluster_number import GREATEST_NUMBER
from latefusion.selection.dependence import unrelated_note, unrelated_views
from latefusion.selection.finalists import find_alternatives
from latefusion.selection.hints import follow_hints
from latefusion.selection.label_assignment import Assigned, assign_selected
from latefusion.selection.options import SearchOptions, Selected
from latefusion.selection.other_numbers import number_path
from latefusion.selection.sources import NamedSimilarities, view_sources
from latefusion.selection.spaces import most_search_samples
from latefusion.selection.view_importance import weights_of_views
from latefusion.similarities import graph
from latefusion.solvers.late_fusion_spectra import FusedSpectra
from latefusion.types import Array, Views
from latefusion.validation.hints import Hints


class LateFusionClustering(AddViewMixin, NewSamplesMixin, MultiViewClusterMixin, BaseEstimator):
    """Multi-view clustering by late fusion, with all choices made from the data without labels.

    Every view is scaled by its kind of values (counts, distributions, abundances, intensities, measurements in
    different units, coordinates). Base partitions are computed from several nearest-neighbor graphs and a kernel of
    every view, and fused by global alignment. The similarities, the weights of views and the regularization λ are
    chosen by the information of the clusters about neighboring samples and about the clusterings of the single views.
    The best candidates are compared once more, by their final labels.

    Parameters
    ----------
    n_clusters : int, "auto" or range, default=8
        Number of clusters. "auto" tries 2 to 20, a range or list its numbers. Among numbers with a stability between
        halves of the data of at least 0.4, the one with the largest product of squared stability and information about
        nearest neighbors is chosen. If there is none, or data without clusters are as stable, the structure is weak:
        the smallest of the most stable numbers is chosen, with a warning. If there are hints about c classes, numbers
        below c are not tried.
    regularization : float or "auto", default="auto"
        Weight of the partition of the mean similarity (the paper's λ); "auto" chooses among 1, 2 and 4.
    views : mapping, sequence or "auto", default=None
        If X is one table: the columns of every view, as slices, positions, names or patterns such as ``spend_*``.
        "auto" groups the columns of a data frame by kind: numbers, categories, dates, and every text. None for a single
        view.
    column_kinds : mapping, default=None
        Kinds of columns of data frames that should not be recognized automatically: ``{"zip": "category"}``. A kind is
        "number", "category", "ordered", "date", "duration", "text" or "drop"; a list of categories in ascending order
        is "ordered". ``{"view": {"column": kind}}`` is for one view only.
    encoders : transformer or mapping of str to transformer, default=None
        A transformer of scikit-learn that turns a view into numbers, for some views or for all. It is cloned, fitted on
        the training samples and applied to new samples.
    missing_values : number or str, default=None
        A value that marks missing values, in addition to NaN, None and empty cells. Single missing values are imputed
        from the other columns of the view. A row without any value is a missing view.
    missing_columns : {"error", "allow"}, default="error"
        Whether columns of data frames may be absent in new samples. Their values are then missing.
    view_weights : mapping of str to float or sequence of float, default=None
        Factors c_p > 0 by which views count more or less, by name or in order; views that a mapping does not contain
        have 1. They are divided by their mean. Base partitions are multiplied by √c_p, and similarities by c_p
        in their mean, so that view p has the weight √c_p β_p ∝ c_p Tr(FᵀH_pW_p) in the consensus.
    similarity : {"auto", "kernel", "graph", "precomputed", "labels"}, object, or one of these per view, default="auto"
        Source of the base partitions. "kernel" and "graph" use only this similarity; "auto" tries both and their
        combination. With "precomputed" the view is a kernel, which also defines the distances for graphs. With "labels"
        the view is a clustering, one label per sample; one-dimensional views of text or categories are always labels.
        An object such as `KernelSimilarity` or `GivenPartition` defines a single base partition of its view.
    kernel : {"gaussian", "linear", "polynomial", "laplace", "sigmoid"} or callable, default="gaussian"
        Kernel of the scaled features.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out are taken from the data.
    missing : {"impute", "zero"}, default="impute"
        Treatment of missing views. Similarities of a view always use the samples that have it. "impute" imputes the
        missing rows of its eigenvectors from the other views of the sample, by factor analysis of all views; "zero"
        sets them to zero. Rows of zeros in views of distributions, abundances and intensities are treated
        as missing if there are more than 5 %, and if views are missing, so are all those in views of counts. Without
        missing views the option has no effect.
    init : {"align", "identity"}, default="align"
        Start of the rotations.
    max_iter : int, default=100
        Cap on the number of iterations.
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    assign_labels : {"auto", "kmeans", "average", "mixture", "rotation", "cluster_qr"}, default="auto"
        How the consensus is turned into labels. "auto" chooses among k-means, average linkage and a mixture of
        Gaussians with a common covariance, moves samples and halves of clusters to other clusters while the score
        rises, and fits a linear discriminant to the result. The labels are those of the discriminant.
    n_init : int, default=10
        Starts of the label assignment.
    random_state : int, RandomState or None, default=None
        For the label assignment and, above 3000 samples, for the samples that the search uses.
    n_jobs : int, default=None
        Number of similarities that are computed at the same time (threads).
    verbose : int, default=0
        Log every candidate.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        The consensus partition F.
    view_weights_ : ndarray of shape (n_views,)
        Weight of every view; the squares sum to one. All partitions of a view share it.
    selection_ : Selection
        The candidates, their scores, and the reason for the choice.
    number_selection_ : NumberOfClusters
        The evidence for every number of clusters that was tried, if there was a choice.
    alternatives_ : tuple of Alternative
        Other clusterings that score as high as this one within the standard error and differ from it on more than 5 %
        of the samples, best first: labels, score, and the samples that move. Empty if there are none.
    similarity_ : {"both", "graph", "kernel"}
        The chosen similarities.
    weighting_ : {"equal", "agreement"}
        Whether all views have equal initial weights, or weights by the agreement of each with the others. In the second
        case the concatenation of all views is one more view.
    regularization_ : float
        The chosen λ.
    hints_ : HintResult
        Which hints the clusters agree with, and whether they were followed. Only if there were hints.
    assign_labels_ : str
        The chosen label assignment, before samples were moved.
    n_shared_components_ : int or None
        Number of shared components from which missing rows were imputed; None if no rows were imputed.
    unrelated_views_ : list of str
        Views that are statistically unrelated to all other views. They have no weight. Needs at least three
        views, two of which are related.
    view_kinds_ : dict
        Kind of values in every view: "counts", "distribution", "abundances", "intensities", "measurements",
        "coordinates", "table", "kernel",
        "labels", "memberships" or "embedding"; "given" if the similarity is another object.
    confidence_ : ndarray of shape (n_samples,)
        From 0 (two clusters fit equally well) to 1; lower for samples with missing views, by the weights of these
        views.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Probability of every cluster. Of the samples with a membership of 0.8 in their cluster, about 80 % keep it when
        the clustering is repeated on other samples. Calibrated when it is first read, which takes several fits.
    calibration_ : Calibration
        How memberships were calibrated, computed with them.
    novelty_ : ndarray of shape (n_samples,) or None
        How far every sample is from the other training samples; above 1 for about one in a hundred. None beyond 100 000
        samples, and beyond 10 000 on a device; then ``predict(X, return_novelty=True)`` computes it.
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
        Which samples have which views; False for rows of zeros that are treated as missing.
    n_observed_views_ : ndarray of shape (n_samples,)
        Number of observed views of every sample; zero for samples with rows of zeros in all views.
    view_names_, n_views_, n_features_in_, n_features_per_view_
        Names and sizes of the training views.

    See Also
    --------
    GlobalAlignmentClustering : one partition per view, with all choices as parameters.
    LocalAlignmentClustering : the same with larger weights for central samples.

    Notes
    -----
    Arrays on a device (torch, CuPy) give the labels of NumPy arrays, up to rounding, and `labels_`, `consensus_`,
    `partitions_` and `confidence_` are arrays of the same library on the same device. Up to 10 000 samples are
    clustered in NumPy. More are clustered on the device, but for the search, which uses a copy of some of the samples.
    `assign_labels` must be "auto" or "kmeans", and a callable kernel must accept NumPy arrays. Missing views, hints,
    given kernels and given partitions need NumPy arrays.

    Examples
    --------
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=150, n_clusters=3, random_state=0)
    >>> model = lf.LateFusionClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.9
    True
    """

    _kept = "_state"
    _graphs_on_device = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FUSION_CONSTRAINTS,
        "n_clusters": [*FUSION_CONSTRAINTS["n_clusters"], StrOptions({"auto"}), "array-like", range],
        "regularization": [*FUSION_CONSTRAINTS["regularization"], StrOptions({"auto"})],
        "assign_labels": [StrOptions({"auto", *ASSIGNMENTS})],
    }

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        regularization: float | str = "auto",
        views: Any = None,
        view_weights: Any = None,
        similarity: Any = "auto",
        column_kinds: Any = None,
        encoders: Any = None,
        missing_values: Any = None,
        missing_columns: str = "error",
        kernel: Any = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        missing: str = "impute",
        init: str = "align",
        max_iter: int = 100,
        tol: float = 1e-6,
        assign_labels: str = "auto",
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.regularization = regularization
        self.views = views
        self.view_weights = view_weights
        self.similarity = similarity
        self.column_kinds = column_kinds
        self.encoders = encoders
        self.missing_values = missing_values
        self.missing_columns = missing_columns
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
    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Any:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or `Views` of arrays, MuData, one table, or kernels
            Several views of the same samples; one table with ``views=`` naming groups of its columns, or as a single
            view; with ``similarity="precomputed"`` a list of kernels or an array of shape (n_samples, n_samples,
            n_views).
        y : array-like of shape (n_samples,), series or mapping, default=None
            Hints: known classes of some samples, and -1, None, NaN or empty text for the others. A series with sample
            ids, and a mapping from ids or row numbers to classes, may contain only some samples. If every sample has a
            class, y is ignored, as by all clusterers of scikit-learn. See :doc:`/guide/hints`.
        must_link, cannot_link : sequence of pairs of samples, default=None
            Hints: samples that belong to one cluster, and to different clusters. Samples are named by their ids, or by
            row numbers if they have none.

        Returns
        -------
        self
        """
        numbers = check_numbers(self.n_clusters)
        views = self._fit_views(X, n_clusters=numbers[0])
        most = len(views) if isinstance(self.n_clusters, str) else numbers[-1]
        self._cluster(views, self._read_hints(y, must_link, cannot_link, views, most))
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def _cluster(self, views: Views, hints: Hints | None = None, *, before: Selected | None = None) -> None:
        """Cluster samples whose views have been read, with the choices of a model that lacks the last views."""
        there = next((one for one in views.arrays if is_device_array(one)), None)
        options = self._options_with(hints, before)
        if len(views) <= max(graph.EXACT_SAMPLES, most_search_samples(options.numbers[-1])):
            views = views_on_host(views)
        with threads_for(len(views)):
            specs = self._similarity_specs(views)
            known = () if before is None or self._mask is not None else _complete_sources(before)
            sources, directed = view_sources(
                views, specs, options.named, self._mask, options.numbers[0], self.view_inputs_, known
            )
            self._mask = observed_mask(sources)
            if self._mask is not None:
                self.observed_ = self._mask
                self.n_observed_views_ = self.observed_.sum(axis=1, dtype=np.intp)
            selected, searched = (
                search.select(sources, options) if before is None else select_as_before(before, sources, options)
            )
            self._store_choices(selected)
            report_progress("consensus", search.SEARCH_SHARE)
            fitted = None if before is None else fit_all_samples(selected)
            space, fused = search.fuse_selected(selected, searched, fitted)
            mean = space.partitions.times(fused.mean)
            self._state = replace(selected, mean=mean, partitions=of_views(searched, space))
            self._store_consensus(views, space, fused, directed, hints)
        if there is not None:
            self._place_results(there)

    def weight_intervals(self, n_bootstrap: int = 200, level: float = 0.95) -> WeightIntervals:
        """Bootstrap intervals of the view weights.

        The samples are drawn again, their partitions stay the same, and the alignment is solved again.

        Parameters
        ----------
        n_bootstrap : int, default=200
        level : float, default=0.95
            Share of the bootstrap weights inside the interval.

        Returns
        -------
        WeightIntervals
        """
        state: Selected = self._of_training("_state")
        with threads_for(len(self.labels_)):
            partitions = [to_numpy(one) for one in self.partitions_]
            return view_importance.weight_intervals(state, partitions, self.view_weights_, n_bootstrap, level)

    def leave_one_view_out(self) -> list[ViewVerdict]:
        """The effect of leaving out each view: labels that change, and the change of stability.

        Samples that have no other view are excluded from both sides of the comparison, and counted. Both sides are
        clustered without hints.

        Returns
        -------
        list of ViewVerdict
            One per view, in their order.
        """
        state: Selected = self._of_training("_state")
        consensus = self.consensus_ if state.without_hints is None else state.without_hints
        with threads_for(len(self.labels_)):
            return view_importance.leave_one_view_out(state, list(map(str, self.view_names_)), consensus)

    def n_clusters_path(self, numbers: Any = None) -> NumberPath:
        """Clusterings with other numbers of clusters, and how their clusters split.

        Similarities, weighting and λ are those of this model; the label assignment is chosen again. Eigenvectors are
        computed once for all numbers. A number takes about a third of the time of a fit with a given number.

        Parameters
        ----------
        numbers : range or sequence of int, default=None
            Numbers of clusters, at least 2. That of the model is always added. By default, 2 to ``n_clusters_ + 2``.

        Returns
        -------
        NumberPath
            Its labels for the number of this model are ``labels_``. The clusters of the other numbers have ids that
            follow from these.

        Examples
        --------
        >>> import latefusion as lf
        >>> data = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0)
        >>> model = lf.LateFusionClustering(n_clusters=3, random_state=0).fit(data.views)
        >>> print(model.n_clusters_path([2, 3]))
        cluster 0: 60 samples at n_clusters=2; 30 at 3
            cluster 2: 30 samples at n_clusters=3, 100% from cluster 0
        cluster 1: 30 samples at n_clusters=2; 30 at 3
        """
        state: Selected = self._of_training("_state")
        with threads_for(len(self.labels_)):
            return number_path(state, to_numpy(self.labels_), None if numbers is None else check_numbers(numbers))

    def criterion(self) -> Callable[[NDArray[Any]], float]:
        """The score that candidates were compared by, for any clustering of the training samples.

        Returns
        -------
        callable
            From labels of all samples to the score of a candidate with these labels.
        """
        state: Selected = self._of_training("_state")
        used: Any = slice(None) if state.samples is None else state.samples

        def score(labels: NDArray[Any]) -> float:
            codes = np.unique(to_numpy(labels), return_inverse=True)[1]
            return state.criterion.score(codes[used], self.n_clusters_).value

        return score

    def searched_samples(self) -> NDArray[np.intp]:
        """The samples that the search for similarities and λ used.

        Returns
        -------
        ndarray of shape (n_used,)
            Row numbers in order; those of all samples for problems that are not large.
        """
        samples = self._of_training("_state").samples
        return np.arange(len(self.labels_)) if samples is None else samples

    def sample_view_weights(self) -> NDArray[np.float64]:
        """The contribution of every view to the cluster of every sample.

        Returns
        -------
        ndarray of shape (n_samples, n_views)
            Rows sum to one; zero if the view is missing for the sample, or if it contradicts its cluster. The
            contribution of all views together is divided among views by their shares.
        """
        selected: Selected = self._of_training("_state")
        directions = cluster_directions(to_numpy(self.consensus_), to_numpy(self.labels_))
        partitions = [to_numpy(one) for one in self.partitions_]
        terms = contributions(partitions, self.rotations_, self.partition_weights_, directions)
        owners = np.array([key.view for key in selected.plan])
        of_views = terms @ (owners[:, None] == np.arange(self.n_views_ + 1))
        together = of_views[:, -1:] * selected.shares / selected.shares.sum()
        return share_contributions(of_views[:, :-1] + together, self.observed_)

    def _search_options(self) -> SearchOptions:
        return SearchOptions(
            n_clusters=self.n_clusters,
            numbers=check_numbers(self.n_clusters),
            regularizations=search.REGULARIZATIONS if self.regularization == "auto" else (float(self.regularization),),
            named=NamedSimilarities.of(self.kernel, self.kernel_params),
            missing=self.missing,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            seed=check_random_state(self.random_state).randint(np.iinfo(np.int32).max),
            solver={"init": self.init, "max_iter": self.max_iter, "tol": self.tol},
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _options_with(self, hints: Hints | None, before: Selected | None) -> SearchOptions:
        """Options of the search with the seed of an earlier model, a cluster per class, and the weights of views."""
        options = self._search_options()
        if before is not None:
            options = replace(options, seed=before.options.seed)
        if hints is not None:
            least = max(1, len(hints.classes))
            options = replace(options, numbers=[one for one in options.numbers if one >= least] or [least])
        return options if self.view_weights is None else replace(options, prior=self._prior_weights())

    def _store_choices(self, selected: Selected) -> None:
        kinds = [source.kind for source in selected.sources]
        self.view_kinds_ = dict(zip(map(str, self.view_names_), kinds, strict=True))
        unrelated = unrelated_views(selected.dependence)
        self.unrelated_views_ = [str(name) for name, one in zip(self.view_names_, unrelated, strict=True) if one]
        for name in self.unrelated_views_:
            warnings.warn(unrelated_note(name, is_used=False), UserWarning, stacklevel=4)
        self.n_clusters_ = selected.candidate.n_clusters
        self.selection_ = selected.selection
        store_if_any(self, number_selection_=selected.number_selection)
        self.similarity_ = selected.candidate.similarity
        self.weighting_ = selected.candidate.weighting
        self.regularization_ = selected.candidate.regularization
        self.n_shared_components_ = selected.candidate.n_shared_components

    def _store_alignment(self, plan: Plan, fused: FusedSpectra, agreement: NDArray[np.float64]) -> None:
        result = fused.result
        self._store_solution(result)
        self.rotations_ = result.rotations
        self.partition_weights_ = np.asarray(result.weights) * np.array(list(plan.values()))
        names = [*map(str, self.view_names_), "all views"]
        self.partition_names_ = [(names[key.view], key.name) for key in plan]
        self.view_weights_ = weights_of_views(result.weights, plan, self._state.shares)
        owners = np.array([key.view for key in plan])
        own = owners < self.n_views_
        self.agreement_ = np.bincount(owners[own], agreement[own]) / np.bincount(owners[own])

    def _store_consensus(
        self,
        views: Views,
        space: CandidateSpace,
        fused: FusedSpectra,
        directed: NDArray[np.bool_],
        hints: Hints | None,
    ) -> None:
        plan, partitions = self._state.plan, space.partitions
        self.consensus_ = partitions.times(fused.coefficients)
        assigned = self._state.final or assign_selected(self._state, self.consensus_, self._mask)
        fused, assigned = self._follow(hints, space, fused, assigned)
        self.partitions_ = [partitions.vectors[partitions.position(key)][:, : self.n_clusters_] for key in plan]
        agreement = [
            observed_agreement(partition, self.consensus_, None if key.view == self.n_views_ else self._mask, key.view)
            for key, partition in zip(plan, self.partitions_, strict=True)
        ]
        self._store_alignment(plan, fused, np.array(agreement))
        self.labels_, self.assign_labels_, rule = assigned.labels, assigned.assign_labels, assigned.rule
        searched, names = self.searched_samples(), list(map(str, self.view_names_))
        self.alternatives_: tuple[Alternative, ...] = ()
        if hints is None or not self.hints_.followed:  # hints decide between clusterings with equal scores
            labels = on_host(take_rows(self.labels_, searched))
            self.alternatives_ = find_alternatives(self._state, labels, searched, names)
        self.confidence_ = weigh_confidence(rule.confidence(self.consensus_), self.view_weights_, self._mask)
        encodings = ["kernel" if source.kind == "kernel" else source.encoding for source in self._state.sources]
        self._store_map(fused_map(self._state, space, fused, rule, directed), views, encodings, self._mask, hints)

    def _place_results(self, there: Array) -> None:
        """Move results of the size of the samples to the device of the views."""
        for name in ("labels_", "consensus_", "confidence_"):
            setattr(self, name, beside(getattr(self, name), there))
        self.partitions_ = [beside(one, there) for one in self.partitions_]

    def _numpy_only(self) -> str:
        if self.assign_labels in ("auto", "kmeans"):
            return ""
        return f"assign_labels={self.assign_labels!r} requires NumPy arrays. Use 'auto' or 'kmeans'."

    def _follow(
        self, hints: Hints | None, space: CandidateSpace, fused: FusedSpectra, assigned: Assigned
    ) -> tuple[FusedSpectra, Assigned]:
        """The fusion and the labels that follow the hints; the given ones if they are not followed."""
        store_if_any(self, hints_=None)
        if hints is None:
            return fused, assigned
        partitions, plan = space.partitions, self._state.plan
        positions = [partitions.position(key) for key in plan]
        own = [partitions.columns[position] for position in positions]
        scales = [
            factor * root_values(partitions.values[position], space.n_clusters)
            for factor, position in zip(plan.values(), positions, strict=True)
        ]
        guided, self.hints_ = follow_hints(
            hints,
            np.concatenate([partitions.vectors[position] for position in positions], axis=1),
            np.concatenate(scales),
            np.concatenate([fused.coefficients[one] for one in own]),
            assigned.labels,
            known_samples(self._mask),
        )
        if guided is None:
            return fused, assigned
        coefficients, start = np.zeros_like(fused.coefficients), 0
        for one in own:
            coefficients[one] = guided.coefficients[start : start + one.stop - one.start]
            start += one.stop - one.start
        self._state = replace(self._state, without_hints=self.consensus_)
        self.consensus_ = partitions.times(coefficients)
        labels = np.asarray(guided.rule.predict(self.consensus_))
        return fused._replace(coefficients=coefficients), Assigned(labels, guided.rule, assigned.assign_labels)


def _complete_sources(selected: Selected) -> Sequence[Source]:
    """The sources of a model, none if views are missing: then what the views hold depends on all of them."""
    return () if observed_mask(selected.sources) is not None else selected.sources


def views_on_host(views: Views) -> Views:
    """The same views in NumPy."""
    return Views([on_host(one) for one in views.arrays], views.names, views.mask, views.sample_ids)


def check_numbers(n_clusters: Any) -> list[int]:
    """The number of clusters, or the numbers to try in ascending order.

    Parameters
    ----------
    n_clusters : int, "auto", range or sequence of int

    Returns
    -------
    list of int
    """
    if isinstance(n_clusters, Integral):
        return [int(n_clusters)]
    is_auto = isinstance(n_clusters, str) and n_clusters == "auto"
    numbers: Any = range(2, GREATEST_NUMBER + 1) if is_auto else sorted({*n_clusters})
    if not numbers or not all(isinstance(one, Integral) and int(one) >= 2 for one in numbers):
        raise ValueError(
            f"n_clusters must be an integer >= 1, 'auto', or a range or list of integers >= 2; got {n_clusters!r}."
        )
    return [int(one) for one in numbers]


def fused_map(
    selected: Selected, space: CandidateSpace, fused: FusedSpectra, rule: Any, directed: NDArray[np.bool_]
) -> ConsensusMap:
    """The fitted model of a fusion.

    Parameters
    ----------
    selected : Selected
    space : CandidateSpace
        Partitions of all samples.
    fused : FusedSpectra
    rule : object
        Turns consensus rows into labels.
    directed : ndarray of bool of shape (n_views,)
        Views in which a row of zeros is a missing row.

    Returns
    -------
    ConsensusMap
    """
    kept, fill = space.partitions, space.partitions.fill
    if fill is None:  # if views are missing in training, all partitions are needed to impute rows of others
        kept = kept.restricted(list(selected.plan))
        imputes = selected.options.missing == "impute" and space.n_views > 1
        model = fit_imputation(kept, space.n_clusters) if imputes else None
        fill = Fill(np.full(kept.columns[-1].stop, not imputes), model)
    own = [fused.coefficients[space.partitions.columns[space.partitions.position(key)]] for key in kept.keys]
    return ConsensusMap(space.n_views, kept.blocks, np.concatenate(own), rule, fill, directional=directed)
