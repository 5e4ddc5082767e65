"""New samples: their consensus rows, labels, confidence, memberships and novelty."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import beside, is_device_array, threads_for, to_numpy
from latefusion.base import with_sample_ids
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.memberships import MembershipsMixin, TrainingViews, known_shares
from latefusion.estimators.novelty import fit_novelty
from latefusion.estimators.updates import UpdateMixin
from latefusion.types import Array, SolverResult, Views
from latefusion.validation import check_diagonals
from latefusion.validation.hints import Hints

# Beyond this many samples, a model does not keep its training views to compute their novelty.
LARGEST_TRAINING = 100_000

Diagonals = Sequence[Any] | Mapping[str, Any] | None


class NewSamplesMixin(UpdateMixin, MembershipsMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform`, `predict` and `predict_proba` of an estimator with a `consensus_map_`."""

    _accepts_labels: ClassVar[bool] = True
    accepts_missing_views: ClassVar[bool] = True

    fit: Any
    get_params: Any
    new_views: Any
    view_names_: Any
    view_weights_: Any
    consensus_: Any
    consensus_map_: Any

    @cached_property
    def novelty_(self) -> NDArray[np.float64] | None:
        """Novelty of the training samples, computed when it is first read.

        None for more than 100 000 samples, for arrays on a device, and if the training views were changed after `fit`;
        then ``predict(X, return_novelty=True)`` computes it.
        """
        check_is_fitted(self)
        if self._training_views is None:
            return None
        views = self._training_views.views
        if self._training_views.are_changed():
            warnings.warn(
                "The training views were changed in place after fit, so novelty_ is None. Call "
                "predict(X, return_novelty=True) with the original values.",
                stacklevel=3,
            )
            return None
        with threads_for(len(views)):
            found: NDArray[np.float64] = self.consensus_map_.novelty(views, self._present(views))
        return found

    def __getstate__(self) -> dict[str, Any]:
        """The state with novelty, which is computed before, and without training views that nothing needs any more.

        Copies contain the training views until memberships are calibrated, since that takes longer than a fit.
        """
        if "_training_views" not in vars(self):
            return dict(super().__getstate__())
        self.novelty_  # noqa: B018
        state, training = dict(super().__getstate__()), self._training_views
        if training is None or training.calibration is not None:
            del state["_training_views"]
        if training is not None and training.calibration is not None:
            state["calibration_"] = training.calibration
        return state

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`, which scikit-learn names them by."""
        return int(self.consensus_map_.coefficients.shape[1])

    def transform(self, X: Any, *, diagonals: Diagonals = None) -> NDArray[Any]:
        """Consensus rows of new samples; of the training samples, `consensus_`.

        Parameters
        ----------
        X : as in `fit`
            With precomputed kernels, one array of shape (n_new, n_training) per view.
        diagonals : sequence or mapping of arrays of shape (n_new,), default=None
            For precomputed kernels: self-similarities k(x, x) of the new samples. May be left out (or None for a view)
            if the diagonal of the training kernel is constant.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
        """
        views = self.new_views(X)
        rows = self.consensus_map_.rows(views, self._check_diagonals(views, diagonals))
        found: NDArray[Any] = with_sample_ids(self, rows, X, views.sample_ids)
        return found

    def fit_predict(self, X: Any, y: Any = None, **hints: Any) -> Any:
        """Cluster the samples and return their labels.

        Parameters
        ----------
        X, y : as in `fit`
        **hints : keyword arguments
            Of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.fit(X, y, **hints).labels_

    def fit_transform(self, X: Any, y: Any = None, **hints: Any) -> NDArray[Any]:
        """Cluster the samples and return their consensus rows.

        Parameters
        ----------
        X, y : as in `fit`
        **hints : keyword arguments
            Of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        self.fit(X, y, **hints)
        rows: NDArray[Any] = with_sample_ids(self, self.consensus_, X, getattr(self, "sample_ids_", None))
        return rows

    def predict(
        self,
        X: Any,
        *,
        diagonals: Diagonals = None,
        return_confidence: bool = False,
        return_novelty: bool = False,
    ) -> Any:
        """Labels of new samples; of the training samples, `labels_`.

        Parameters
        ----------
        X : as in `transform`
        diagonals : as in `transform`
        return_confidence : bool, default=False
            Whether to return how clearly every sample belongs to its cluster, as `confidence_` does for the training
            samples.
        return_novelty : bool, default=False
            Whether to return how far every sample is from all training samples. A novelty above 1 means farther than 99
            % of the training samples are from each other; the label of such a sample is an extrapolation.

        Returns
        -------
        labels : ndarray of shape (n_new,)
        confidence : ndarray of shape (n_new,)
            Only with ``return_confidence=True``.
        novelty : ndarray of shape (n_new,)
            Only with ``return_novelty=True``.
        """
        found = self.predict_views(self.new_views(X), diagonals, confidence=return_confidence, novelty=return_novelty)
        return found if return_confidence or return_novelty else found[0]

    def predict_views(
        self, views: Views, diagonals: Diagonals = None, *, confidence: bool = True, novelty: bool = True
    ) -> tuple[Any, ...]:
        """Labels, confidence and novelty of samples whose views have been checked.

        Parameters
        ----------
        views : Views
            As `new_views` returns them.
        diagonals : as in `transform`
        confidence, novelty : bool, default=True
            Whether to compute these.

        Returns
        -------
        tuple of arrays of shape (n_new,)
            Labels, then confidence and novelty if they are computed.
        """
        fitted = self.consensus_map_
        rows = fitted.rows(views, self._check_diagonals(views, diagonals))
        found = [fitted.rule.predict(rows)]
        if confidence:
            weights = to_numpy(self.view_weights_)
            found.append(weigh_confidence(fitted.rule.confidence(rows), weights, fitted.observed(views)))
        if novelty:
            found.append(fitted.novelty(views, self._present(views)))
        return tuple(found)

    def _present(self, views: Views) -> NDArray[np.bool_] | None:
        """Which views of the samples novelty compares; None for all."""
        observed: NDArray[np.bool_] | None = self.consensus_map_.observed(views)
        return observed

    def _store_solution(self, result: SolverResult) -> None:
        """Fitted attributes of the iterations."""
        self.objective_ = np.asarray(result.objective)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged

    def _store_map(
        self,
        fitted: ConsensusMap,
        views: Views,
        encodings: Sequence[Any],
        observed: NDArray[np.bool_] | None,
        hints: Hints | None = None,
    ) -> None:
        """Store the fitted model with the novelty that the training samples define."""
        self.consensus_map_ = replace(fitted, novelty=fit_novelty(views, encodings, observed))
        for name in ("novelty_", "calibration_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        is_large = len(views) > LARGEST_TRAINING or any(is_device_array(view) for view in views.arrays)
        self._training_views = None if is_large else TrainingViews(views, self.get_params(deep=False), hints)

    def _of_training(self, name: str) -> Any:
        """A private attribute with data of the training samples, which diagnostics need."""
        check_is_fitted(self)
        if not hasattr(self, name):
            raise ValueError(
                f"This {type(self).__name__} was loaded from a file or fitted on chunked views, and does not contain "
                f"the data of the training samples. Fit it again in memory, on a sample of the rows if necessary, to "
                f"compute this."
            )
        return getattr(self, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_diagonals(self, views: Views, diagonals: Diagonals) -> list[Any]:
        """Self-similarities of new samples, which some kernels need."""
        checked = check_diagonals(diagonals, list(self.view_names_), len(views))
        present = np.any(views.observed, axis=0)
        for view, name in enumerate(views.names):
            if present[view] and checked[view] is None and self.consensus_map_.needs_diagonal(view):
                raise ValueError(
                    f"The diagonal of the training kernel of view {name!r} is not constant, so the self-similarities "
                    f"k(x, x) of new samples are required. Pass them as diagonals={{{name!r}: ...}}."
                )
        return checked


def weigh_confidence(confidence: Array, weights: NDArray[Any], mask: NDArray[np.bool_] | None) -> Array:
    """Confidence times the root of the share of the squared view weights that a sample's views have.

    The distances of a sample to the clusters do not measure how much is known about the sample.

    Parameters
    ----------
    confidence : array of shape (n_samples,)
    weights : ndarray of shape (n_views,)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.

    Returns
    -------
    array of shape (n_samples,)
    """
    shares = known_shares(weights, mask)
    return confidence if shares is None else confidence * beside(shares, confidence)
