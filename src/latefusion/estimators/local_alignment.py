"""LF-MVC-LAM: alignment with larger weights for central samples, per view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt

from latefusion.arrays import namespace, threads_for
from latefusion.estimators.alignment import AlignmentClustering, check_regularizations
from latefusion.estimators.alignment_map import counts_of
from latefusion.estimators.path import RegularizationPath
from latefusion.partitions import Partitions
from latefusion.partitions.neighborhoods import neighborhood_size

# A fraction of the samples, or a count.
NEIGHBORHOODS = [Interval(RealNotInt, 0, 1, closed="right"), Interval(Integral, 1, None, closed="left")]


class LocalAlignmentClustering(AlignmentClustering):
    """Multi-view clustering by local alignment (LF-MVC-LAM).

    Every view has a base partition. Each row is multiplied by the number of samples that have this sample among their
    neighbors in the view, so that central samples have larger weights than outliers. The consensus partition maximizes
    the agreement with all of these, each multiplied by a rotation and a weight.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    regularization : float, default=1.0
        Weight of M, the partition of `reference` (the paper's λ).
    neighborhood : float or int, default=0.3
        Size of a neighborhood (the paper's τ): a fraction of the samples, or a count if it is an integer.
    count_samples : int, default=None
        Number of neighborhoods from which the neighbor counts are estimated if no kernel is formed; None uses all of
        them up to 5000 samples and 512 beyond. `neighbor_count_error_` is the resulting error.
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
        have 1. They are divided by their mean. The objective is Σ_p √c_p β_p Tr(FᵀH_pW_p) + λ Tr(FᵀM), so
        that view p has the weight √c_p β_p ∝ c_p Tr(FᵀH_pW_p) in the consensus. M is not changed.
    similarity : {"auto", "kernel", "graph", "precomputed", "labels"}, object, or one of these per view, default="auto"
        Source of the base partitions: a kernel of the features ("kernel", the same as "auto"), a nearest-neighbor graph
        ("graph"), precomputed kernels instead of features ("precomputed"), or a clustering, one label per sample
        ("labels"; one-dimensional views of text or categories are always labels). An object such as
        `KernelSimilarity`, `GraphSimilarity` or `GivenPartition` has its own parameters. A list, or a dict by view
        name, sets the similarity of every view.
    kernel : {"gaussian", "linear", "polynomial", "laplace", "sigmoid"} or callable, default="gaussian"
        Kernel of the features.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out are taken from the data.
    reference : {"mean", "kernel", "graph"} or object, default="mean"
        The similarity whose partition is M. "mean" is the paper's: the mean of the similarities of all views. "kernel",
        "graph" or an object such as `GraphSimilarity` is one similarity of the concatenation of all views, each scaled
        to the same mean squared distance. It works best if all views contain the same kind of values, and does not
        support missing views in training.
    missing : {"zero", "impute"}, default="zero"
        Treatment of missing views. The similarity of a view always uses the samples that have it. "zero" sets missing
        rows of base partitions to zero, and computes M from the views that two samples share. "impute" imputes missing
        rows from the other views of the sample, by factor analysis of all views, and computes M from all partitions
        together; it is much better with kernels and many missing views. Without missing views the option has no effect.
    init : {"align", "identity"}, default="align"
        Start of the rotations. "identity" is the paper's; its result depends on the signs of eigenvectors, which are
        arbitrary. "align" does not, and needs fewer iterations.
    max_iter : int, default=100
        Cap on the number of iterations.
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    assign_labels : {"kmeans", "rotation", "cluster_qr", "average", "mixture"}, default="kmeans"
        How the consensus partition becomes labels: k-means, spectral rotation, pivoted QR, average linkage (for
        clusters of unequal size), or a mixture of Gaussians with a common covariance.
    n_init : int, default=10
        Starts of the label assignment.
    random_state : int, RandomState or None, default=None
        Randomness of the label assignment; nothing else is random.
    n_jobs : int, default=None
        Views whose partitions are computed at the same time.
    verbose : bool or int, default=False
        Report every iteration to the logger ``latefusion`` at level INFO.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Consensus partition (F), with orthonormal columns.
    view_weights_ : ndarray of shape (n_views,)
        Weight of every view (β), of unit Euclidean norm.
    rotations_ : ndarray of shape (n_views, n_clusters, n_clusters)
        Rotation of every base partition (W_p).
    objective_ : ndarray of shape (n_iter_,)
        Objective after every iteration; it never decreases.
    n_iter_ : int
        Number of iterations.
    hints_ : HintResult
        Which hints the clusters agree with, and whether they were followed. Only if there were hints.
    converged_ : bool
        Whether the stopping rule was met.
    partitions_ : list of ndarray of shape (n_samples, n_clusters)
        Base partitions (H_p), without weights.
    neighbor_counts_ : ndarray of shape (n_views + 1, n_samples)
        How many samples have this one among their neighbors, by view, and last by the similarity of M.
    neighbor_count_error_ : float
        Mean relative standard error of these counts; 0 when they are exact.
    partition_info_ : dict of str to PartitionInfo
        By view name how its similarity was represented: exactly, by a graph or by a factor, its rank, the number of
        landmarks or anchors, and for a Nyström factor the share of the kernel that it captures.
    confidence_ : ndarray of shape (n_samples,)
        How clearly every sample belongs to its cluster: 0 if a second center is equally near, 1 at the center; lower
        for samples with missing views, by the weights of these views.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Probability of every cluster. Of the samples with a membership of 0.8 in their cluster, about 80 % keep it when
        the clustering is repeated on other samples. Calibrated when it is first read, which takes several fits.
    calibration_ : Calibration
        How memberships were calibrated, computed with them.
    novelty_ : ndarray of shape (n_samples,) or None
        How far every sample is from the other training samples; above 1 for about one in a hundred. None beyond 100 000
        samples and for arrays on a device; then ``predict(X, return_novelty=True)`` computes it.
    agreement_ : ndarray of shape (n_views,)
        Mean cosine of the angles between the subspaces of a base partition and of the consensus, from 0 to 1.
    observed_ : ndarray of bool of shape (n_samples, n_views)
        Which samples have which views.
    n_observed_views_ : ndarray of shape (n_samples,)
        Number of views that every sample has.
    view_names_ : ndarray of shape (n_views,)
        Names of the views.
    n_views_ : int
        Number of views.
    n_features_in_ : int
        Total number of columns.
    n_features_per_view_ : ndarray of shape (n_views,)
        Number of columns of every view.

    See Also
    --------
    GlobalAlignmentClustering : The same without weighting samples.

    Notes
    -----
    Solves max Tr(Fᵀ Σ_p β_p D_p H_p W_p) / n + λ Tr(Fᵀ D_0 M) / n over FᵀF = I, W_pᵀW_p = I, ‖β‖₂ = 1, β ≥ 0, where
    the diagonal matrix D_p counts for every sample how many others have it among their neighbors (the sample itself
    excluded) by the kernel of view p, and D_0 by that of M. Of equally similar neighbors the one with the lower
    index comes first.

    The weight of a new sample is the number of training samples whose neighborhood would contain it. A new sample that
    coincides with a training sample has its count, so that `predict` on training data returns `labels_`.

    A view whose similarity has rank r < n_clusters gives r directions; the other columns of its base partition are
    zero.

    Arrays on a device (torch, CuPy) are clustered there, and `labels_`, `consensus_`, `partitions_` and `confidence_`
    are arrays of the same library on the same device. Kernels go through a factor: the linear kernel with the same
    result, others through a Nyström factor. The precision is that of the arrays; products of float32 arrays are rounded
    to TF32 only if this is enabled in the library (``torch.set_float32_matmul_precision``, ``CUPY_TF32``).

    References
    ----------
    Wang, Liu, Zhu: Late Fusion Multi-view Clustering via Global and Local Alignment Maximization.

    Examples
    --------
    >>> from latefusion import LocalAlignmentClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(n_samples=90, n_clusters=3, random_state=0)
    >>> model = LocalAlignmentClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> model.labels_.shape, model.view_weights_.shape
    ((90,), (3,))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AlignmentClustering._parameter_constraints,
        "count_samples": [Interval(Integral, 2, None, closed="left"), None],
        "neighborhood": NEIGHBORHOODS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        regularization: float = 1.0,
        neighborhood: float | int = 0.3,
        count_samples: int | None = None,
        views: Any = None,
        view_weights: Any = None,
        similarity: Any = "auto",
        column_kinds: Any = None,
        encoders: Any = None,
        missing_values: Any = None,
        missing_columns: str = "error",
        kernel: Any = "gaussian",
        kernel_params: Any = None,
        reference: Any = "mean",
        missing: str = "zero",
        init: str = "align",
        max_iter: int = 100,
        tol: float = 1e-6,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.regularization = regularization
        self.neighborhood = neighborhood
        self.count_samples = count_samples
        self.views = views
        self.view_weights = view_weights
        self.similarity = similarity
        self.column_kinds = column_kinds
        self.encoders = encoders
        self.missing_values = missing_values
        self.missing_columns = missing_columns
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.reference = reference
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
    def neighborhood_path(
        self, X: Any, neighborhoods: Sequence[float], regularizations: Sequence[float] | None = None
    ) -> dict[float, RegularizationPath]:
        """Solutions for many sizes of the neighborhood, and many λ for each, from one set of base partitions.

        Similarities and base partitions are computed once. A size costs one count of the neighbors and one compression
        of the partitions; λ costs next to nothing.

        Parameters
        ----------
        X : as in `fit`
        neighborhoods : sequence of float or int
            Values of τ: fractions of the samples, or counts if they are integers.
        regularizations : sequence of float, default=None
            Values of λ, none negative; that of the estimator when None.

        Returns
        -------
        dict of float to RegularizationPath
            By the given τ, one point per λ: ``path[0.3][0].labels``. The estimator itself is not fitted by this.
        """
        sizes = _check_neighborhoods(neighborhoods)
        values = check_regularizations([self.regularization] if regularizations is None else regularizations)
        shell = type(self)(**self.get_params(deep=False))
        views = shell._fit_views(X)
        counts = tuple(neighborhood_size(size, len(views)) for size in sizes)
        with threads_for(len(views)):
            found = shell._fit_partitions(views, n_neighbors=counts, count_samples=self.count_samples)
            counts_of_sizes = zip(*(one or [None] * len(sizes) for one in found.counts or ()), strict=True)
            return {
                size: shell._path(replace(found, counts=counts), values)
                for size, counts in zip(sizes, counts_of_sizes, strict=True)
            }

    def _neighborhoods(self, n_samples: int) -> dict[str, Any]:
        size = neighborhood_size(self.neighborhood, n_samples)
        return {"n_neighbors": size, "count_samples": self.count_samples}

    def _store_partitions(self, partitions: Partitions) -> None:
        super()._store_partitions(partitions)
        counts = counts_of(partitions)
        errors = [one.relative_errors for one in counts]
        self.neighbor_counts_ = namespace(counts[0].counts).stack([one.counts for one in counts])
        self.neighbor_count_error_ = float(namespace(errors[0]).mean(namespace(errors[0]).stack(errors)))


def _check_neighborhoods(neighborhoods: Sequence[float]) -> list[float]:
    sizes = list(neighborhoods)
    for size in sizes:
        if isinstance(size, bool) or not any(one.is_satisfied_by(size) for one in NEIGHBORHOODS):
            raise ValueError(f"neighborhoods must be fractions in (0, 1] or counts >= 1; got {size!r}.")
    if not sizes or len(set(sizes)) < len(sizes):
        raise ValueError(f"neighborhoods must be a non-empty list of different sizes; got {neighborhoods!r}.")
    return sizes
