"""Removal of views of single samples, for experiments with missing views."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.types import Views


def draw_mask(n_samples: int, n_views: int, rate: float, random_state: int) -> NDArray[np.bool_]:
    """Draw which views of which samples are observed.

    Parameters
    ----------
    n_samples, n_views : int
    rate : float
        Probability with which each view of each sample is missing. A sample without any view gets one of them back, so
        that the share of missing rows is below this rate, in particular for few views.
    random_state : int

    Returns
    -------
    ndarray of bool of shape (n_samples, n_views)
        True where the view is observed.

    Examples
    --------
    >>> from latefusion.datasets.missing_rows import draw_mask
    >>> mask = draw_mask(1000, 4, 0.5, random_state=0)
    >>> mask.shape, bool(mask.any(axis=1).all()), round(float(1 - mask.mean()), 2)
    ((1000, 4), True, 0.49)
    """
    generator = np.random.default_rng(random_state)
    mask = generator.random((n_samples, n_views)) >= rate
    bare = np.flatnonzero(~mask.any(axis=1))
    mask[bare, generator.integers(n_views, size=len(bare))] = True
    return mask


def without_rows(views: Views, mask: NDArray[np.bool_]) -> Views:
    """The same views without the rows that a mask excludes.

    Parameters
    ----------
    views : Views
    mask : ndarray of bool of shape (n_samples, n_views)
        False where the view is to be missing. Views that are missing already stay missing.

    Returns
    -------
    Views
        Excluded rows are NaN in dense and zero in sparse views, so that their values cannot be used.
    """
    mask = mask & views.observed
    arrays = [_emptied(array, ~observed) for array, observed in zip(views.arrays, mask.T, strict=True)]
    return Views(arrays, views.names, mask, views.sample_ids)


def _emptied(array: Any, rows: NDArray[np.bool_]) -> Any:
    if scipy.sparse.issparse(array):
        kept = array.tocsr().copy()
        kept.data = np.where(np.repeat(rows, np.diff(kept.indptr)), 0, kept.data)
        kept.eliminate_zeros()
        return kept
    dense = np.array(array, dtype=np.result_type(array, np.float32))
    dense[rows] = np.nan
    return dense
