"""Base class of global and local alignment: from views to partitions, consensus and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import device_name, is_device_array, item_bytes, namespace, require_memory, threads_for, to_numpy
from latefusion.assignment import ASSIGNMENTS
from latefusion.base import FUSION_CONSTRAINTS, MultiViewClusterMixin, logger, store_if_any, warn_not_converged
from latefusion.encoding.coordinates import Unchanged
from latefusion.estimators.added_views import AddViewMixin
from latefusion.estimators.alignment_map import aligned_partitions, alignment_coefficients, alignment_map, fused_mixing
from latefusion.estimators.contributions import cluster_directions, contributions, share_contributions
from latefusion.estimators.new_samples import NewSamplesMixin, weigh_confidence
from latefusion.estimators.path import PathPoint, RegularizationPath
from latefusion.metrics import (
    ObjectiveGap,
    cluster_means,
    empirical_error,
    generalization_bound,
    objective_gap,
    observed_agreement,
)
from latefusion.partitions import Partitions, fit_base_partitions
from latefusion.progress import progress_range, report_progress
from latefusion.selection.hints import follow_hints
from latefusion.similarities import GivenPartition, PrecomputedSimilarity, describe_partition
from latefusion.similarities.given import GivenMap
from latefusion.solvers import compress_partitions, mix_partitions, solve_alignment
from latefusion.types import Array, SolverResult, Views
from latefusion.validation.hints import Hints


class AlignmentClustering(AddViewMixin, NewSamplesMixin, MultiViewClusterMixin, BaseEstimator):
    """Late fusion by alignment; subclasses define the weights of the rows of base partitions."""

    _kept = "_partitions"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FUSION_CONSTRAINTS,
        "reference": [StrOptions({"mean", "kernel", "graph"}), HasMethods("similarity")],
    }

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
        views = self._fit_views(X)
        self._cluster(views, self._read_hints(y, must_link, cannot_link, views, self.n_clusters))
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def _cluster(self, views: Views, hints: Hints | None = None, *, before: Partitions | None = None) -> None:
        """Cluster samples whose views have been read; the partitions of the first views may be known."""
        report_progress("base partitions", 0.0)
        with threads_for(len(views)):
            with progress_range(0.0, 0.8):
                self._partitions = self._fit_partitions(views, before, **self._neighborhoods(len(views)))
            report_progress("alignment", 0.8)
            aligned = aligned_partitions(self._partitions)
            result = self._solve(*_compressed(*aligned), self.regularization)
            self.consensus_ = mix_partitions(*aligned, result.mixing)
            self._store_result(self._partitions, result)
            report_progress("labels", 0.9)
            self.labels_, rule = self._assign(self.consensus_)
            mixing, rule = self._follow(hints, aligned, result.mixing, rule)
            self._store_partitions(self._partitions)
            self.confidence_ = weigh_confidence(rule.confidence(self.consensus_), self.view_weights_, self._mask)
            encodings = _novelty_encodings(self._partitions, self.view_inputs_)
            self._store_map(alignment_map(self._partitions, mixing, rule), views, encodings, self._mask, hints)

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
            return shell._path(shell._fit_partitions(views, **shell._neighborhoods(len(views))), values)

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
        partitions: Partitions = self._of_training("_partitions")
        mixing = fused_mixing(self._fused_weights(), self.rotations_, self.regularization)
        training = to_numpy(mix_partitions(*aligned_partitions(partitions), mixing))
        if X is None:
            return empirical_error(training, to_numpy(self.labels_))
        fused = replace(self.consensus_map_, coefficients=alignment_coefficients(partitions, mixing))
        views = self.new_views(X)
        rows = fused.rows(views, self._check_diagonals(views, diagonals))
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
        partitions = [to_numpy(one) for one in aligned_partitions(self._of_training("_partitions"))[0]]
        return objective_gap(partitions, self.rotations_, self._fused_weights(), to_numpy(self.consensus_))

    def sample_view_weights(self) -> NDArray[np.float64]:
        """The contribution of every view to the cluster of every sample.

        Returns
        -------
        ndarray of shape (n_samples, n_views)
            Rows sum to one; zero if the view is missing for the sample, or if the view contradicts its cluster.
        """
        partitions = [to_numpy(one) for one in aligned_partitions(self._of_training("_partitions"))[0]]
        directions = cluster_directions(to_numpy(self.consensus_), to_numpy(self.labels_))
        terms = contributions(partitions, self.rotations_, self._fused_weights(), directions)
        return share_contributions(terms, self.observed_)

    def _follow(self, hints: Hints | None, aligned: Any, mixing: Any, rule: Any) -> tuple[Any, Any]:
        """The mixing matrices and the rule that follow the hints; the given ones if they are not followed."""
        store_if_any(self, hints_=None)
        if hints is None:
            return mixing, rule
        columns = np.hstack([*aligned[0], aligned[1]])
        guided, self.hints_ = follow_hints(
            hints, columns, np.ones(columns.shape[1]), np.concatenate([*mixing]), self.labels_
        )
        if guided is None:
            return mixing, rule
        mixing = guided.coefficients.reshape(np.shape(mixing))
        self.consensus_ = mix_partitions(aligned[0], aligned[1], mixing)
        self.labels_ = np.asarray(guided.rule.predict(self.consensus_))
        return mixing, guided.rule

    def _fused_weights(self) -> NDArray[np.float64]:
        """Weights of the base partitions in the consensus: √c_p β_p."""
        return np.sqrt(self._prior_weights()) * to_numpy(self.view_weights_)

    def _neighborhoods(self, n_samples: int) -> dict[str, Any]:
        """Options of `fit_base_partitions` for neighbor counts; none for global alignment."""
        return {}

    def _path(self, partitions: Partitions, regularizations: Sequence[float]) -> RegularizationPath:
        aligned = aligned_partitions(partitions)
        small = _compressed(*aligned)
        points = []
        for value in regularizations:
            result = self._solve(*small, value)
            solution = np.asarray(result.weights), np.asarray(result.objective), result.n_iter, result.converged
            mix = partial(mix_partitions, *aligned, result.mixing)
            points.append(PathPoint(value, *solution, mix, lambda rows: self._assign(rows)[0]))
        return RegularizationPath(points)

    def _numpy_only(self) -> str:
        if self.assign_labels == "kmeans":
            return ""
        return f"assign_labels={self.assign_labels!r} requires NumPy arrays. Use 'kmeans', which runs on the device."

    def _fit_partitions(self, views: Views, before: Partitions | None = None, **neighborhoods: Any) -> Partitions:
        array = views.arrays[0]
        # Those of all views and M, twice if their rows are weighted, and the consensus.
        n_columns = ((2 if neighborhoods else 1) * (views.n_views + 1) + 1) * self.n_clusters
        require_memory(
            len(views) * n_columns * item_bytes(array),
            f"Clustering {len(views)} samples in {views.n_views} views, with partitions of {len(views)} x {n_columns} "
            f"numbers in all,",
            "Use float32 views, fewer clusters, or fewer samples and `predict` for the others.",
            like=array if is_device_array(array) else None,
        )
        similarities, reference = self._similarities(views), None
        if self.reference != "mean":
            _check_side_by_side(views, similarities, self.reference)
            reference = self._similarity(self.reference)
        return fit_base_partitions(
            views.arrays,
            similarities,
            self.n_clusters,
            mask=self._mask,
            missing=self.missing,
            reference=reference,
            known=before,
            n_jobs=self.n_jobs,
            **neighborhoods,
        )

    def _solve(self, partitions: Sequence[Array], average: Array, regularization: float) -> SolverResult:
        factors = np.sqrt(self._prior_weights())
        if self.view_weights is not None:
            partitions = [factor * partition for factor, partition in zip(factors, partitions, strict=True)]
        result = solve_alignment(
            partitions,
            average,
            regularization=regularization,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._log if self.verbose else None,
            xp=namespace(average),
        )
        if self.view_weights is None:
            return result
        return result._replace(mixing=result.mixing * np.append(factors, 1.0)[:, None, None])

    def _log(self, state: Any) -> None:
        logger.info("%s: objective %.8g, weights %s", type(self).__name__, state.objective, np.round(state.weights, 4))

    def _store_result(self, partitions: Partitions, result: SolverResult) -> None:
        """Fitted attributes that do not grow with the number of samples."""
        self._store_solution(result)
        self.view_weights_ = result.weights
        self.rotations_ = result.rotations
        described = (describe_partition(block.extension) for block in partitions.blocks)
        self.partition_info_ = dict(zip(self.view_names_, described, strict=True))

    def _store_partitions(self, partitions: Partitions) -> None:
        """Fitted attributes of the base partitions in memory."""
        self.partitions_ = list(partitions.vectors)
        agreement = [observed_agreement(one, self.consensus_, self._mask, p) for p, one in enumerate(self.partitions_)]
        self.agreement_ = np.array(agreement)

    def _assign(self, consensus: Array) -> Any:
        assign = ASSIGNMENTS[self.assign_labels]
        return assign(consensus, self.n_clusters, n_init=self.n_init, random_state=self.random_state)


def _compressed(partitions: Sequence[Array], average: Array) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Small NumPy matrices with the same inner products, which are sufficient for the solver."""
    blocks, small = compress_partitions(partitions, average, xp=namespace(average))
    return [to_numpy(block) for block in blocks], to_numpy(small)


