"""Hard labels: the best cluster of every row with no cluster left empty."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def assign_rows(scores: NDArray[Any], previous: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Labels y that maximise Σ_i scores[i, y_i] with every cluster in use.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_clusters)
        n_samples >= n_clusters.
    previous : ndarray of shape (n_samples,), default=None
        Labels that are kept if filling the empty clusters would lead below their value; every cluster in use.

    Returns
    -------
    ndarray of shape (n_samples,)
        The best label of every row. An empty cluster takes the row that loses least by moving, among those that do not
        leave another cluster empty.
    """
    labels: NDArray[np.intp] = np.argmax(scores, axis=1)
    rows = np.arange(len(scores))
    sizes = np.bincount(labels, minlength=scores.shape[1])
    empty = np.flatnonzero(sizes == 0)
    for cluster in empty:
        losses = scores[rows, labels] - scores[:, cluster]
        losses[sizes[labels] == 1] = np.inf
        moved = np.argmin(losses)
        sizes[labels[moved]] -= 1
        sizes[cluster] += 1
        labels[moved] = cluster
    if empty.size and previous is not None and scores[rows, labels].sum() < scores[rows, previous].sum():
        return previous
    return labels
