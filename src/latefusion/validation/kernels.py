"""Precomputed kernels: square, symmetric, not clearly indefinite, not a distance matrix, not constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from latefusion.arrays import item_bytes, require_memory
from latefusion.kernels import standardize_kernel
from latefusion.similarities import PrecomputedSimilarity
from latefusion.validation.sample_ids import ROWS_AND_COLUMNS, Coordinates

# Relative to the largest entry; published kernels are symmetric to 1e-16.
SYMMETRY_TOLERANCE = 1e-5
# Relative to the largest eigenvalue of the centered, unit-diagonal kernel; rounding stays below 1e-10.
INDEFINITE_TOLERANCE = 0.01
# Up to this size all eigenvalues cost less than a Lanczos run that has to converge at the lower end.
FULL_SPECTRUM_LIMIT = 400
# The kernel made symmetric, and its standardized form.
CHECK_COPIES = 2


def is_precomputed(spec: Any) -> bool:
    """Whether a `similarity` means that its view is a kernel."""
    return isinstance(spec, PrecomputedSimilarity) or (isinstance(spec, str) and spec == "precomputed")


def check_kernel(kernel: Any, name: str, coordinates: Coordinates = ROWS_AND_COLUMNS) -> NDArray[Any]:
    """A precomputed kernel, checked and made exactly symmetric.

    Parameters
    ----------
    kernel : array or sparse matrix of shape (n_samples, n_samples)
        Already numeric and finite.
    name : str
        Name of the view, for error messages.
    coordinates : Coordinates, default=ROWS_AND_COLUMNS
        Names of the samples, for error messages.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    if kernel.shape[0] != kernel.shape[1]:
        raise ValueError(
            f"View {name!r} must be a square kernel (similarity='precomputed'), got shape {kernel.shape}. Pass "
            f"features with another similarity, or the kernel of the training samples."
        )
    require_memory(
        CHECK_COPIES * kernel.shape[0] ** 2 * item_bytes(kernel),
        f"Checking the kernel of view {name!r}, {kernel.shape[0]} x {kernel.shape[1]} numbers in "
        f"{CHECK_COPIES} copies,",
        "Give features with similarity='kernel' (no kernel matrix is formed for large problems), float32 kernels, or "
        "fewer samples.",
    )
    dense = kernel.toarray() if scipy.sparse.issparse(kernel) else np.asarray(kernel)
    size = float(np.max(np.abs(dense)))
    asymmetry = float(np.max(np.abs(dense - dense.T)))
    if asymmetry > SYMMETRY_TOLERANCE * size:
        raise ValueError(
            f"The kernel of view {name!r} is not symmetric: entries differ from their mirror images by up to "
            f"{asymmetry:.3g}. Use (K + K.T) / 2 if that is what you mean."
        )
    diagonal = np.diagonal(dense)
    if diagonal.min() < 0 or size == 0 or diagonal.max() <= 0:
        sample = int(np.argmin(diagonal))
        raise ValueError(
            f"The kernel of view {name!r} has the self-similarity {diagonal[sample]:.3g} in "
            f"{coordinates.sample(sample)}; it must be positive. A matrix of distances D becomes a kernel by "
            f"np.exp(-D**2 / (2 * D.mean()**2))."
        )
    symmetric = (dense + dense.T) / 2
    _check_definite(symmetric, name, coordinates)
    return symmetric


def check_observed_kernel(
    kernel: Any, name: str, observed: NDArray[np.bool_], ids: NDArray[Any] | None
) -> NDArray[Any]:
    """A kernel whose observed part is checked; the rest is zero."""
    if observed.all() or kernel.shape[0] != kernel.shape[1]:
        return check_kernel(kernel, name, Coordinates(ids))
    rows = np.flatnonzero(observed)
    part = check_kernel(kernel[rows][:, rows], name, Coordinates(rows if ids is None else ids[rows]))
    whole = np.zeros(kernel.shape, dtype=part.dtype)
    whole[np.ix_(rows, rows)] = part
    return whole


