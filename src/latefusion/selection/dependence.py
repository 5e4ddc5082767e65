"""Whether views are statistically related: tests of independence.

With K and L the squared centered Gaussian kernels of two views on n common samples, their dependence is the inner
product ⟨K, L⟩ (the Hilbert-Schmidt independence criterion). If the views are independent, the samples of one of them
may be permuted. The mean and the variance of ⟨K, L⟩ over all permutations have a closed form (Kazi-Aoual et al.,
Computational Statistics & Data Analysis, 1995), so that no permutation is drawn. Squares of kernels count the leading
directions more, and clusters are among these.

Every view is compared with every other one, and with the sum of the kernels of all others: views that show different
clusters are only weakly related in pairs.

A view that is unrelated to all others cannot contribute to a consensus, but it can replace it: random numbers in a few
columns have smoother neighborhoods than real measurements in many.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from latefusion.arrays import on_host, take_rows
from latefusion.types import Array

# Two views are related if their dependence exceeds its mean under independence by this many standard deviations: a
# p-value of about 0.01 for kernels of rank one, where the distribution has the heaviest tail, and far less otherwise.
RELATED = 4.0
# The same for a view and all other views together, where there is only one comparison.
RELATED_TO_ALL = 3.0
# Samples that are compared, and the fewest that can be.
MOST_SAMPLES = 500
FEWEST_SAMPLES = 20


def view_dependence(
    coordinates: Sequence[Array], mask: NDArray[np.bool_] | None = None, seed: int = 0
) -> NDArray[np.float64]:
    """Dependence of every pair of views, in standard deviations above its mean under independence.

    Parameters
    ----------
    coordinates : sequence of arrays of shape (n_observed, n_features)
        Points whose distances are those of a view, of the samples that have it.
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Which samples have which views; all by default.
    seed : int, default=0
        For the samples that are compared, if there are many.

    Returns
    -------
    ndarray of shape (n_views, n_views)
        Symmetric; on the diagonal, the dependence of a view on all others together. NaN for too few samples in common.
    """
    if mask is None:
        mask = np.ones((coordinates[0].shape[0], len(coordinates)), dtype=bool)
    samples = np.flatnonzero(mask.any(axis=1))
    if len(samples) > MOST_SAMPLES:
        samples = np.sort(np.random.default_rng(seed).choice(samples, MOST_SAMPLES, replace=False))
    observed = mask[samples]
    kernels = np.zeros((len(coordinates), len(samples), len(samples)))  # zero where a view is missing
    for view, own in enumerate(observed.T):
        rows = (np.cumsum(mask[:, view]) - 1)[samples[own]]
        if len(rows) >= FEWEST_SAMPLES:
            squared = _centered(_gaussian(on_host(take_rows(coordinates[view], rows))))
            squared = squared @ squared.T
            kernels[np.ix_([view], own, own)] = squared / (np.linalg.norm(squared) or 1.0)
    n_views = len(kernels)
    found = np.full((n_views, n_views), np.nan)
    everything = np.ones(len(samples), dtype=bool)
    complete = _Moments.of(kernels, everything) if observed.all() else None

    def compare(common: NDArray[np.bool_], one: int, others: Sequence[int]) -> float:
        """Dependence of a view on the sum of some others, on their common samples."""
        if np.count_nonzero(common) < FEWEST_SAMPLES:
            return np.nan
        if complete is not None:
            return complete.standardized(one, others)
        moments = _Moments.of(np.stack([kernels[one], kernels[list(others)].sum(axis=0)]), common)
        return moments.standardized(0, [1])

    for one, other in combinations(range(n_views), 2):
        found[one, other] = found[other, one] = compare(observed[:, one] & observed[:, other], one, [other])
    for view, own in enumerate(observed.T):
        others = [other for other in range(n_views) if other != view]
        found[view, view] = compare(own & observed[:, others].any(axis=1), view, others)
    return found


def unrelated_views(dependence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Views that are unrelated to all others, while some others are related.

    Parameters
    ----------
    dependence : ndarray of shape (n_views, n_views)
        As `view_dependence` returns it.

    Returns
    -------
    ndarray of bool of shape (n_views,)
        None of two views: which of them is to be left out cannot be decided. A view that could not be compared with all
        others is not unrelated.
    """
    together = np.diagonal(dependence)
    np.fill_diagonal(pairs := dependence.copy(), -np.inf)
    unrelated: NDArray[np.bool_] = np.all(pairs < RELATED, axis=1) & (together < RELATED_TO_ALL)  # False for NaN
    return unrelated if np.any(pairs >= RELATED) else np.zeros(len(dependence), dtype=bool)


