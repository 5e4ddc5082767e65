"""An order of samples and of views that depends on their values only, not on the order in which they are given.

Random draws name rows by their numbers, so a seeded method gives other results when its samples are permuted. A method
that first brings samples and views into a canonical order does the same arithmetic for every order of its input.

Samples are sorted by a random projection with fixed coefficients: x_v r_v for the rows x_v of view v, divided by its
root mean square, summed over the views. Only equal samples have equal sums, and their order has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from latefusion.types import Array


def canonical_order(views: Sequence[Array]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the canonical order of samples and views.

    Parameters
    ----------
    views : sequence of ndarray or sparse matrices of shape (n_samples, n_features_p)

    Returns
    -------
    samples : ndarray of shape (n_samples,)
        Positions of the samples in canonical order.
    order : ndarray of shape (n_views,)
        Positions of the views in canonical order: by number of columns, then by the size of their projections.
    """
    projections = [_projection(view) for view in views]
    sizes = np.array([np.sqrt(np.mean(projection**2)) for projection in projections])
    order = np.lexsort((sizes, [view.shape[1] for view in views]))
    # Summed in canonical order, so that rounding is the same for every order of the views.
    total = np.zeros(views[0].shape[0])
    for position in order.tolist():
        total += projections[position] / (sizes[position] or 1.0)
    return np.argsort(total, kind="stable"), order


def _projection(view: Array) -> NDArray[np.float64]:
    width = view.shape[1]
    coefficients = np.random.default_rng(width).standard_normal(width)
    projection: NDArray[np.float64] = np.asarray(view @ coefficients, dtype=np.float64).ravel()
    return projection
