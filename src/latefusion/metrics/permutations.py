"""Permutation tests: the distribution of a statistic when clusters are assigned to the samples at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Bytes of a block of relabelings, times the entries that a statistic needs per sample.
BLOCK_ENTRIES = 2**22
# Statistics that are equal up to rounding count as equal.
TOLERANCE = 1e-9


class Relabelings(NamedTuple):
    """The same cluster sizes in other orders.

    Attributes
    ----------
    codes : ndarray of shape (n_relabelings, n_samples)
        Cluster numbers from 0.
    exact : bool
        Whether these are all different orders; otherwise they are random.
    """

    codes: NDArray[np.integer]
    exact: bool

    def p_values(
        self, observed: NDArray[np.float64], statistic: Callable[[NDArray[np.integer]], NDArray[np.float64]], cost: int
    ) -> NDArray[np.float64]:
        """Share of the relabelings whose statistic is at least as large as the observed one.

        Parameters
        ----------
        observed : ndarray of shape (n_statistics,)
            NaN for a statistic that is not defined; its p-value is NaN.
        statistic : callable
            From cluster numbers of shape (n_relabelings, n_samples) to values of shape (n_relabelings, n_statistics).
        cost : int
            Entries that the statistic needs per sample, for the size of the blocks.

        Returns
        -------
        ndarray of shape (n_statistics,)
            Exact, or (1 + b) / (1 + B) for b of B random relabelings.
        """
        counts = np.zeros(len(observed), dtype=np.int64)
        least = observed - TOLERANCE * np.maximum(1.0, np.abs(observed))
        for block in self._blocks(cost):
            counts += np.count_nonzero(statistic(block) >= least, axis=0)
        p = counts / len(self.codes) if self.exact else (1 + counts) / (1 + len(self.codes))
        return np.where(np.isnan(observed), np.nan, p)

    def _blocks(self, cost: int) -> Iterator[NDArray[np.integer]]:
        n_rows = max(1, BLOCK_ENTRIES // max(1, self.codes.shape[1] * cost))
        for start in range(0, len(self.codes), n_rows):
            yield self.codes[start : start + n_rows]


def relabel(codes: NDArray[np.integer], n_permutations: int, seed: int) -> Relabelings:
    """All different orders of cluster numbers if there are at most ``n_permutations``, otherwise random ones.

    Two clusterings of equally many samples are permuted in the same way for the same seed.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Cluster numbers from 0.
    n_permutations : int
    seed : int

    Returns
    -------
    Relabelings

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.metrics.permutations import relabel
    >>> relabel(np.array([0, 0, 1]), 100, seed=0)
    Relabelings(codes=array([[0, 0, 1],
           [0, 1, 0],
           [1, 0, 0]], dtype=uint8), exact=True)
    """
    small = codes.astype(np.min_scalar_type(int(codes.max(initial=0))))
    sizes = np.bincount(small).tolist()
    if _n_orders(sizes, n_permutations) <= n_permutations:
        return Relabelings(np.array(list(_orders(sizes)), dtype=small.dtype).reshape(-1, len(small)), exact=True)
    rows = np.broadcast_to(small, (n_permutations, len(small)))
    return Relabelings(np.random.default_rng(seed).permuted(rows, axis=1), exact=False)


def _n_orders(sizes: list[int], most: int) -> int:
    """Number of different orders, or a number above ``most``."""
    found, n_samples = 1, 0
    for size in sizes:
        for member in range(1, size + 1):
            n_samples += 1
            found = found * n_samples // member
        if found > most:
            return found
    return found


def _orders(sizes: list[int]) -> Iterator[list[int]]:
    if not any(sizes):
        yield []
        return
    for code, size in enumerate(sizes):
        if size:
            rest = [*sizes[:code], size - 1, *sizes[code + 1 :]]
            yield from ([code, *order] for order in _orders(rest))
