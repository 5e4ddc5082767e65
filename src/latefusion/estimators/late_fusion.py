"""Late fusion that decides for itself: scaling, kinds of similarity and λ, without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import lies_elsewhere, row_blocks
from latefusion.assignment import ASSIGNMENTS
from latefusion.base import KERNEL_CONSTRAINTS, MultiViewClusterMixin, logger, per_view, warn_not_converged
from latefusion.estimators.search import Judge, Selection, find_neighborhoods
from latefusion.metrics import subspace_agreement
from latefusion.partitions import GraphPartition, KernelPartition, PrecomputedPartition
from latefusion.partitions.preparation import Preparation, fit_preparation
from latefusion.partitions.spectra import Spectrum, fit_spectrum
from latefusion.solvers.late_fusion_spectra import FusedSpectra, Member, fuse_spectra, root_of_products
from latefusion.types import Array, Views
from latefusion.validation import check_diagonals

# Kinds of fusion, and the similarities of every view that they consist of.
KINDS: dict[str, tuple[str, ...]] = {
    "graph": ("graph 5", "graph 10", "graph 20"),
    "kernel": ("kernel",),
    "both": ("graph 10", "kernel"),
}
# The similarities whose own clusterings a candidate is compared with.
OPINIONS = ("graph 10", "kernel")
REGULARIZATIONS = (0.5, 1.0, 2.0, 4.0)
# Eigenvectors per cluster: with four the mean of the similarities is as good as if it had been formed.
VECTORS_PER_CLUSTER = 4
# The search looks at no more samples than this.
SEARCH_SAMPLES = 3000
# Two views whose base partitions agree more than this begin to count as one; at full agreement they do.
SAME_VIEW = 0.95
# Rows whose inner products are summed up at a time.
PRODUCT_ROWS = 2**15


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
        self.n_clusters_ = self.n_clusters
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        places = [self._place(view, spec) for view, spec in zip(views.arrays, self._specs(views), strict=True)]
        searched = _take(places, self._search_samples(places))
        stack = self._stack(searched, None)
        self._choose(stack)
        if searched is not places:
            stack = self._stack(places, self.kind_)
        self._store(stack, places)
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
        checked = check_diagonals(diagonals, list(self.view_names_), len(views))
        arrays = [
            place.move(name, view, diagonal)
            for name, place, view, diagonal in zip(views.names, self._places, views.arrays, checked, strict=True)
        ]
        rows: Any = 0.0
        for (view, name), spectrum, own in zip(self._members, self._spectra, self._coefficients, strict=True):
            rows = rows + spectrum.extend(*arrays[view].source(name)) @ own
        return np.asarray(rows, dtype=self.consensus_.dtype)

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
