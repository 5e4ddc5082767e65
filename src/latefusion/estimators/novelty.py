"""Novelty: the distance of a sample to the training samples.

Confidence compares clusters with each other. A sample far away from all training samples can still be much nearer to
one cluster than to the others. Novelty is the complement: with d(x) the distance of x to the nearest of some training
samples, the references, it is d(x) over the distance that 99 % of the references do not exceed. A novelty above 1 means
that a sample is farther from the training samples than nearly all of them are from each other.

Distances are taken after encoding every view, and on at most 32 random projections of it, which keep distances. Every
view is divided by its root mean squared distance, and squared distances are averaged over the views that two samples
share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import on_host, row_blocks, take_rows
from latefusion.encoding import column_statistics, fit_preparation
from latefusion.encoding.coordinates import Unchanged
from latefusion.types import Array, Views

N_REFERENCES = 256
N_PROJECTIONS = 32
# Rank of the nearest reference that is used, so that a single outlier among the references has no influence.
NEAREST = 3
# Squared distances below this are rounding errors; those of two references are one on average.
ROUNDING = 1e-12
# Share of the references that are not novel.
QUANTILE = 0.99
# Number of distances per block.
BLOCK_ENTRIES = 2**19


@dataclass(frozen=True)
class Sketch:
    """One view as a few numbers per sample, in the unit of the typical distance.

    Attributes
    ----------
    encoding : Encoding
    projection : ndarray of shape (n_coordinates, n_projections)
    shift : ndarray of shape (n_projections,)
        Mean of the projected references. Without it, distances far from the origin would be rounding errors.
    """

    encoding: Any
    projection: NDArray[Any]
    shift: NDArray[np.float64]

    def __call__(self, view: Array, observed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Projections of some samples, zero where the view is missing."""
        if observed.all():
            return self.encoding(view) @ self.projection - self.shift
        rows = np.zeros((len(observed), len(self.shift)))
        if observed.any():
            rows[observed] = self.encoding(view[observed]) @ self.projection - self.shift
        return rows


