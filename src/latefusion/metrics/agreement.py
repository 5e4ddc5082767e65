"""How much two partitions agree, without labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import to_numpy


def subspace_agreement(partition: NDArray[Any], consensus: NDArray[Any]) -> float:
    """Mean cosine of the principal angles between the column spaces of two partitions.

    Parameters
    ----------
    partition, consensus : ndarray of shape (n_samples, n_clusters)
        With orthonormal columns (zero columns count as disagreement).

    Returns
    -------
    float
        ‖partitionᵀ consensus‖_* / n_clusters: 1 for the same subspace, 0 for orthogonal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.metrics import subspace_agreement
    >>> basis = np.eye(4)
    >>> subspace_agreement(basis[:, :2], basis[:, 1:3])
    0.5
    """
    cosines = np.linalg.svd(to_numpy(partition.T @ consensus), compute_uv=False)
    return float(min(1.0, cosines.sum() / consensus.shape[1]))
