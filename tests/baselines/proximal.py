"""Reference implementations on dense matrices, for methods that work on factors of low rank."""

import numpy as np


def lower_dense_singular_values(matrix, threshold):
    """The proximal point of ``threshold`` times the nuclear norm, and its nuclear norm."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    lowered = np.maximum(values - threshold, 0.0)
    return left * lowered @ right, lowered.sum()
