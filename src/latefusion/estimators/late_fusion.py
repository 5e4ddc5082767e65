"""Late fusion that decides for itself: scaling, kinds of similarity and λ, without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import lies_elsewhere
from latefusion.assignment import ASSIGNMENTS
from latefusion.base import KERNEL_CONSTRAINTS, MultiViewClusterMixin, logger, per_view, warn_not_converged
from latefusion.estimators.search import Judge, Score, Selection, find_neighborhoods
from latefusion.metrics import subspace_agreement
from latefusion.partitions import GraphPartition, KernelPartition, PrecomputedPartition
from latefusion.partitions.ensemble import Ensemble, EnsembleKey, fit_ensemble
from latefusion.partitions.preparation import Preparation
from latefusion.partitions.sources import FeatureSource, KernelSource, ViewSource
from latefusion.solvers.late_fusion_spectra import FusedSpectra, Member, fuse_spectra, root_of_products
from latefusion.types import Array, Views
from latefusion.validation import check_diagonals

GRAPH_SIZES = (5, 10, 20)
# Kinds of fusion, and the similarities of every view that they consist of. A view that has none of them takes part with
# what it has.
KINDS: dict[str, tuple[str, ...]] = {
    "graph": ("graph 5", "graph 10", "graph 20"),
    "kernel": ("kernel",),
    "both": ("graph 10", "kernel"),
}
# The similarities whose own clusterings a candidate is compared with.
OPINIONS = ("graph 10", "kernel", "given")
OPINION_STARTS = 3
REGULARIZATIONS = (0.5, 1.0, 2.0, 4.0)
# Eigenvectors per cluster: with four the mean of the similarities is about as good as if it had been formed.
VECTORS_PER_CLUSTER = 4
# The search looks at no more samples than this.
SEARCH_SAMPLES = 3000
# Two views whose base partitions agree more than this begin to count as one; at full agreement they do.
SAME_VIEW = 0.95


class Candidate(NamedTuple):
    """One way of fusing, and what came of it."""

    n_clusters: int
    kind: str
    regularization: float
    fused: FusedSpectra
    score: Score


class Search(NamedTuple):
    """What a search looked at, and what it found."""

    ensemble: Ensemble
    shares: NDArray[np.float64]
    candidates: list[Candidate]

    @property
    def chosen(self) -> Candidate:
        """The candidate of the highest score."""
        return max(self.candidates, key=lambda one: one.score.value)

    def table(self) -> Selection:
        """What was tried, and why one was taken."""
        chosen = self.chosen
        rows = tuple(
            {
                "n_clusters": one.n_clusters,
                "kind": one.kind,
                "regularization": one.regularization,
                "score": one.score.value,
                "spread": one.score.spread,
                "chosen": one is chosen,
            }
            for one in self.candidates
        )
        n_samples = len(self.ensemble.spectra[0].vectors)
        reason = (
            f"Of {len(rows)} candidates on {n_samples} samples, partitions of kind {chosen.kind!r} with "
            f"regularization={chosen.regularization:g} give clusters that say most about neighbouring samples and "
            f"about the views: score {chosen.score.value:.3f} ± {chosen.score.spread:.3f}."
        )
        return Selection(rows, reason, n_samples)


class LateFusionClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MultiViewClusterMixin, BaseEstimator):
    """Multi-view clustering by late fusion that needs nothing but the views.

    Every view is scaled by what it holds (counts, distributions, measurements in different units, coordinates). From
    every view come several base partitions, of nearest-neighbour graphs and of a kernel, which are fused by global
    alignment. Which kinds of partition and how strong the pull λ towards their mean is chosen by how much the clusters
    say about neighbouring samples and about the clusterings of the single views; no labels are used.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    regularization : float or "auto", default="auto"
        Pull towards the partition of the mean similarity (the paper's λ); "auto" chooses among 1/2, 1, 2 and 4.
    views : mapping or sequence, default=None
        When X is one table: the columns of every view, as slices, positions or names. None makes it a single view.
    partition : {"auto", "kernel", "graph", "precomputed"}, object, or one of these per view, default="auto"
        Where base partitions come from: "kernel" and "graph" leave no choice, "auto" tries both and their combination;
        with "precomputed" the view is a kernel, from which distances for graphs are taken as well. An object such as
        `KernelPartition` gives the one base partition of its view.
    kernel : {"gaussian", "linear", "polynomial", "laplace", "sigmoid"} or callable, default="gaussian"
        Kernel of the scaled features.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out are taken from the data.
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
    kind_ : {"graph", "kernel", "both", "given"}
        Kind of base partitions that was chosen.
    regularization_ : float
        λ that was chosen.
    view_kinds_ : dict
        What every view was found to hold: "counts", "distribution", "measurements", "coordinates" or "kernel".
    confidence_ : ndarray of shape (n_samples,)
        From 0 (two clusters fit equally well) to 1.
    agreement_ : ndarray of shape (n_views,)
        How well the base partitions of every view agree with the consensus, 0 to 1.
    partitions_ : list of ndarray of shape (n_samples, n_clusters)
        The base partitions that were fused.
    partition_names_ : list of (str, str)
        View and similarity of every base partition.
    rotations_ : ndarray of shape (n_partitions, n_clusters, n_clusters)
    objective_ : ndarray
        Value after every iteration.
    n_iter_ : int
    converged_ : bool
    n_clusters_ : int
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
        "regularization": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "init": [StrOptions({"align", "identity"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "assign_labels": [StrOptions(set(ASSIGNMENTS))],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        regularization: float | str = "auto",
        views: Any = None,
        partition: Any = "auto",
        kernel: Any = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
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
        X : list, dict or `Views` of arrays, one table, or kernels
            Several views of the same samples; one table with ``views=`` naming groups of its columns, or as a single
            view; with ``partition="precomputed"`` a list of kernels or an array of shape (n_samples, n_samples,
            n_views).
        y : ignored
            Present by convention.

        Returns
        -------
        self
        """
        views = self._fit_views(X)
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._sources = [self._source(*one) for one in zip(views.arrays, self._specs(views), views.names, strict=True)]
        self.view_kinds_ = {name: one.kind for name, one in zip(views.names, self._sources, strict=True)}
        seen = self._search_samples(len(views))
        sources = self._sources if seen is None else [one.take(seen) for one in self._sources]
        search = self._search(sources)
        self.n_clusters_, self.kind_, self.regularization_, fused, _ = search.chosen
        self.selection_ = search.table()
        ensemble = search.ensemble
        if seen is not None:
            ensemble = self._ensemble(self._sources, [self.kind_])
            root = root_of_products(ensemble.products())
            fused = self._fuse(ensemble, root, search.shares, self.kind_, self.regularization_)
        self._store(ensemble, fused)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def transform(self, X: Any, *, diagonals: Sequence[Any] | Mapping[str, Any] | None = None) -> NDArray[Any]:
        """Consensus rows of new samples; of the training samples, `consensus_`.

        Parameters
        ----------
        X : as in `fit`
            With precomputed kernels, one array of shape (n_new, n_training) per view.
        diagonals : sequence or mapping of arrays of shape (n_new,), default=None
            For precomputed kernels: self-similarities k(x, x) of the new samples. May be left out (or None for a view)
            where the diagonal of the training kernel is constant.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
        """
        check_is_fitted(self)
        views = self._new_views(X)
        diagonals = check_diagonals(diagonals, list(self.view_names_), len(views))
        rows: Any = 0.0
        for key, spectrum, coefficients in self._members:
            rows = rows + self._sources[key.view].extend(
                key.similarity, spectrum, views.arrays[key.view], diagonals[key.view]
            ) @ coefficients.astype(spectrum.vectors.dtype)
        return np.asarray(rows)

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Cluster the samples and return their consensus rows.

        Parameters
        ----------
        X : as in `fit`
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        return self.fit(X).consensus_

    def predict(self, X: Any, *, diagonals: Sequence[Any] | Mapping[str, Any] | None = None) -> NDArray[np.intp]:
        """Labels of new samples; of the training samples, `labels_`.

        Parameters
        ----------
        X : as in `transform`
        diagonals : as in `transform`

        Returns
        -------
        ndarray of shape (n_new,)
        """
        return self._rule.predict(self.transform(X, diagonals=diagonals))

    def _specs(self, views: Views) -> list[Any]:
        return per_view(self.partition, views, "partition")

    def _source(self, view: Array, spec: Any, name: str) -> ViewSource:
        if lies_elsewhere(view):
            raise ValueError(
                f"{type(self).__name__} works on NumPy arrays and sparse matrices, but view {name!r} is a "
                f"{type(view).__name__}: convert it, or use GlobalAlignmentClustering, which runs where the data lie."
            )
        graphs = {f"graph {size}": GraphPartition(size) for size in GRAPH_SIZES}
        kernel = {"kernel": KernelPartition(self.kernel, kernel_params=self.kernel_params)}
        if spec == "precomputed" or isinstance(spec, PrecomputedPartition):
            own = spec if isinstance(spec, PrecomputedPartition) else PrecomputedPartition()
            return KernelSource.of(view, {**graphs, "kernel": own})
        if hasattr(spec, "similarity"):
            return FeatureSource(Preparation("given"), view, {"given": spec})
        known = {"auto": {**graphs, **kernel}, "graph": graphs, "kernel": kernel}
        if spec not in known:
            raise ValueError(
                f"partition must be one of {[*known, 'precomputed']} or have a method `similarity`, got {spec!r}."
            )
        return FeatureSource.of(view, known[spec])

    def _search_samples(self, n_samples: int) -> NDArray[np.intp] | None:
        """The samples that the search looks at; None for all."""
        if n_samples <= SEARCH_SAMPLES:
            return None
        return np.sort(np.random.default_rng(self._seed).choice(n_samples, SEARCH_SAMPLES, replace=False))

    def _search(self, sources: Sequence[ViewSource]) -> Search:
        """Try all kinds and λ, and take the best."""
        n_clusters = self.n_clusters
        kinds = self._kinds(sources)
        ensemble = self._ensemble(sources, kinds)
        shares = self._shares(ensemble, n_clusters)
        judge = self._judge(sources, ensemble, shares, n_clusters)
        root = root_of_products(ensemble.products())
        values = REGULARIZATIONS if self.regularization == "auto" else (float(self.regularization),)
        candidates = []
        for kind in kinds:
            for value in values:
                fused = self._fuse(ensemble, root, shares, kind, value)
                labels, _ = self._assign(ensemble.rows(fused.coefficients), n_clusters)
                candidates.append(Candidate(n_clusters, kind, value, fused, judge.score(labels, n_clusters)))
                if self.verbose:
                    logger.info("%s: %s, λ = %g: score %.4f", type(self).__name__, kind, value, candidates[-1].score[0])
        return Search(ensemble, shares, candidates)

    @staticmethod
    def _kinds(sources: Sequence[ViewSource]) -> list[str]:
        """Kinds that differ, for the similarities that there are."""
        found = {tuple(tuple(_named(source, kind)) for source in sources): kind for kind in reversed(KINDS)}
        return [kind for kind in KINDS if kind in found.values()]

    def _ensemble(self, sources: Sequence[ViewSource], kinds: Sequence[str]) -> Ensemble:
        n_samples = sources[0].coordinates.shape[0]
        keys = [
            EnsembleKey(view, name)
            for view, source in enumerate(sources)
            for name in dict.fromkeys(name for kind in kinds for name in _named(source, kind))
        ]
        n_components = min(VECTORS_PER_CLUSTER * self.n_clusters, n_samples)
        return fit_ensemble(sources, keys, n_components, self.n_clusters, n_jobs=self.n_jobs)

    def _shares(self, ensemble: Ensemble, n_clusters: int) -> NDArray[np.float64]:
        """How much every view counts: one, or one over the number of views that say the same."""
        n_views = self.n_views_
        agreement = np.eye(n_views)
        for first in range(n_views):
            for second in range(first):
                names = [key.similarity for key in ensemble.keys if key.view == first]
                pairs = [
                    (ensemble.keys.index(EnsembleKey(first, name)), ensemble.keys.index(EnsembleKey(second, name)))
                    for name in names
                    if EnsembleKey(second, name) in ensemble.keys
                ]
                if pairs:
                    alike = min(ensemble.agreement(*pair, n_clusters) for pair in pairs)
                    agreement[first, second] = agreement[second, first] = alike
        same = np.clip((agreement - SAME_VIEW) / (1 - SAME_VIEW), 0.0, 1.0)
        return 1.0 / same.sum(axis=1)

    def _judge(
        self, sources: Sequence[ViewSource], ensemble: Ensemble, shares: NDArray[Any], n_clusters: int
    ) -> Judge:
        opinions: list[list[NDArray[np.intp]]] = [[] for _ in sources]
        for key, spectrum in zip(ensemble.keys, ensemble.spectra, strict=True):
            if key.similarity in OPINIONS:
                labels, _ = self._assign(spectrum.vectors[:, :n_clusters], n_clusters, n_init=OPINION_STARTS)
                opinions[key.view].append(labels)
        neighborhoods = find_neighborhoods([source.coordinates for source in sources], shares)
        return Judge(neighborhoods, opinions, shares / shares.sum())

    def _fuse(
        self, ensemble: Ensemble, root: NDArray[Any], shares: NDArray[Any], kind: str, regularization: float
    ) -> FusedSpectra:
        members = []
        for key in self._fused_keys(kind):
            position = ensemble.keys.index(key)
            factor = float(np.sqrt(shares[key.view] / len(_named(self._sources[key.view], kind))))
            members.append(Member(ensemble.columns[position], ensemble.spectra[position].values, factor))
        return fuse_spectra(
            root,
            members,
            self.n_clusters,
            regularization=regularization,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _assign(self, consensus: NDArray[Any], n_clusters: int, n_init: int | None = None) -> Any:
        assign = ASSIGNMENTS[self.assign_labels]
        return assign(consensus, n_clusters, n_init=n_init or self.n_init, random_state=self._seed)

    def _fused_keys(self, kind: str) -> list[EnsembleKey]:
        return [EnsembleKey(view, name) for view, source in enumerate(self._sources) for name in _named(source, kind)]

    def _store(self, ensemble: Ensemble, fused: FusedSpectra) -> None:
        keys = self._fused_keys(self.kind_)
        positions = [ensemble.keys.index(key) for key in keys]
        result = fused.result
        self.consensus_ = np.asarray(ensemble.rows(fused.coefficients))
        self.labels_, self._rule = self._assign(self.consensus_, self.n_clusters_)
        self.confidence_ = self._rule.confidence(self.consensus_)
        self.partition_names_ = [(str(self.view_names_[key.view]), key.similarity) for key in keys]
        self.partitions_ = [ensemble.spectra[position].vectors[:, : self.n_clusters_] for position in positions]
        self.rotations_ = result.rotations
        self.objective_ = np.asarray(result.objective)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        owners = np.array([key.view for key in keys])
        self.view_weights_ = np.sqrt(np.bincount(owners, weights=result.weights**2, minlength=self.n_views_))
        agreement = [subspace_agreement(partition, self.consensus_) for partition in self.partitions_]
        self.agreement_ = np.bincount(owners, weights=agreement) / np.bincount(owners)
        self._members = [
            (key, ensemble.spectra[position], fused.coefficients[ensemble.columns[position]])
            for key, position in zip(keys, positions, strict=True)
        ]
        self._n_features_out = self.n_clusters_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _named(source: ViewSource, kind: str) -> list[str]:
    """The similarities of a view that a kind of fusion consists of; all that it has, if it has none of those."""
    found = [name for name in KINDS[kind] if name in source.similarities]
    return found or [name for name in source.similarities if name in OPINIONS]
