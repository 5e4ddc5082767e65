"""Single missing values of a view: an imputation that is fitted once and applied to every row on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class GapFilling:
    """Values for missing cells: the means of their columns."""

    means: NDArray[Any]

    def __call__(self, view: NDArray[Any]) -> NDArray[Any]:
        """The view without NaN."""
        if hasattr(view, "indices"):
            filled = view.copy()
            filled.data = np.where(np.isnan(view.data), self.means[view.indices], view.data)
            return filled
        return np.where(np.isnan(view), self.means, view)


def fit_gap_filling(view: NDArray[Any]) -> GapFilling:
    """Fit the filling."""
    view = view.toarray() if hasattr(view, "toarray") else view
    known = ~np.isnan(view)
    return GapFilling((np.where(known, view, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)).astype(view.dtype))
