"""MuData objects as views: one modality is one view. mudata is not imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.datasets.joining import Part, join_samples
from latefusion.types import Array, Views


def is_mudata(X: Any) -> bool:
    """Whether X is a MuData object."""
    return hasattr(X, "mod") and hasattr(X, "obsmap") and hasattr(X, "obs_names")


def modality_views(mdata: Any, matrices: Mapping[str, Any] | None = None) -> Views:
    """The modalities of a MuData object, rows in the order of its samples.

    Parameters
    ----------
    mdata : MuData
    matrices : mapping of str to array of shape (n_samples of the modality, n_features), default=None
        The matrix of every modality, by name; the matrix ``X`` of each of them when None.

    Returns
    -------
    Views
        With ``sample_ids``, and a mask if modalities do not contain all samples.
    """
    if getattr(mdata, "axis", 0) == 1:
        raise ValueError("The modalities of this MuData share variables (axis=1), not samples, so they are not views.")
    if matrices is None:
        matrices = {name: modality.X for name, modality in mdata.mod.items()}
    if not matrices:
        raise ValueError("No modalities were given. Give at least one.")
    order = _unique(mdata.obs_names, "This MuData")
    parts = {}
    for name, matrix in matrices.items():
        where = f"modality {name!r}"
        ids = _unique(mdata.mod[name].obs_names, f"Modality {name!r}")
        parts[str(name)] = Part(in_memory(matrix, where), ids, where)
    return join_samples(parts, order.tolist())


def in_memory(matrix: Any, where: str) -> Array:
    """A matrix of an AnnData object as an array or CSR matrix."""
    if matrix is None:
        raise ValueError(f"{where} has no matrix X. Give a representation in its obsm.")
    if hasattr(matrix, "to_memory"):  # sparse, in a file
        matrix = matrix.to_memory()
    if hasattr(matrix, "to_numpy"):  # a data frame
        matrix = matrix.to_numpy()
    array = scipy.sparse.csr_array(matrix) if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{where} has the shape {array.shape} and the type {array.dtype}, but a view is a table of numbers."
        )
    return array


def _unique(names: Any, where: str) -> NDArray[Any]:
    if not names.is_unique:
        raise ValueError(
            f"{where} has the sample {names[names.duplicated()][0]!r} more than once: make names unique with "
            f"obs_names_make_unique()."
        )
    return np.asarray(names, dtype=str)