@dataclass(frozen=True)
class Novelty:
    """Distance of samples to the nearest training samples.

    Attributes
    ----------
    sketches : tuple of Sketch
        One per view.
    references : tuple of ndarray of shape (n_references, n_projections)
        One per view; zero if the view is missing for the reference.
    observed : ndarray of bool of shape (n_references, n_views)
    """

    sketches: tuple[Sketch, ...]
    references: tuple[NDArray[np.float64], ...]
    observed: NDArray[np.bool_]

    @cached_property
    def level(self) -> float:
        """The distance that is a novelty of 1.

        Most references do not exceed it; if most of them coincide, it is their smallest positive distance. It is
        computed when it is first needed, so that `fit` does not wait for it.
        """
        squared = _squared_distances(self.references, self.observed, self.references, self.observed)
        np.fill_diagonal(squared, np.inf)  # new samples are not among the references either
        distances = _nearest(squared)
        level = float(np.quantile(distances, QUANTILE))
        return level if level > 0 else float(np.min(distances[distances > 0], initial=1.0))

    def __call__(self, views: Views, observed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Novelty of samples.

        Parameters
        ----------
        views : Views
            Checked, in the order of the training views.
        observed : ndarray of bool of shape (n_samples, n_views), default=None
            Which views of the samples are used; all by default.

        Returns
        -------
        ndarray of shape (n_samples,)
            Zero for samples without any view that references have as well.
        """
        everything = np.ones((len(views), len(self.sketches)), dtype=bool) if observed is None else observed
        parts = []
        for block in row_blocks(len(views), max(1, BLOCK_ENTRIES // len(self.observed))):
            seen = everything[block]
            rows = [
                sketch(on_host(view[block]), own)
                for sketch, view, own in zip(self.sketches, views.arrays, seen.T, strict=True)
            ]
            parts.append(_nearest(_squared_distances(rows, seen, self.references, self.observed)))
        return np.concatenate(parts) / self.level


def fit_novelty(views: Views, encodings: Sequence[Any], observed: NDArray[np.bool_] | None = None) -> Novelty:
    """References and the projections that they are compared by.

    Parameters
    ----------
    views : Views
        Of the training samples.
    encodings : sequence of Encoding, None or "kernel"
        One per view; None fits one to the references. Samples of a kernel are compared by their similarities to the
        references.
    observed : ndarray of bool of shape (n_samples, n_views), default=None
        Which views of the samples are used; all by default.

    Returns
    -------
    Novelty
    """
    known = None if observed is None else np.flatnonzero(observed.any(axis=1))
    n_known = len(views) if known is None else len(known)
    generator = np.random.default_rng(0)
    chosen = np.sort(generator.choice(n_known, min(N_REFERENCES, n_known), replace=False, shuffle=False))
    chosen = chosen if known is None else known[chosen]
    mask = np.ones((len(chosen), views.n_views), dtype=bool) if observed is None else observed[chosen]
    sketches, references = [], []
    for position, (view, encoding, seen) in enumerate(zip(views.arrays, encodings, mask.T, strict=True)):
        rows = on_host(take_rows(view, chosen))
        if encoding is None:
            encoding = fit_preparation(column_statistics(rows[seen]))
        elif isinstance(encoding, str):
            encoding = Unchanged(np.isin(np.arange(view.shape[1]), chosen))
        sketches.append(_fit_sketch(encoding, rows[seen], position))
        references.append(sketches[-1](rows, seen))
    return Novelty(tuple(sketches), tuple(references), mask)


def _fit_sketch(encoding: Any, rows: Array, seed: int) -> Sketch:
    coordinates = encoding(rows)
    width, dtype = int(coordinates.shape[1]), np.result_type(coordinates.dtype, np.float32)
    if width <= N_PROJECTIONS:
        projection = np.eye(width, dtype=dtype)
    else:
        generator = np.random.default_rng(seed)
        projection = generator.standard_normal((width, N_PROJECTIONS), dtype) / dtype.type(np.sqrt(N_PROJECTIONS))
    projected = np.asarray(coordinates @ projection, dtype=np.float64)
    distance = 2 * np.sum(np.var(projected, axis=0))  # the mean squared distance of two references
    scale = 1 / np.sqrt(distance) if distance > 0 else 0.0
    return Sketch(encoding, projection * dtype.type(scale), projected.mean(axis=0) * scale)


def _nearest(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance to the third nearest reference, or to the farthest if the sample shares views with fewer than three."""
    n_nearest = min(NEAREST, squared.shape[1])
    squared.partition(n_nearest - 1, axis=1)
    nearest = squared[:, :n_nearest]
    return np.sqrt(np.max(np.where(np.isfinite(nearest) & (nearest > ROUNDING), nearest, 0.0), axis=1))


def _squared_distances(
    rows: Sequence[NDArray[Any]],
    observed: NDArray[np.bool_],
    references: Sequence[NDArray[Any]],
    known: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Mean squared distances to references over the views that both have; infinite if there are none.

    Σ_p (‖x_p‖² + ‖r_p‖² - 2 x_pᵀr_p) is one product, since passes over all pairs take longer. Rows of missing views are
    zero, and each norm counts if the other sample has the view. Rounding may make a distance negative.
    """
    left = np.hstack([*rows, _squared_norms(rows), observed])
    right = np.hstack([*(-2 * one for one in references), known, _squared_norms(references)])
    if observed.all() and known.all():
        return left @ (right / len(rows)).T
    shared = observed.astype(np.float64) @ known.T
    return np.where(shared > 0, left @ right.T / np.maximum(shared, 1.0), np.inf)


def _squared_norms(rows: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    return np.stack([np.sum(one**2, axis=1) for one in rows], axis=1)