def unrelated_note(name: str, *, is_used: bool) -> str:
    """A warning about a view that is unrelated to all others.

    Parameters
    ----------
    name : str
    is_used : bool
        Whether the view has a weight in the consensus nevertheless.

    Returns
    -------
    str
    """
    effect = "It may distort the consensus" if is_used else "It has no weight in the consensus"
    return (
        f"View {name!r} is statistically unrelated to all other views. {effect}. Remove it, or check that its rows "
        f"describe the same samples in the same order."
    )


def _gaussian(points: Array) -> NDArray[np.float64]:
    """Gaussian kernel whose width is the median of the positive squared distances, which outliers do not change."""
    squared = euclidean_distances(points, squared=True).astype(np.float64, copy=False)
    positive = squared[squared > 0]
    return np.exp(-squared / np.median(positive)) if len(positive) else np.ones_like(squared)


def _centered(kernel: NDArray[np.float64]) -> NDArray[np.float64]:
    means = kernel.mean(axis=0)
    centered: NDArray[np.float64] = kernel - means - means[:, None] + means.mean()
    return centered


class _Moments(NamedTuple):
    """What the test needs of centered kernels of the same samples.

    Attributes
    ----------
    products : ndarray of shape (n_kernels, n_kernels)
        Inner products ⟨K, L⟩.
    diagonals : ndarray of shape (n_kernels, n_samples)
    """

    products: NDArray[np.float64]
    diagonals: NDArray[np.float64]

    @classmethod
    def of(cls, kernels: NDArray[np.float64], common: NDArray[np.bool_]) -> _Moments:
        """Of the kernels of the common samples, centered on these."""
        centered = np.stack([_centered(one[np.ix_(common, common)]) for one in kernels])
        flat = centered.reshape(len(kernels), -1)
        return cls(flat @ flat.T, np.diagonal(centered, axis1=1, axis2=2))

    def standardized(self, one: int, others: Sequence[int]) -> float:
        """⟨K, L⟩ less its mean, over its standard deviation, under permutations of the samples of K.

        L is the sum of several kernels.
        """
        n, parts = self.diagonals.shape[1], ([one], list(others))
        # Trace, squared entries, and squared entries of the diagonal.
        moments = [
            (diagonal.sum(), self.products[np.ix_(own, own)].sum(), np.sum(diagonal**2))
            for own, diagonal in ((own, self.diagonals[own].sum(axis=0)) for own in parts)
        ]
        off = [(n - 1) * squares - trace**2 for trace, squares, _ in moments]
        on = [n * (n + 1) * diagonal - (n - 1) * (trace**2 + 2 * squares) for trace, squares, diagonal in moments]
        mean = moments[0][0] * moments[1][0] / (n - 1)
        variance = 2 * off[0] * off[1] / ((n - 1) ** 2 * (n + 1) * (n - 2))
        variance += on[0] * on[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
        rounding = np.finfo(np.float64).eps * moments[0][1] * moments[1][1]
        product = self.products[np.ix_(*parts)].sum()
        return float((product - mean) / np.sqrt(variance)) if variance > rounding else 0.0
