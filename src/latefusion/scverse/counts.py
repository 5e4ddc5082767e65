"""Normalisation of counts of molecules per cell.

The total count of a cell is a random effect of sequencing; only proportions are comparable between cells:

=========== ====================================================================================
modality    normalisation of counts
=========== ====================================================================================
``rna``     every cell scaled to 10 000 counts, log(1 + x), principal components
``protein`` centred log ratios: log(1 + x) minus its mean over the proteins of the cell
others      none; estimators scale counts
=========== ====================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from latefusion.types import Array

# Total count of every cell after normalisation.
TARGET_SUM = 1e4
# Principal components of log-normalised expression, as in scanpy.
N_COMPONENTS = 50

# Types of features in files of 10x Genomics.
FEATURE_TYPES = {"gene expression": "rna", "antibody capture": "protein", "peaks": "peaks"}
# Words in the names of modalities.
WORDS = {
    "rna": {"rna", "scrna", "snrna", "mrna", "gex", "gene", "genes", "transcriptome", "expression"},
    "protein": {"prot", "protein", "proteins", "adt", "adts", "cite", "citeseq", "antibody", "antibodies", "ab"},
    "peaks": {"atac", "scatac", "peak", "peaks"},
}


def modality_kind(name: str, feature_types: Iterable[str] = ()) -> str:
    """The kind of a modality: "rna", "protein", "peaks", or "" if neither its features nor its name tell.

    Parameters
    ----------
    name : str
    feature_types : iterable of str, default=()
        Types of its features as in ``var["feature_types"]``; they have precedence over the name.

    Returns
    -------
    str

    Examples
    --------
    >>> from latefusion.scverse.counts import modality_kind
    >>> modality_kind("pbmc_ADT"), modality_kind("x", ["Gene Expression"]), modality_kind("images")
    ('protein', 'rna', '')
    """
    known = {FEATURE_TYPES.get(str(one).lower(), "") for one in feature_types}
    if len(known) == 1:
        return known.pop()
    words = set(re.split(r"[^a-z]+", name.lower()))
    return next((kind for kind, meant in WORDS.items() if words & meant), "")


def are_counts(matrix: Array) -> bool:
    """Whether a matrix contains integers ≥ 0 only, and some larger than 1.

    Parameters
    ----------
    matrix : ndarray or sparse matrix

    Returns
    -------
    bool
    """
    values = matrix.data if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    if values.dtype.kind == "b" or values.size == 0:
        return False
    with np.errstate(invalid="ignore"):  # NaN is not a count
        return bool(values.min() >= 0 and values.max() > 1 and np.all(values == np.round(values)))


def log_normalize(counts: Array) -> Array:
    """Scale every cell to the same sum, then take log(1 + x); sparse matrices stay sparse.

    Parameters
    ----------
    counts : ndarray or CSR matrix of shape (n_cells, n_features)

    Returns
    -------
    ndarray or csr_array of shape (n_cells, n_features)
    """
    counts = _as_float(counts)
    sums = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    factors = (TARGET_SUM / np.where(sums > 0, sums, 1.0)).astype(counts.dtype)  # an empty cell stays empty
    if scipy.sparse.issparse(counts):
        return scipy.sparse.csr_array(scipy.sparse.diags_array(factors) @ counts).log1p()
    return np.log1p(counts * factors[:, None])


def center_log_ratios(counts: Array) -> NDArray[Any]:
    """log(1 + x) minus its mean over the features of a cell, so that every row sums to zero.

    Parameters
    ----------
    counts : ndarray or sparse matrix of shape (n_cells, n_features)

    Returns
    -------
    ndarray of shape (n_cells, n_features)
    """
    counts = _as_float(counts)
    logarithms = np.log1p(counts.toarray() if scipy.sparse.issparse(counts) else counts)
    return logarithms - logarithms.mean(axis=1, keepdims=True)


def comparable(matrix: Array, kind: str) -> Array:
    """Normalised counts; other matrices are returned unchanged.

    Parameters
    ----------
    matrix : ndarray or CSR matrix of shape (n_cells, n_features)
    kind : str
        As `modality_kind` returns it.

    Returns
    -------
    ndarray or csr_array of shape (n_cells, n_features)
    """
    if kind not in ("rna", "protein") or not are_counts(matrix):
        return matrix
    return log_normalize(matrix) if kind == "rna" else center_log_ratios(matrix)


def principal_components(matrix: Array, n_components: int = N_COMPONENTS) -> NDArray[Any]:
    """Coordinates along the directions of largest variance. A sparse matrix is centred implicitly and stays sparse.

    Parameters
    ----------
    matrix : ndarray or CSR matrix of shape (n_cells, n_features)
    n_components : int, default=50

    Returns
    -------
    ndarray of shape (n_cells, at most n_components)
    """
    matrix = _as_float(matrix)
    n_components = min(n_components, min(matrix.shape) - 1)
    solver = "arpack" if scipy.sparse.issparse(matrix) else "auto"
    return np.asarray(PCA(n_components, svd_solver=solver, random_state=0).fit_transform(matrix))


def _as_float(matrix: Array) -> Array:
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)
