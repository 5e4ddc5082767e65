"""Standardisation of samples: every row of a view to mean zero and unit deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Deviations below this share of the largest feature count as zero.
ROUNDING = 1e-14
TINY = np.finfo(np.float64).tiny


def standardize_rows(view: NDArray[Any]) -> NDArray[Any]:
    """Give every sample mean zero and unit deviation over its features; one with equal features becomes zero.

    A view with one or two features stays as it is: only signs would be left of it.
    """
    if view.shape[1] < 3:
        return view
    centered = view - view.mean(axis=1, keepdims=True)
    deviations = np.sqrt((centered**2).sum(axis=1, keepdims=True) / (view.shape[1] - 1))
    # Equal features minus their mean may leave a rounding error, which is no deviation.
    rounding = ROUNDING * np.abs(view).max(axis=1, keepdims=True)
    scaled: NDArray[Any] = np.where(deviations > rounding, centered / np.maximum(deviations, TINY), 0.0)
    return scaled
