"""Rows drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Largest number of rows that are shuffled to draw a few of them.
SHUFFLED_ROWS = 2**22


def draw_rows(n_rows: int, size: int, generator: np.random.RandomState) -> NDArray[np.intp]:
    """Positions of different rows, ascending.

    Parameters
    ----------
    n_rows : int
    size : int
        Number of positions; all rows if there are not more.
    generator : RandomState

    Returns
    -------
    ndarray of shape (size,)
    """
    if size >= n_rows:
        return np.arange(n_rows)
    if n_rows <= SHUFFLED_ROWS:
        return np.sort(generator.choice(n_rows, size, replace=False))
    # The newer generators draw a few of many rows without an array of all rows.
    frugal = np.random.default_rng(generator.randint(np.iinfo(np.int32).max))
    return np.sort(frugal.choice(n_rows, size, replace=False, shuffle=False))
