"""Memberships of training samples and of new samples, and their calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import beside, is_device_array, row_blocks, threads_for, to_numpy
from latefusion.estimators.calibration import Calibration, calibrate, count_kept
from latefusion.types import Array, Views
from latefusion.validation.hints import Hints

# Random divisions into halves, each of which is clustered.
N_DIVISIONS = 3
# Parts of a view that are summed to notice changes.
N_SUMS = 32
# Fitted attributes that describe the input, which clusterings of halves of the samples share.
INPUT_ATTRIBUTES = (
    "input_schema_", "view_names_", "n_views_", "n_features_in_", "n_features_per_view_", "feature_names_in_",
)  # fmt: skip


class TrainingViews:
    """The views and parameters of `fit`, for what is computed when it is first needed.

    Parameters
    ----------
    views : Views
    parameters : dict
        Of the estimator.
    hints : Hints, default=None

    Attributes
    ----------
    views : Views
    parameters : dict
    hints : Hints or None
    calibration : Calibration or None
        Computed from these views, if it has been.
    """

    def __init__(self, views: Views, parameters: dict[str, Any], hints: Hints | None = None) -> None:
        self.views = views
        self.parameters = parameters
        self.hints = hints
        self.calibration: Calibration | None = None
        self._sums = _sums_of_bits(views)

    def are_changed(self) -> bool:
        """Whether values were changed in place, or rows moved."""
        return _sums_of_bits(self.views) != self._sums


class MembershipsMixin:
    """`memberships_`, `predict_proba` and `calibration_` of an estimator with a `consensus_map_`."""

    consensus_: Any
    consensus_map_: Any
    input_schema_: Any
    observed_: Any
    view_inputs_: Any
    view_weights_: Any
    new_views: Any
    get_params: Any
    predict_views: Any
    _cluster: Any
    _check_diagonals: Any

    @property
    def calibration_(self) -> Calibration:
        """How memberships were calibrated: the clusterings of halves of the training samples, and what they show.

        Computed when it is first read, which takes about as long as five fits.
        """
        check_is_fitted(self)
        stored: Calibration | None = vars(self).get("calibration_")
        if stored is not None:
            return stored
        training: TrainingViews | None = vars(self).get("_training_views")
        if training is None:
            raise ValueError(
                f"The memberships of this {type(self).__name__} are not calibrated, and it does not contain the "
                f"training views: it was loaded from a file, or fitted on many samples, on chunked views or on a "
                f"device. Call calibrate_memberships(X) with the training samples, or with some thousand of them. "
                f"Models that are saved after memberships_ was read contain the calibration."
            )
        if training.calibration is None:
            if training.are_changed():
                raise ValueError(
                    "The training views were changed in place after fit, and memberships are not calibrated yet. Call "
                    "calibrate_memberships(X) with the original values."
                )
            training.calibration = self._calibrate(training.views, training.parameters, training.hints)
        return training.calibration

    @property
    def memberships_(self) -> Any:
        """Memberships of the training samples in all clusters, shape (n_samples, n_clusters).

        Rows sum to one, and the largest membership belongs to the label. Of the samples with a membership of about 0.8
        in their cluster, about 80 % keep it when the clustering is repeated on other samples.
        """
        check_is_fitted(self)
        return self._memberships(self.consensus_, self._observed_views())

    def predict_proba(self, X: Any, *, diagonals: Any = None) -> Any:
        """Memberships of new samples in all clusters; of the training samples, `memberships_`.

        Parameters
        ----------
        X : as in `transform`
        diagonals : as in `transform`

        Returns
        -------
        array of shape (n_new, n_clusters)
            Rows sum to one, and the largest membership belongs to the label. Memberships of a sample with missing views
            are closer to equal, by the weights of these views.
        """
        return self.views_memberships(self.new_views(X), diagonals)

    def views_memberships(self, views: Views, diagonals: Any = None) -> Any:
        """Memberships of samples whose views have been checked.

        Parameters
        ----------
        views : Views
            As `new_views` returns them.
        diagonals : as in `transform`

        Returns
        -------
        array of shape (n_new, n_clusters)
        """
        fitted = self.consensus_map_
        return self._memberships(fitted.rows(views, self._check_diagonals(views, diagonals)), fitted.observed(views))

    def calibrate_memberships(self, X: Any) -> Any:
        """Calibrate memberships by some samples, for models that do not contain the training views.

        Parameters
        ----------
        X : as in `fit`
            The training samples, or some of them. Precomputed kernels must be those of all training samples. Hints are
            not used; `memberships_` of a model that was not loaded from a file uses those of `fit`.

        Returns
        -------
        self
        """
        vars(self)["calibration_"] = self._calibrate(self.new_views(X), self.get_params(deep=False))
        return self

    def _observed_views(self) -> NDArray[np.bool_] | None:
        """Which views of the training samples are used; None for all."""
        return None if self.observed_.all() else self.observed_

    def _kernel_views(self) -> NDArray[np.bool_]:
        """Which views are kernels of the samples."""
        return np.array([kind == "precomputed" for kind in self.view_inputs_])

    def _memberships(self, rows: Array, observed: NDArray[np.bool_] | None) -> Any:
        membership = self.calibration_.membership
        scores = to_numpy(self.consensus_map_.rule.scores(rows))
        found = membership(scores, known_shares(to_numpy(self.view_weights_), observed))
        return beside(found, rows) if is_device_array(rows) else found

    def _calibrate(self, views: Views, parameters: Mapping[str, Any], hints: Hints | None = None) -> Calibration:
        kernels = self._kernel_views()
        self._check_square(views, kernels)
        diagonals = [
            np.diagonal(array) if is_kernel else None for array, is_kernel in zip(views.arrays, kernels, strict=True)
        ]
        fitted = self.consensus_map_
        with threads_for(len(views)):
            observed = fitted.observed(views)
            scores = to_numpy(fitted.rule.scores(fitted.rows(views, diagonals)))
            labels = np.argmax(scores, axis=1)
            again = partial(self._cluster_again, parameters, hints)
            kept, compared = count_kept(views, labels, scores.shape[1], again, kernels, N_DIVISIONS)
        if observed is not None:  # all clusters are equally likely for samples without any view
            kept, compared = kept * observed.any(axis=1), compared * observed.any(axis=1)
        return calibrate(scores, kept, compared, known_shares(to_numpy(self.view_weights_), observed), 2 * N_DIVISIONS)

    def _store_samples(self, views: Views) -> None:
        """What a fit stores about samples whose views have been read, besides the input attributes."""
        self.observed_ = views.observed
        self.n_observed_views_ = self.observed_.sum(axis=1, dtype=np.intp)
        self._mask = None if views.mask is None or views.mask.all() else views.mask

    def _check_square(self, views: Views, kernels: NDArray[np.bool_]) -> None:
        for (name, array), is_kernel in zip(views.items(), kernels, strict=True):
            if is_kernel and array.shape[0] != array.shape[1]:
                raise ValueError(
                    f"View {name!r} is a kernel of shape {array.shape}. Calibrating memberships needs that of all "
                    f"training samples, of shape {(array.shape[1], array.shape[1])}."
                )

    def _cluster_again(
        self, parameters: Mapping[str, Any], hints: Hints | None, views: Views, seed: int, rows: NDArray[np.intp]
    ) -> tuple[NDArray[Any], Callable[[Views, list[Any]], NDArray[Any]]]:
        """Labels of some samples by a model with these parameters, and a function that labels others by it."""
        model: Any = type(self)(**parameters)
        model.n_clusters, model.random_state = int(self.consensus_map_.coefficients.shape[1]), seed
        vars(model).update({name: vars(self)[name] for name in INPUT_ATTRIBUTES if name in vars(self)})
        model._store_samples(views)
        own = None if hints is None else hints.take(rows)
        model._cluster(views, *([] if own is None else [own]))

        def label(others: Views, diagonals: list[Any]) -> NDArray[Any]:
            return to_numpy(model.predict_views(others, diagonals, confidence=False, novelty=False)[0])

        return to_numpy(model.labels_), label


def known_shares(weights: NDArray[Any], observed: NDArray[np.bool_] | None) -> NDArray[np.float64] | None:
    """How much is known about every sample: the root of the share of the squared view weights that its views have.

    Parameters
    ----------
    weights : ndarray of shape (n_views,)
    observed : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        From 0 to 1; None if all samples have all views.
    """
    if observed is None:
        return None
    shares: NDArray[np.float64] = np.sqrt(observed @ weights**2 / np.sum(weights**2))
    return shares


def _sums_of_bits(views: Views) -> list[int]:
    """Sums of the bits of parts of the views, to notice whether values were changed or rows moved.

    The bits are summed as integers, which is as fast as memory is read, and does not depend on the order of the sum.
    """
    sums = []
    for array in views.arrays:
        values = array.data if hasattr(array, "tocsr") else array
        bits = values.view(f"i{values.itemsize}")
        parts = row_blocks(len(bits), max(1, len(bits) // N_SUMS))
        sums += [int(bits[part].sum(dtype=bits.dtype)) for part in parts]
    return sums