def _check_definite(kernel: NDArray[Any], name: str, coordinates: Coordinates) -> None:
    if len(kernel) < 2:
        return
    standardized, statistics = standardize_kernel(kernel)
    centered = np.diagonal(kernel) - 2 * statistics.column_means + statistics.mean
    rounding = 8 * np.finfo(kernel.dtype).eps * np.max(np.abs(kernel))
    worst = int(np.argmin(centered))
    if centered[worst] < -max(INDEFINITE_TOLERANCE * np.max(np.abs(centered)), rounding):
        raise ValueError(
            f"The kernel of view {name!r} is indefinite: after centering, {coordinates.sample(worst)} has the "
            f"self-similarity {centered[worst]:.3g}, because other samples are more similar to it than it is to "
            f"itself. Check how the kernel was computed."
        )
    if not np.any(statistics.inverse_root > 0):
        raise ValueError(f"The kernel of view {name!r} is constant, so it cannot separate clusters. Remove this view.")
    lowest, highest = _extreme_eigenvalues(standardized)
    if lowest < -INDEFINITE_TOLERANCE * highest:
        raise ValueError(
            f"The kernel of view {name!r} is indefinite: after centering and scaling, its eigenvalues range from "
            f"{lowest:.3g} to {highest:.3g}, but a kernel must have no negative eigenvalues. Check how the kernel was "
            f"computed, or clip its negative eigenvalues."
        )


def _extreme_eigenvalues(matrix: NDArray[Any]) -> tuple[float, float]:
    if len(matrix) <= FULL_SPECTRUM_LIMIT:
        values = scipy.linalg.eigvalsh(matrix)
        return float(values[0]), float(values[-1])
    operator = scipy.sparse.linalg.aslinearoperator(matrix)
    highest = _largest_eigenvalue(operator)
    # Lanczos stops at an error relative to the eigenvalue, which a lowest one of zero up to rounding never meets. The
    # largest eigenvalue of the mirrored matrix, highest - lowest, is far from zero.
    mirror = scipy.sparse.linalg.aslinearoperator(highest * scipy.sparse.eye_array(len(matrix), dtype=matrix.dtype))
    return highest - _largest_eigenvalue(mirror - operator), highest


def _largest_eigenvalue(operator: Any) -> float:
    start = np.random.default_rng(0).standard_normal(operator.shape[0]).astype(operator.dtype)
    return float(scipy.sparse.linalg.eigsh(operator, 1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0])


def check_cross_kernel(cross: Any, name: str, n_training: int) -> NDArray[Any]:
    """Similarities of new samples to the training samples, shape (n_new, n_training)."""
    dense = cross.toarray() if scipy.sparse.issparse(cross) else np.asarray(cross)
    if dense.shape[1] != n_training:
        raise ValueError(
            f"View {name!r} has {dense.shape[1]} columns, but new samples need their similarities to the {n_training} "
            f"training samples: shape (n_new, {n_training})."
        )
    return dense


def check_diagonals(
    diagonals: Sequence[Any] | Mapping[str, Any] | None, names: Sequence[str], n_samples: int
) -> list[NDArray[Any] | None]:
    """Self-similarities of new samples: one vector per view (or None where the training diagonal is constant)."""
    if diagonals is None:
        return [None] * len(names)
    if isinstance(diagonals, Mapping):
        unknown = [name for name in diagonals if name not in names]
        if unknown:
            raise ValueError(f"diagonals contains unknown views: {unknown}. The views are {list(names)}.")
        diagonals = [diagonals.get(name) for name in names]
    if len(diagonals) != len(names):
        raise ValueError(f"diagonals has {len(diagonals)} entries, but there are {len(names)} views: {list(names)}.")
    checked: list[NDArray[Any] | None] = []
    for name, diagonal in zip(names, diagonals, strict=True):
        vector = None if diagonal is None else np.asarray(diagonal, dtype=np.float64)
        if vector is not None and (vector.shape != (n_samples,) or not np.all(np.isfinite(vector) & (vector >= 0))):
            raise ValueError(
                f"diagonals of view {name!r} must be {n_samples} finite self-similarities k(x, x) >= 0, got shape "
                f"{vector.shape} and values {vector!r:.60}."
            )
        checked.append(vector)
    return checked
