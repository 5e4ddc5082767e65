"""Factors side by side, Φ = [Φ_1 | … | Φ_m], read in blocks of rows: inner products, and products with matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from latefusion.arrays import (
    device_of,
    inner_products,
    is_device_array,
    namespace,
    rounding_threshold,
    row_blocks,
    share_blocks,
    top_eigenpairs,
)
from latefusion.similarities.factor import Factor, LinearMap
from latefusion.types import Array

# Entries of a block of features: large enough for matrix products at full speed, small enough for the cache.
BLOCK_ENTRIES = 2**19
# The same on a device, which needs larger blocks.
DEVICE_BLOCK_ENTRIES = 2**28
# Features that are costly to compute are stored between the passes if they need no more than this.
KEPT_BYTES = 2**28

Result = TypeVar("Result")


class FactorStack:
    """The factors of all views side by side, Φ = [Φ_1 | … | Φ_m], read in blocks of rows.

    Attributes
    ----------
    factors : sequence of Factor
    edges : ndarray of shape (n_views + 1,)
        First column of every view in Φ, and the number of columns.
    n_samples : int
    xp, dtype, device
        Array library, float type and device of all features.
    """

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = factors
        self.edges = np.concatenate([[0], np.cumsum([factor.feature_map.width for factor in factors])])
        self.n_samples = factors[0].shape[0]
        views = [factor.view for factor in factors]
        self.on_device = is_device_array(views[0])
        self.xp = namespace(views[0]) if self.on_device else namespace(np.empty(0))
        self.device = device_of(views[0]) if self.on_device else "cpu"
        self.dtype = self.xp.result_type(*[view.dtype for view in views])
        width = int(self.edges[-1])
        self.block = max(256, (DEVICE_BLOCK_ENTRIES if self.on_device else BLOCK_ENTRIES) // width)
        costly = any(not isinstance(factor.feature_map, LinearMap) for factor in factors)
        size = self.n_samples * width * self.xp.finfo(self.dtype).bits // 8
        self.kept: dict[int, Array] | None = {} if costly and size <= KEPT_BYTES else None

    def share(self, work: Callable[[Sequence[slice]], Result]) -> list[Result]:
        """Distribute the row ranges over threads; returns the result of each thread."""
        return share_blocks(work, row_blocks(self.n_samples, self.block), on_device=self.on_device)

    def features(self, rows: slice) -> Array:
        """Rows of Φ in one of these ranges."""
        if self.kept is None:
            return self._features(rows)
        if rows.start not in self.kept:
            self.kept[rows.start] = self._features(rows)
        return self.kept[rows.start]

    def split(self, features: Array) -> list[Array]:
        """The columns of every view."""
        return [features[:, start:stop] for start, stop in zip(self.edges[:-1], self.edges[1:], strict=True)]

    def _features(self, rows: slice) -> Array:
        if len(self.factors) == 1:
            return self.factors[0].rows(rows.start, rows.stop)
        features = self.xp.empty((rows.stop - rows.start, int(self.edges[-1])), dtype=self.dtype, device=self.device)
        for part, factor in zip(self.split(features), self.factors, strict=True):
            part[:] = factor.rows(rows.start, rows.stop)
        return features

    @property
    def precision(self) -> float:
        """Rounding error of the features."""
        return float(self.xp.finfo(self.dtype).eps)

    def products(self) -> Array:
        """ΦᵀΦ in double precision, in one pass."""
        width = int(self.edges[-1])
        if len(self.factors) == 1 and self.factors[0].products is not None:
            return self.factors[0].products

        def add(ranges: Sequence[slice]) -> Array:
            total = self.xp.zeros((width, width), dtype=self.xp.float64, device=self.device)
            for rows in ranges:
                total += inner_products(self.features(rows), xp=self.xp)
            return total

        return sum(self.share(add))

    def times(self, matrix: Array) -> Array:
        """Φ times a matrix, in one pass."""
        found = self.xp.empty((self.n_samples, matrix.shape[1]), dtype=self.dtype, device=self.device)
        small = self.xp.astype(matrix, self.dtype)

        def multiply(ranges: Sequence[slice]) -> None:
            for rows in ranges:
                found[rows, :] = self.features(rows) @ small

        self.share(multiply)
        return found


def whitened(gram: Array, n_pairs: int, precision: float) -> tuple[Array, Array]:
    """Λ and V Λ^{-1/2} of the leading eigenpairs; zero for eigenvalues that are rounding error, and beyond the last."""
    xp, width = namespace(gram), gram.shape[0]
    found, vectors = top_eigenpairs(gram, min(n_pairs, width))
    present = found > rounding_threshold(precision, found[0])
    safe = xp.where(present, found, xp.ones_like(found))
    values = xp.zeros(n_pairs, dtype=xp.float64, device=device_of(gram))
    projection = xp.zeros((width, n_pairs), dtype=xp.float64, device=device_of(gram))
    values[: found.shape[0]] = xp.where(present, found, xp.zeros_like(found))
    projection[:, : found.shape[0]] = vectors * (xp.astype(present, xp.float64) / xp.sqrt(safe))
    return values, projection
