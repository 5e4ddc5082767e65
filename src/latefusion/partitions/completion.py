"""Filling in rows of partitions that samples lack because they lack the view.

Let x_i hold the rows of sample i in all partitions side by side, one block of columns per view. Samples that lack views
lack blocks. The blocks have something in common, or there would be nothing to fuse:

    x_i = V u_i + e_i,    u_i ~ N(0, I),    e_i ~ N(0, σ_p²) in the columns of view p

with a few directions V and noise of every view's own, so that a view that shares nothing with the others says nothing
about them. This is factor analysis with missing blocks, fitted by expectation maximisation: the scores u_i of a sample
come from the blocks that it has, the loadings V from the samples that have the block. A missing block is filled in with
V_p E[u_i]. All samples that have the same views, new ones included, are filled in by the same matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[Any]

# Samples that the directions are learnt from, about the same number of every view.
LEARNING_SAMPLES = 5000
MAX_ITER = 100
# Relative change of the noise at which to stop.
TOLERANCE = 1e-3
# No view is exact: noise of at least this share of its variance.
LEAST_NOISE = 1e-6


class Rescaling:
    """Missing blocks stay zero; the rows of samples that have few of them are made longer.

    With D the share of views that a sample has, rows times D^{-1/2} turn a sum of similarities S into D^{-1/2} S
    D^{-1/2}, in which nobody has less weight for having few views.
    """

    def fill(self, rows: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
        """Rows times the root of the number of views over those that the sample has."""
        factors = np.sqrt(mask.shape[1] / np.maximum(mask.sum(axis=1), 1)).astype(rows.dtype)
        scaled: NDArray[Any] = rows * factors[:, None]
        return scaled


@dataclass(frozen=True)
class Completion:
    """What fills in the blocks of views that a sample lacks.

    Attributes
    ----------
    loadings : ndarray of shape (n_columns, n_directions)
        V, of the scaled columns.
    noise : ndarray of shape (n_views,)
        σ_p².
    owners : ndarray of int of shape (n_columns,)
        The view of every column.
    scales : ndarray of shape (n_columns,)
        Factor of every column: how much it counts.
    scoring : ndarray of bool of shape (n_columns,)
        Columns that scores are taken from; the others are filled in only.
    """

    loadings: FloatArray
    noise: FloatArray
    owners: NDArray[np.intp]
    scales: FloatArray
    scoring: NDArray[np.bool_]

    def fill(self, rows: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
        """Rows whose missing blocks are filled in; the others stay as they are.

        Parameters
        ----------
        rows : ndarray of shape (n_samples, n_columns)
        mask : ndarray of bool of shape (n_samples, n_views)
            Where a sample has the block of a view.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
        """
        filled = rows.copy()
        counted = self.scales > 0
        back = np.where(counted, 1.0 / np.where(counted, self.scales, 1.0), 0.0)
        for samples, present in patterns(mask):
            if present.all():
                continue
            absent = np.flatnonzero(~present[self.owners])
            known = np.flatnonzero(present[self.owners] & self.scoring)
            scores = (rows[np.ix_(samples, known)] * self.scales[known]) @ self._scorer(known)[0]
            filled[np.ix_(samples, absent)] = scores @ (self.loadings[absent] * back[absent, None]).T
        return filled

    def _scorer(self, columns: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """What turns scaled entries of these columns into scores, and the covariance of these."""
        own = self.loadings[columns]
        weighed = own / self.noise[self.owners[columns], None]
        covariance: FloatArray = np.linalg.inv(own.T @ weighed + np.eye(own.shape[1]))
        return weighed @ covariance, covariance


def patterns(mask: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
    """Groups of samples that have the same views: their positions, and which views these are."""
    kinds, inverse = np.unique(mask, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    edges = np.cumsum(np.bincount(inverse.ravel(), minlength=len(kinds)))[:-1]
    yield from zip(np.split(order, edges), kinds, strict=True)


def fit_completion(
    rows: NDArray[Any],
    mask: NDArray[np.bool_],
    owners: NDArray[np.intp],
    n_directions: int,
    *,
    scales: NDArray[Any] | None = None,
    scoring: NDArray[np.bool_] | None = None,
) -> Completion:
    """Learn what the blocks of several views have in common.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_columns)
        What it holds in blocks that a sample lacks is not read.
    mask : ndarray of bool of shape (n_samples, n_views)
        Where a sample has the block of a view.
    owners : ndarray of int of shape (n_columns,)
        The view of every column.
    n_directions : int
    scales : ndarray of shape (n_columns,), default=None
        How much every column counts; a column of scale zero is left out. All alike by default.
    scoring : ndarray of bool of shape (n_columns,), default=None
        Columns that scores are taken from; all by default.

    Returns
    -------
    Completion
    """
    n_columns = rows.shape[1]
    scales = np.ones(n_columns) if scales is None else np.asarray(scales, dtype=np.float64)
    scoring = (np.ones(n_columns, dtype=bool) if scoring is None else scoring) & (scales > 0)
    chosen = _learning_samples(mask)
    mask = mask[chosen]
    scaled = np.where(mask[:, owners], rows[chosen] * scales, 0.0)
    used = np.flatnonzero(scoring)
    learnt = _expectation_maximisation(scaled[:, used], mask, owners[used], n_directions)
    completion = Completion(np.zeros((n_columns, n_directions)), learnt.noise, owners, scales, scoring)
    completion.loadings[used] = learnt.loadings
    rest = np.flatnonzero(~scoring & (scales > 0))
    if len(rest):
        expected = _expect(learnt, scaled[:, used], mask)
        completion.loadings[rest] = _loadings(scaled[:, rest], mask, owners[rest], *expected)
    return completion


def _learning_samples(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    known = np.flatnonzero(mask.any(axis=1))
    if len(known) <= LEARNING_SAMPLES:
        return known
    generator = np.random.default_rng(0)
    each = [generator.permutation(np.flatnonzero(observed))[: LEARNING_SAMPLES // mask.shape[1]] for observed in mask.T]
    return np.unique(np.concatenate(each))


def _expectation_maximisation(
    rows: FloatArray, mask: NDArray[np.bool_], owners: NDArray[np.intp], n_directions: int
) -> Completion:
    """V and σ² of scaled rows, zero where a block is missing."""
    (n_samples, n_columns), n_views = rows.shape, mask.shape[1]
    shares = np.maximum(mask.mean(axis=0), 1 / n_samples)
    entries = np.maximum(1.0, n_samples * shares * np.bincount(owners, minlength=n_views))
    variance = np.bincount(owners, np.sum(rows**2, axis=0), minlength=n_views) / entries
    floor = LEAST_NOISE * np.where(variance > 0, variance, 1.0)
    # The singular vectors of the rows with zeros are a fair start.
    _, values, right = np.linalg.svd(rows / np.sqrt(shares[owners]), full_matrices=False)
    loadings = np.zeros((n_columns, n_directions))
    n_found = min(n_directions, len(values))
    loadings[:, :n_found] = right[:n_found].T * (values[:n_found] / np.sqrt(n_samples))
    state = Completion(
        loadings, np.maximum(variance, floor), owners, np.ones(n_columns), np.ones(n_columns, dtype=bool)
    )
    for _ in range(MAX_ITER):
        scores, covariances = _expect(state, rows, mask)
        loadings = _loadings(rows, mask, owners, scores, covariances)
        noise = _noise(rows, mask, owners, scores, loadings, variance, floor)
        change = np.max(np.abs(noise - state.noise) / state.noise)
        state = Completion(loadings, noise, owners, state.scales, state.scoring)
        if change < TOLERANCE:
            break
    return state


def _expect(state: Completion, rows: FloatArray, mask: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Expected scores, and per view the summed covariance of the scores of the samples that have it."""
    n_directions = state.loadings.shape[1]
    scores = np.zeros((len(rows), n_directions))
    covariances = np.zeros((mask.shape[1], n_directions, n_directions))
    for samples, present in patterns(mask):
        known = np.flatnonzero(present[state.owners])
        scorer, covariance = state._scorer(known)
        scores[samples] = rows[np.ix_(samples, known)] @ scorer
        covariances[present] += len(samples) * covariance
    return scores, covariances


