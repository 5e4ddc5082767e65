"""Normalisation of an affinity for spectral clustering: division by the roots of the degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.types import Array


def normalized_affinity(affinity: Array) -> Any:
    """Divide by the roots of the degrees, D^{-1/2} A D^{-1/2}; leading eigenvectors are the spectral embedding.

    Parameters
    ----------
    affinity : ndarray or sparse matrix of shape (n_samples, n_samples)
        Symmetric and non-negative; the degree of a sample is the sum of its row.

    Returns
    -------
    ndarray or sparse matrix of shape (n_samples, n_samples)
        Symmetric; the largest eigenvalue is one.

    Raises
    ------
    ValueError
        If a degree is not positive: the sample has no neighbour, or the matrix is a centred kernel, whose rows sum to
        zero.
    """
    scale = 1.0 / np.sqrt(positive_degrees(affinity))
    if scipy.sparse.issparse(affinity):
        diagonal = scipy.sparse.diags_array(scale)
        return (diagonal @ affinity @ diagonal).tocsr()
    normalized = affinity * scale
    normalized *= scale[:, None]
    return normalized


def positive_degrees(affinity: Array) -> NDArray[Any]:
    """Row sums of an affinity, all of them positive.

    Parameters
    ----------
    affinity : ndarray or sparse matrix of shape (n_samples, n_samples)

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If a row sum is not positive; the message names the sample.
    """
    degrees: NDArray[Any] = np.asarray(affinity.sum(axis=1)).ravel()
    isolated = np.flatnonzero(~(degrees > 0))
    if isolated.size:
        sample = int(isolated[0])
        raise ValueError(
            f"Sample {sample} has degree {degrees[sample]:g} in the affinity ({isolated.size} sample(s) in all have a "
            "degree that is not positive). Every sample needs positive affinity to some sample: use a non-negative "
            "affinity that is not centred, or remove the sample."
        )
    return degrees