def _novelty_encodings(partitions: Partitions, inputs: Sequence[str]) -> list[Any]:
    """Encodings for `fit_novelty`: kernels, tables and given partitions unchanged, others scaled by their values."""
    maps = [getattr(block.extension, "feature_map", None) for block in partitions.blocks]
    by_input = {"precomputed": "kernel", "table": Unchanged()}
    return [
        by_input.get(kind, one if isinstance(one, GivenMap) else None) for kind, one in zip(inputs, maps, strict=True)
    ]


def _check_side_by_side(views: Views, similarities: Sequence[Any], reference: Any) -> None:
    """Raise an error if views cannot be put side by side: without columns, with missing views, or too large."""
    for (name, array), similarity, seen in zip(views.items(), similarities, views.observed.T, strict=True):
        reasons = {
            f"is stored in {device_name(array)}": is_device_array(array),
            "is a precomputed kernel": isinstance(similarity, PrecomputedSimilarity),
            "is a given partition": isinstance(similarity, GivenPartition),
            f"is missing for {np.sum(~seen)} of {len(seen)} samples": not seen.all(),
        }
        reason = next((text for text, holds in reasons.items() if holds), None)
        if reason is not None:
            raise ValueError(
                f"reference={reference!r} puts the columns of all views side by side, in NumPy, but view "
                f"{name!r} {reason}. Use reference='mean'."
            )
    require_memory(
        sum(len(array.data) if issparse(array) else array.size for array in views.arrays) * item_bytes(views.arrays[0]),
        f"reference={reference!r}, with {len(views)} x {sum(views.widths)} numbers of all views side by side,",
        "Use reference='mean', which copies nothing.",
    )


def check_regularizations(regularizations: Sequence[float]) -> list[float]:
    """Values of λ as a list, none of them negative."""
    values = np.asarray(regularizations, dtype=float)
    if values.ndim != 1 or len(values) == 0 or not np.all(np.isfinite(values)) or values.min() < 0:
        raise ValueError(f"regularizations must be a non-empty list of numbers >= 0; got {regularizations!r}.")
    return [float(value) for value in values]
