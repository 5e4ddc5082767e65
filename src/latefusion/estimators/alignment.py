"""What global and local alignment share: from views to partitions, consensus, labels, and back for new samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import item_bytes, lies_elsewhere, namespace, place_of, require_memory, threads_for, to_numpy
from latefusion.assignment import ASSIGNMENTS
from latefusion.base import KERNEL_CONSTRAINTS, MultiViewClusterMixin, logger, warn_not_converged
from latefusion.estimators.alignment_map import alignment_coefficients, alignment_map
from latefusion.estimators.contributions import cluster_directions, contributions, share_contributions
from latefusion.estimators.incomplete import observed_agreement, weigh_confidence
from latefusion.estimators.new_samples import NewSamplesMixin
from latefusion.estimators.novelty import Novelty, fit_novelty
from latefusion.estimators.path import PathPoint, RegularizationPath
from latefusion.metrics import (
    ObjectiveGap,
    cluster_means,
    empirical_error,
    generalization_bound,
    objective_gap,
)
from latefusion.partitions import (
    BasePartitions,
    GivenPartition,
    PrecomputedPartition,
    describe_partition,
    fit_base_partitions,
)
from latefusion.partitions.given import GivenMap
from latefusion.partitions.joint_partitions import JointPartitions, fit_joint_partitions
from latefusion.partitions.partial_partitions import fit_partial_partitions, fit_rows_model
from latefusion.progress import progress_range, report_progress
from latefusion.solvers import compress_partitions, mix_partitions, solve_alignment
from latefusion.types import SolverResult, Views


class AlignmentClustering(NewSamplesMixin, MultiViewClusterMixin, BaseEstimator):
    """Late fusion by alignment; a subclass says how the rows of the base partitions are weighed."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "regularization": [Interval(Real, 0, None, closed="left")],
        "reference": [StrOptions({"mean", "kernel", "graph"}), HasMethods("similarity")],
        "missing": [StrOptions({"align", "impute"})],
        "init": [StrOptions({"align", "identity"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "assign_labels": [StrOptions(set(ASSIGNMENTS))],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _accepts_devices: ClassVar[bool] = True
    _accepts_labels: ClassVar[bool] = True

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
        views = self._fit_views(X)
        report_progress("base partitions", 0.0)
        with threads_for(len(views)):
            with progress_range(0.0, 0.8):
                self._base = self._fit_partitions(views)
            partitions, average = self._aligned_partitions(self._base)
            report_progress("alignment", 0.8)
            result = self._solve(*self._compress(partitions, average), self.regularization)
            self._store_alignment(result, mix_partitions(partitions, average, result.mixing))
            report_progress("labels", 0.9)
            self._store_labels(result.mixing)
            self.consensus_map_ = replace(self.consensus_map_, novelty=self._novelty(views))
        if not result.converged:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def regularization_path(self, X: Any, regularizations: Sequence[float]) -> RegularizationPath:
        """Solutions for many values of λ from one set of base partitions.

        Parameters
        ----------
        X : as in `fit`
        regularizations : sequence of float
            Values of λ, none negative.

        Returns
        -------
        RegularizationPath
            One point per λ with consensus, weights, objective and labels. The estimator itself is not fitted by this.
        """
        values = check_regularizations(regularizations)
        shell = type(self)(**self.get_params(deep=False))
        views = shell._fit_views(X)
        with threads_for(len(views)):
            return shell._path(shell._fit_partitions(views), values)

    def empirical_error(self, X: Any = None, *, diagonals: Any = None) -> float:
        """The paper's empirical error 1 - mean_i max_v ⟨h(x_i), c_v⟩.

        h(x) is the sum of a sample's weighted, rotated partition rows and λ times its row in M; c_v is the mean of h
        over the training samples of cluster v.

        Parameters
        ----------
        X : as in `transform`, default=None
            New samples to evaluate; the training samples when None.
        diagonals : as in `transform`

        Returns
        -------
        float
        """
        check_is_fitted(self)
        training = to_numpy(mix_partitions(*self._aligned_partitions(self._base), self._fused_mixing()))
        if X is None:
            return empirical_error(training, to_numpy(self.labels_))
        coefficients = alignment_coefficients(self._base, self._fused_mixing())
        fused = replace(self.consensus_map_, coefficients=coefficients)
        rows = fused.rows(*self._new_samples(X, diagonals))
        return empirical_error(to_numpy(rows), centers=cluster_means(training, to_numpy(self.labels_)))

    def generalization_bound(self, delta: float = 0.05) -> float:
        """With probability 1 - delta the expected error exceeds the empirical one by at most this much.

        Parameters
        ----------
        delta : float, default=0.05

        Returns
        -------
        float
            sqrt(π/2) k / sqrt(n) + 8 m sqrt(log(1/delta) / (2n)).
        """
        check_is_fitted(self)
        return generalization_bound(len(self.labels_), self.n_views_, self.n_clusters, delta=delta)

    def objective_gap(self) -> ObjectiveGap:
        """The three objectives of the paper's appendix, ① ≤ ② ≤ ③, at the fitted solution.

        Returns
        -------
        ObjectiveGap
        """
        check_is_fitted(self)
        partitions, _ = self._aligned_partitions(self._base)
        partitions = [to_numpy(partition) for partition in partitions]
        return objective_gap(partitions, self.rotations_, self.view_weights_, to_numpy(self.consensus_))

    def sample_view_weights(self) -> NDArray[np.float64]:
        """How much every view has to do with the cluster of every sample.

        Returns
        -------
        ndarray of shape (n_samples, n_views)
            Rows sum to one; zero where a sample lacks a view, or where the view speaks against its cluster.
        """
        check_is_fitted(self)
        partitions = [to_numpy(partition) for partition in self._aligned_partitions(self._base)[0]]
        directions = cluster_directions(to_numpy(self.consensus_), to_numpy(self.labels_))
        terms = contributions(partitions, self.rotations_, self.view_weights_, directions)
        return share_contributions(terms, self.observed_)

    @abstractmethod
    def _fit_partitions(self, views: Views) -> BasePartitions:
        """Base partitions of the training samples."""

    @abstractmethod
    def _aligned_partitions(self, base: BasePartitions) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        """The partitions that enter the alignment."""

    def _path(self, base: BasePartitions, regularizations: Sequence[float]) -> RegularizationPath:
        partitions, average = self._aligned_partitions(base)
        small = self._compress(partitions, average)
        return RegularizationPath(
            [
                PathPoint(value, self._solve(*small, value), partitions, average, self._labels)
                for value in regularizations
            ]
        )

    def _check_devices(self, views: Views, kinds: list[str]) -> None:
        super()._check_devices(views, kinds)
        if self.assign_labels != "kmeans" and lies_elsewhere(views.arrays[0]):
            raise ValueError(
                f"View {views.names[0]!r} lies in {place_of(views.arrays[0])}, but "
                f"assign_labels={self.assign_labels!r} needs NumPy arrays: use 'kmeans', which runs where the data "
                f"lie, or move the views to NumPy first."
            )

    def _accepts_missing_views(self) -> bool:
        return True

    def _base_partitions(self, views: Views, n_neighbors: Any, count_samples: int | None = None) -> BasePartitions:
        self._require_partitions(views, copies=1 if n_neighbors is None else 2)
        if self.reference != "mean":
            return self._joint_partitions(views, n_neighbors, count_samples)
        if self._mask is not None:
            return fit_partial_partitions(
                views.arrays,
                self._mask,
                self._similarities(views),
                self.n_clusters,
                missing=self.missing,
                n_neighbors=n_neighbors,
                count_samples=count_samples,
                n_jobs=self.n_jobs,
            )
        return fit_base_partitions(
            views.arrays,
            self._similarities(views),
            self.n_clusters,
            n_neighbors=n_neighbors,
            count_samples=count_samples,
            n_jobs=self.n_jobs,
        )

    def _joint_partitions(self, views: Views, n_neighbors: Any, count_samples: int | None) -> JointPartitions:
        similarities = self._similarities(views)
        self._check_columns(views, similarities)
        require_memory(
            sum(len(array.data) if issparse(array) else array.size for array in views.arrays)
            * item_bytes(views.arrays[0]),
            f"reference={self.reference!r}, with {len(views)} x {sum(views.widths)} numbers of all views side by side,",
            "Use reference='mean', which copies nothing.",
        )
        return fit_joint_partitions(
            views.arrays,
            similarities,
            self._similarity(self.reference),
            self.n_clusters,
            n_neighbors=n_neighbors,
            count_samples=count_samples,
            n_jobs=self.n_jobs,
        )

    def _check_columns(self, views: Views, similarities: Sequence[Any]) -> None:
        """Views can be put side by side only where they have columns, and samples have all of them."""
        for (name, array), similarity, seen in zip(views.items(), similarities, views.observed.T, strict=True):
            reasons = {
                f"lies in {place_of(array)}": lies_elsewhere(array),
                "is a kernel and has no columns": isinstance(similarity, PrecomputedPartition),
                "is a partition that is given": isinstance(similarity, GivenPartition),
                f"is missing for {np.sum(~seen)} of {len(seen)} samples": not seen.all(),
            }
            reason = next((text for text, holds in reasons.items() if holds), None)
            if reason is not None:
                raise ValueError(
                    f"reference={self.reference!r} puts the columns of all views side by side, in NumPy, but view "
                    f"{name!r} {reason}. Use reference='mean'."
                )

    def _require_partitions(self, views: Views, copies: int) -> None:
        """All partitions exist at once, twice where their rows are weighed, and the consensus beside them."""
        array = views.arrays[0]
        n_columns = (copies * (views.n_views + 1) + 1) * self.n_clusters
        require_memory(
            len(views) * n_columns * item_bytes(array),
            f"Clustering {len(views)} samples in {views.n_views} views, with partitions of {len(views)} x {n_columns} "
            f"numbers in all,",
            "Use float32 views, fewer clusters, or fewer samples and `predict` for the others.",
            like=array if lies_elsewhere(array) else None,
        )

    @staticmethod
    def _compress(partitions: list[NDArray[Any]], average: NDArray[Any]) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        blocks, small = compress_partitions(partitions, average, xp=namespace(average))
        return [to_numpy(block) for block in blocks], to_numpy(small)

    def _solve(self, partitions: list[NDArray[Any]], average: NDArray[Any], regularization: float) -> SolverResult:
        return solve_alignment(
            partitions,
            average,
            regularization=regularization,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._log if self.verbose else None,
            xp=namespace(average),
        )

    def _log(self, state: Any) -> None:
        logger.info("%s: objective %.8g, weights %s", type(self).__name__, state.objective, np.round(state.weights, 4))

    def _store_alignment(self, result: SolverResult, consensus: NDArray[Any]) -> None:
        self.consensus_ = consensus
        self.view_weights_ = result.weights
        self.rotations_ = result.rotations
        self.objective_ = np.asarray(result.objective)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.partitions_ = self._base.partitions
        described = (describe_partition(extension) for extension in self._base.extensions)
        self.partition_info_ = dict(zip(self.view_names_, described, strict=True))
        self.agreement_ = np.array(
            [
                observed_agreement(partition, consensus, self._mask, view)
                for view, partition in enumerate(self.partitions_)
            ]
        )
        self._n_features_out = self.n_clusters

    def _store_labels(self, mixing: NDArray[Any]) -> None:
        self.labels_, rule = self._assign(self.consensus_)
        self.confidence_ = weigh_confidence(rule.confidence(self.consensus_), self.view_weights_, self._mask)
        imputes = self.missing == "impute" and self.n_views_ > 1 and isinstance(self._base.average, np.ndarray)
        model = fit_rows_model(self._base.partitions) if imputes and self._mask is None else None
        self.consensus_map_ = alignment_map(self._base, mixing, rule, self._n_samples, model)

    def _novelty(self, views: Views) -> Novelty:
        maps = [getattr(extension, "feature_map", None) for extension in self._base.extensions]
        encodings = [
            "kernel" if kind == "precomputed" else one if isinstance(one, GivenMap) else None
            for kind, one in zip(self.view_inputs_, maps, strict=True)
        ]
        return fit_novelty(views, encodings, self._mask)

    def _assign(self, consensus: NDArray[Any]) -> Any:
        assign = ASSIGNMENTS[self.assign_labels]
        state = check_random_state(self.random_state)
        return assign(consensus, self.n_clusters, n_init=self.n_init, random_state=state)

    def _labels(self, consensus: NDArray[Any]) -> NDArray[np.intp]:
        return self._assign(consensus)[0]

    def _fused_mixing(self) -> NDArray[Any]:
        """The matrices of h(x) = Σ_p β_p h_p W_p + λ m, before it is made orthonormal."""
        blocks = self.view_weights_[:, None, None] * self.rotations_
        return np.concatenate([blocks, self.regularization * np.eye(self.n_clusters)[None]])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_regularizations(regularizations: Sequence[float]) -> list[float]:
    """Values of λ as a list, none of them negative."""
    values = np.asarray(regularizations, dtype=float)
    if values.ndim != 1 or len(values) == 0 or not np.all(np.isfinite(values)) or values.min() < 0:
        raise ValueError(f"regularizations must be a non-empty list of numbers >= 0, got {regularizations!r}.")
    return [float(value) for value in values]
