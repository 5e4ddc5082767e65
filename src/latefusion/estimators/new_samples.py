"""New samples: their consensus rows, their labels, and how sure these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import to_numpy
from latefusion.estimators.incomplete import weigh_confidence
from latefusion.types import Array, Views

Diagonals = Sequence[Any] | Mapping[str, Any] | None


class NewSamplesMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform` and `predict` of an estimator that has ``_consensus_rows(X, diagonals)`` and a rule for labels."""

    fit: Any
    new_views: Any
    view_weights_: Any
    _consensus_rows: Any
    _rule: Any

    def transform(self, X: Any, *, diagonals: Diagonals = None) -> NDArray[Any]:
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
        rows: NDArray[Any] = self._consensus_rows(X, diagonals)
        return rows

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
        rows: NDArray[Any] = self.fit(X).consensus_
        return rows

    def predict(self, X: Any, *, diagonals: Diagonals = None) -> NDArray[np.intp]:
        """Labels of new samples; of the training samples, `labels_`.

        Parameters
        ----------
        X : as in `transform`
        diagonals : as in `transform`

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        labels: NDArray[np.intp] = self._rule.predict(self._consensus_rows(X, diagonals))
        return labels

    def predict_with_confidence(self, X: Any, *, diagonals: Diagonals = None) -> tuple[Array, NDArray[Any]]:
        """Labels of new samples, and how sure each is, as `confidence_` is for the training samples.

        Parameters
        ----------
        X : as in `transform`
        diagonals : as in `transform`

        Returns
        -------
        labels : ndarray of shape (n_new,)
        confidence : ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        rows, mask = self._consensus_rows(X, diagonals), self._heard(self.new_views(X))
        sure = to_numpy(self._rule.confidence(rows))
        return self._rule.predict(rows), weigh_confidence(sure, to_numpy(self.view_weights_), mask)

    def _heard(self, views: Views) -> NDArray[np.bool_] | None:
        """Which views of new samples take part; None for all."""
        return views.mask
