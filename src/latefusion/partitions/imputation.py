"""Imputation of the rows of missing views, from components that the views share.

Let x_i be the rows of sample i in all partitions side by side, one block of columns per view. A missing view is a
missing block. The blocks share a few components:

    x_i = V u_i + e_i,    u_i ~ N(0, I),    e_i ~ N(0, σ_p²) in the columns of view p.

This is factor analysis with missing blocks, fitted by expectation maximization. The scores u_i of a sample come from
the blocks that it has, the loadings V from the samples that have the block. A missing block is imputed as V_p E[u_i]. A
view that shares nothing with the others has large noise and does not influence the scores.

The fit needs sums only: for every pattern of observed views the inner products XᵀX of the rows of its samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs

FloatArray = NDArray[Any]

# Samples that the model is fitted on, about the same number from every view.
LEARNING_SAMPLES = 5000
MAX_ITER = 100
# Relative change of the noise at which to stop.
TOLERANCE = 1e-3
# The noise of a view is at least this share of its variance.
LEAST_NOISE = 1e-6


class PatternSums(NamedTuple):
    """Inner products of the rows of all samples with the same observed views.

    Attributes
    ----------
    present : ndarray of bool of shape (n_views,)
        The views of these samples.
    n_samples : int
    matrix : ndarray
        XᵀX of shape (n_columns, n_columns), or X itself if that is smaller.
    """

    present: NDArray[np.bool_]
    n_samples: int
    matrix: FloatArray

    def scaled(self, scales: FloatArray) -> PatternSums:
        """The same for columns multiplied by factors."""
        matrix = self.matrix * scales
        return self._replace(matrix=matrix * scales[:, None] if self._is_gram else matrix)

    def times(self, rows: NDArray[np.intp], columns: NDArray[np.intp], right: FloatArray) -> FloatArray:
        """Some rows and columns of XᵀX, times a matrix."""
        if self._is_gram:
            product: FloatArray = self.matrix[np.ix_(rows, columns)] @ right
        else:
            product = self.matrix[:, rows].T @ (self.matrix[:, columns] @ right)
        return product

    def gram(self, columns: NDArray[np.intp]) -> FloatArray:
        """Some rows and the same columns of XᵀX."""
        if self._is_gram:
            return self.matrix[np.ix_(columns, columns)]
        own = self.matrix[:, columns]
        gram: FloatArray = own.T @ own
        return gram

    @property
    def _is_gram(self) -> bool:
        return len(self.matrix) == int(self.matrix.shape[1])


@dataclass(frozen=True)
class FactorModel:
    """A fitted factor analysis, which imputes the blocks of missing views.

    Attributes
    ----------
    loadings : ndarray of shape (n_columns, n_components)
        V, of the scaled columns.
    noise : ndarray of shape (n_views,)
        σ_p².
    owners : ndarray of int of shape (n_columns,)
        The view of every column.
    scales : ndarray of shape (n_columns,)
        Factor (weight) of every column. A column with factor zero stays zero.
    scoring : ndarray of bool of shape (n_columns,)
        Columns from which scores are computed; the others are imputed only.
    """

    loadings: FloatArray
    noise: FloatArray
    owners: NDArray[np.intp]
    scales: FloatArray
    scoring: NDArray[np.bool_]

    def impute(self, rows: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
        """Rows with imputed blocks; observed blocks are unchanged.

        Parameters
        ----------
        rows : ndarray of shape (n_samples, n_columns)
        mask : ndarray of bool of shape (n_samples, n_views)
            Where a sample has the block of a view.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
        """
        imputed = rows.copy()
        counted = self.scales > 0
        back = np.where(counted, 1.0 / np.where(counted, self.scales, 1.0), 0.0)
        for samples, present in patterns(mask):
            if present.all():
                continue
            absent = np.flatnonzero(~present[self.owners])
            known = np.flatnonzero(present[self.owners] & self.scoring)
            scores = (rows[np.ix_(samples, known)] * self.scales[known]) @ self.scorer(known)[0]
            imputed[np.ix_(samples, absent)] = scores @ (self.loadings[absent] * back[absent, None]).T
        return imputed

    def joined(self, owners: NDArray[np.intp], loadings: FloatArray) -> FactorModel:
        """The same model with more columns, from which no scores are computed.

        Parameters
        ----------
        owners : ndarray of int of shape (n_more,)
            The view of every column.
        loadings : ndarray of shape (n_more, n_components)
            Loadings of the new columns, which are not scaled; columns with loadings of zero stay zero.

        Returns
        -------
        FactorModel
        """
        return FactorModel(
            np.concatenate([self.loadings, loadings]),
            self.noise,
            np.concatenate([self.owners, owners]),
            np.concatenate([self.scales, np.ones(len(owners))]),
            np.concatenate([self.scoring, np.zeros(len(owners), dtype=bool)]),
        )

    def scorer(self, columns: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """The matrix that maps scaled entries of these columns to scores, and the covariance of the scores."""
        own = self.loadings[columns]
        weighted = own / self.noise[self.owners[columns], None]
        covariance: FloatArray = np.linalg.inv(own.T @ weighted + np.eye(own.shape[1]))
        return weighted @ covariance, covariance


@dataclass(frozen=True)
class Fill:
    """Values of the columns of missing views.

    Attributes
    ----------
    rescaled : ndarray of bool of shape (n_columns,)
        Columns that are summed over views. If a sample has a share D of the views, they are multiplied by D^{-1/2}. A
        sum of similarities S becomes D^{-1/2} S D^{-1/2}, in which samples with few views have the same weight.
    model : FactorModel or None
        Imputes the columns of missing views; None leaves them zero.
    """

    rescaled: NDArray[np.bool_]
    model: FactorModel | None = None

    def __call__(self, rows: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
        """Rows without gaps.

        Parameters
        ----------
        rows : ndarray of shape (n_samples, n_columns)
            Zero if the view is missing.
        mask : ndarray of bool of shape (n_samples, n_views)

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
        """
        if self.model is not None:
            rows = self.model.impute(rows, mask)
        if not self.rescaled.any():
            return rows
        factors = np.sqrt(mask.shape[1] / np.maximum(mask.sum(axis=1), 1)).astype(rows.dtype)
        filled: NDArray[Any] = np.where(self.rescaled, rows * factors[:, None], rows)
        return filled


def patterns(mask: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
    """Groups of samples with the same observed views: their positions, and these views."""
    kinds, inverse = np.unique(mask, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    edges = np.cumsum(np.bincount(inverse.ravel(), minlength=len(kinds)))[:-1]
    yield from zip(np.split(order, edges), kinds, strict=True)


def sum_patterns(rows: NDArray[Any], mask: NDArray[np.bool_], owners: NDArray[np.intp]) -> list[PatternSums]:
    """Sums over a random subset of the rows, one per pattern of observed views.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_columns)
        Blocks of missing views are not read.
    mask : ndarray of bool of shape (n_samples, n_views)
        Mask of observed views. Samples without any view are excluded.
    owners : ndarray of int of shape (n_columns,)
        The view of every column.

    Returns
    -------
    list of PatternSums
    """
    chosen = _learning_samples(mask)
    found = []
    for samples, present in patterns(mask[chosen]):
        own = np.where(present[owners], rows[chosen[samples]], 0.0)
        found.append(PatternSums(present, len(own), own.T @ own if len(own) >= own.shape[1] else own))
    return found


def _learning_samples(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    known = np.flatnonzero(mask.any(axis=1))
    if len(known) <= LEARNING_SAMPLES:
        return known
    generator = np.random.default_rng(0)
    each = [generator.permutation(np.flatnonzero(observed))[: LEARNING_SAMPLES // mask.shape[1]] for observed in mask.T]
    return np.unique(np.concatenate(each))


def fit_factor_model(
    sums: Sequence[PatternSums],
    owners: NDArray[np.intp],
    n_components: int,
    *,
    scales: NDArray[Any] | None = None,
    scoring: NDArray[np.bool_] | None = None,
) -> FactorModel:
    """Fit the components that the blocks of several views share.

    Parameters
    ----------
    sums : sequence of PatternSums
        One per pattern of observed views.
    owners : ndarray of int of shape (n_columns,)
        The view of every column.
    n_components : int
    scales : ndarray of shape (n_columns,), default=None
        Weight of every column; a column with weight zero is excluded. Equal weights by default.
    scoring : ndarray of bool of shape (n_columns,), default=None
        Columns from which scores are computed; all by default.

    Returns
    -------
    FactorModel
    """
    n_columns, n_views = len(owners), len(sums[0].present)
    scales = np.ones(n_columns) if scales is None else np.asarray(scales, dtype=np.float64)
    scoring = (np.ones(n_columns, dtype=bool) if scoring is None else scoring) & (scales > 0)
    scaled = [one.scaled(scales) for one in sums]
    start = FactorModel(np.zeros((n_columns, n_components)), np.ones(n_views), owners, scales, scoring)
    model = _maximize(start, scaled)
    rest = np.flatnonzero(~scoring & (scales > 0))
    if len(rest):
        model.loadings[rest] = _regress(model, scaled, rest)[0][rest]
    return model


def _maximize(model: FactorModel, sums: Sequence[PatternSums]) -> FactorModel:
    """V and σ² of the columns that scores are computed from, by expectation maximization."""
    columns = np.flatnonzero(model.scoring)
    n_views = len(model.noise)
    sizes = np.sum([one.n_samples * one.present for one in sums], axis=0)
    n_samples = sum(one.n_samples for one in sums)
    total = np.zeros((len(columns), len(columns)))
    for one in sums:
        own = np.flatnonzero(one.present[model.owners[columns]])
        total[np.ix_(own, own)] += one.gram(columns[own])
    owners = model.owners[columns]
    entries = np.maximum(1.0, sizes * np.bincount(owners, minlength=n_views))
    variance = np.bincount(owners, np.diagonal(total), minlength=n_views) / entries
    floor = LEAST_NOISE * np.where(variance > 0, variance, 1.0)
    # Start: leading components of the rows with zeros in missing blocks, scaled up by the share of missing blocks.
    roots = np.sqrt(np.maximum(sizes / n_samples, 1 / n_samples))[owners]
    n_found = min(model.loadings.shape[1], len(columns))
    values, vectors = top_eigenpairs(total / roots / roots[:, None], n_found)
    loadings = np.zeros_like(model.loadings)
    loadings[columns, :n_found] = vectors * np.sqrt(np.maximum(values, 0.0) / n_samples)
    model = replace(model, loadings=loadings, noise=np.maximum(variance, floor))
    for _ in range(MAX_ITER):
        loadings, explained = _regress(model, sums, columns)
        noise = np.maximum(variance - explained / entries, floor)
        change = np.max(np.abs(noise - model.noise) / model.noise)
        model = replace(model, loadings=loadings, noise=noise)
        if change < TOLERANCE:
            break
    return model


def _regress(
    model: FactorModel, sums: Sequence[PatternSums], columns: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Loadings of some columns by regression on the expected scores, and the sum of squares they explain per view."""
    (n_columns, n_components), n_views = model.loadings.shape, len(model.noise)
    squares = np.zeros((n_views, n_components, n_components))
    cross = np.zeros((n_columns, n_components))
    for one in sums:
        known = np.flatnonzero(one.present[model.owners] & model.scoring)
        own = columns[one.present[model.owners[columns]]]
        scorer, covariance = model.scorer(known)
        products = one.times(known, known, scorer)
        squares[one.present] += scorer.T @ products + one.n_samples * covariance
        cross[own] += products if np.array_equal(own, known) else one.times(own, known, scorer)
    loadings = np.zeros_like(model.loadings)
    for view in np.unique(model.owners[columns]):
        own = columns[model.owners[columns] == view]
        if squares[view].any():
            loadings[own] = np.linalg.solve(squares[view], cross[own].T).T
    explained = np.sum(cross * loadings, axis=1)
    return loadings, np.bincount(model.owners, explained, minlength=n_views)
