"""Calibration: whether of the samples with a predicted probability p about a share p has what was predicted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

N_BINS = 10


class CalibrationCurve(NamedTuple):
    """Predicted and observed shares in bins of equal width; empty bins are left out.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean prediction.
    observed : ndarray of shape (n_bins,)
        Observed share.
    counts : ndarray of shape (n_bins,)
        Number of comparisons.
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Expected calibration error: the mean of ``|observed - predicted|`` over comparisons; 0 without any."""
        return float(np.sum(self.counts * np.abs(self.observed - self.predicted)) / max(1, self.counts.sum()))


def calibration_curve(predicted: Any, observed: Any, compared: Any = None, *, n_bins: int = N_BINS) -> CalibrationCurve:
    """Compare predicted probabilities with observed shares.

    Parameters
    ----------
    predicted : array of shape (n_samples,)
        From 0 to 1.
    observed : array of shape (n_samples,)
        How often the predicted event occurred.
    compared : array of shape (n_samples,), default=None
        How often it could occur; once by default.
    n_bins : int, default=10
        Number of bins of equal width.

    Returns
    -------
    CalibrationCurve

    Examples
    --------
    >>> from latefusion.metrics import calibration_curve
    >>> curve = calibration_curve([0.25, 0.25, 0.75, 0.75], [0, 1, 1, 1])
    >>> curve.observed, curve.error
    (array([0.5, 1. ]), 0.25)
    """
    predicted, observed = np.asarray(predicted, dtype=np.float64), np.asarray(observed, dtype=np.float64)
    compared = np.ones(len(predicted), dtype=np.int64) if compared is None else np.asarray(compared, dtype=np.int64)
    bins = np.minimum((predicted * n_bins).astype(np.intp), n_bins - 1)
    counts = np.bincount(bins, weights=compared, minlength=n_bins)
    filled = counts > 0
    totals = counts[filled]
    means = np.bincount(bins, weights=compared * predicted, minlength=n_bins)[filled] / totals
    shares = np.bincount(bins, weights=observed, minlength=n_bins)[filled] / totals
    return CalibrationCurve(means, shares, totals.astype(np.int64))
