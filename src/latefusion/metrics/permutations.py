"""Permutation tests: the distribution of a statistic when clusters are assigned to the samples at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Entries of a block of relabelings, times the entries that a statistic needs per sample.
BLOCK_ENTRIES = 2**22
# Relabelings with more entries are drawn again whenever they are used.
LARGEST_STORED = 2**26
# Statistics that are equal up to rounding count as equal.
TOLERANCE = 1e-9


class Relabelings(NamedTuple):
    """The same cluster sizes in other orders.

    Attributes
    ----------
    labeling : ndarray of shape (n_samples,)
        Cluster numbers from 0.
    n_relabelings : int
        Number of relabelings.
    exact : bool
        Whether these are all different orders; otherwise they are random.
    seed : int
        Of random orders.
    stored : ndarray of shape (n_stored, n_samples)
        All relabelings; none if there are too many entries.
    """

    labeling: NDArray[np.integer]
    n_relabelings: int
    exact: bool
    seed: int
    stored: NDArray[np.integer]

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
        for block in self.blocks(max(1, BLOCK_ENTRIES // max(1, len(self.labeling) * cost))):
            counts += np.count_nonzero(statistic(block) >= least, axis=0)
        p = counts / self.n_relabelings if self.exact else (1 + counts) / (1 + self.n_relabelings)
        return np.where(np.isnan(observed), np.nan, p)

    def blocks(self, n_rows: int) -> Iterator[NDArray[np.integer]]:
        """All relabelings, in blocks that do not depend on the number of rows but for their size.

        Parameters
        ----------
        n_rows : int
            Relabelings per block.

        Yields
        ------
        ndarray of shape (at most n_rows, n_samples)
        """
        generator = np.random.default_rng(self.seed)
        for start in range(0, self.n_relabelings, n_rows):
            if len(self.stored):
                yield self.stored[start : start + n_rows]
            else:
                yield _draw(self.labeling, min(n_rows, self.n_relabelings - start), generator)


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
    >>> found = relabel(np.array([0, 0, 1]), 100, seed=0)
    >>> found.exact, found.stored.tolist()
    (True, [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    """
    small = codes.astype(np.min_scalar_type(int(codes.max(initial=0))))
    sizes = np.bincount(small).tolist()
    if _n_orders(sizes, n_permutations) <= n_permutations:
        orders = list(_orders(sizes))
        stored = np.array(orders, dtype=small.dtype).reshape(len(orders), len(small))
        return Relabelings(small, len(stored), True, seed, stored)
    n_stored = n_permutations if n_permutations * len(small) <= LARGEST_STORED else 0
    return Relabelings(small, n_permutations, False, seed, _draw(small, n_stored, np.random.default_rng(seed)))


def _draw(labeling: NDArray[np.integer], count: int, generator: np.random.Generator) -> NDArray[np.integer]:
    """Random orders; those of several calls are those of one."""
    return generator.permuted(np.broadcast_to(labeling, (count, len(labeling))), axis=1)


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
