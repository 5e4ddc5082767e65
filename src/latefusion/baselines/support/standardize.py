"""Standardisation of samples: every row of a view to mean zero and unit deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def standardize_rows(view: NDArray[Any]) -> NDArray[Any]:
    """Give every sample mean zero and unit deviation over its features; one with equal features becomes zero.

    A view with one or two features stays as it is: only signs would be left of it.
    """
    if view.shape[1] < 3:
        return view
    centered = view - view.mean(axis=1, keepdims=True)
    deviations = np.sqrt((centered**2).sum(axis=1, keepdims=True) / (view.shape[1] - 1))
    scaled: NDArray[Any] = centered / np.where(deviations > 0, deviations, 1.0)
    return scaled