def _loadings(
    rows: FloatArray, mask: NDArray[np.bool_], owners: NDArray[np.intp], scores: FloatArray, covariances: FloatArray
) -> FloatArray:
    """Regression of every block on the scores of the samples that have it."""
    loadings = np.zeros((rows.shape[1], scores.shape[1]))
    for view, (observed, covariance) in enumerate(zip(mask.T, covariances, strict=True)):
        columns = np.flatnonzero(owners == view)
        if len(columns) and observed.any():
            own = scores[observed]
            loadings[columns] = np.linalg.solve(own.T @ own + covariance, own.T @ rows[np.ix_(observed, columns)]).T
    return loadings


def _noise(
    rows: FloatArray,
    mask: NDArray[np.bool_],
    owners: NDArray[np.intp],
    scores: FloatArray,
    loadings: FloatArray,
    variance: FloatArray,
    floor: FloatArray,
) -> FloatArray:
    """What is left of every view's variance beside what the directions explain."""
    noise = variance.copy()
    for view, observed in enumerate(mask.T):
        columns = np.flatnonzero(owners == view)
        if len(columns) and observed.any():
            explained = np.sum((scores[observed].T @ rows[np.ix_(observed, columns)]) * loadings[columns].T)
            noise[view] -= explained / (np.count_nonzero(observed) * len(columns))
    return np.maximum(noise, floor)
