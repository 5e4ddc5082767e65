"""Warnings about the data and the result, for the report and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import row_blocks, to_numpy
from latefusion.interpretation.gather import ModelData, ViewData, shorten
from latefusion.interpretation.importance import find_unrelated
from latefusion.selection.alternatives import tie_note
from latefusion.selection.dependence import unrelated_note
from latefusion.summaries import LOW_CONFIDENCE
from latefusion.validation import loose_views

# A cluster is small below this share of the average cluster size; one with a single sample always is.
SMALL_CLUSTER = 0.1
# A column with more than this share of the variance of a view dominates it.
DOMINANT = 0.9
# A view may have this share of samples that are zero in all columns without a warning.
ZERO_ROWS = 0.05
BLOCK_ENTRIES = 2**22


def data_warnings(data: ModelData) -> list[str]:
    """Warn about data that may mislead: missing views, zeros, constant and dominant columns, copies, small clusters.

    Parameters
    ----------
    data : ModelData
        Clusters of single views are not needed.

    Returns
    -------
    list of str
        One sentence or two per warning.
    """
    found = [*_one_view(data.views), *_missing_views(data), *_small_clusters(data)]
    used = getattr(data.model, "observed_", data.observed)
    for position, view in enumerate(data.views):
        if view.kind == "features" and view.observed.any():
            found += zero_rows(view, np.asarray(used)[:, position]) if len(data.views) > 1 else []
            found += _columns(view, scaled=hasattr(data.model, "view_kinds_"))
    is_used = not hasattr(data.model, "unrelated_views_")
    found += [unrelated_note(name, is_used=is_used) for name in find_unrelated(data)]
    return found + _copies(data.views)


def result_warnings(data: ModelData) -> list[str]:
    """Warn about doubtful clusters; estimators give most of these as Python warnings when they are fitted.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    list of str
    """
    model, found = data.model, []
    number = getattr(model, "number_selection_", None)
    if number is not None and number.warning is not None:
        found.append(number.warning)
    if not getattr(model, "converged_", True):
        found.append(f"The method did not converge in {model.n_iter_} iterations. Increase max_iter.")
    alternatives = getattr(model, "alternatives_", ())
    if alternatives:
        found.append(f"{tie_note(alternatives)} The section Model selection lists them.")
    if data.confidence is not None and np.median(data.confidence) < LOW_CONFIDENCE:
        found.append(
            f"Most samples are between clusters (confidence below {LOW_CONFIDENCE}). The borders between clusters are "
            f"uncertain."
        )
    return found


def _one_view(views: Sequence[ViewData]) -> list[str]:
    return ["There is only one view, so no views were fused."] if len(views) == 1 else []


def _small_clusters(data: ModelData) -> list[str]:
    least = max(2, SMALL_CLUSTER * data.n_samples / len(data.clusters))
    small = [
        f"cluster {name} ({size} sample{'s' * (size != 1)})"
        for name, size in zip(data.clusters, data.sizes.tolist(), strict=True)
        if size < least
    ]
    return [f"Small clusters, possibly outliers: {shorten(small, 5)}."] if small else []


def _missing_views(data: ModelData) -> list[str]:
    observed = data.observed
    if observed.all():
        return []
    missing = [f"{np.count_nonzero(~view.observed)} in {view.name}" for view in data.views if not view.observed.all()]
    n_incomplete = np.count_nonzero(~observed.all(axis=1))
    return [
        f"{n_incomplete} of {data.n_samples} samples are not in every view. Missing: {shorten(missing, 5)}.",
        *loose_views([view.name for view in data.views], observed, len(data.clusters)),
    ]


def zero_rows(view: ViewData, used: NDArray[np.bool_]) -> list[str]:
    """Warn if many samples are zero in all columns of a view, such as documents without any known word.

    Parameters
    ----------
    view : ViewData
    used : ndarray of bool of shape (n_samples,)
        Samples for which the model used the view.

    Returns
    -------
    list of str
        At most one warning.
    """
    array = view.array
    if issparse(array):
        filled = np.asarray((array != 0).sum(axis=1)).ravel() > 0
    else:
        blocks = row_blocks(array.shape[0], max(1, BLOCK_ENTRIES // max(1, array.shape[1])))
        filled = np.concatenate([np.any(to_numpy(array[rows]) != 0, axis=1) for rows in blocks])
    n_observed, n_zero = np.count_nonzero(view.observed), np.count_nonzero(view.observed & ~filled)
    if n_zero <= max(1, ZERO_ROWS * n_observed):
        return []
    counted = f"View {view.name}: {n_zero} of its {n_observed} samples are zero in all columns."
    if not np.any(used & ~filled):
        return [f"{counted} Their direction is undefined, so the view was treated as missing for them."]
    return [
        f"{counted} They are treated as similar to each other. If zeros mean missing, replace them by NaN or empty "
        f"cells."
    ]


def _columns(view: ViewData, *, scaled: bool) -> list[str]:
    found = []
    variances = column_variances(view)
    constant = [view.columns[one] for one in np.flatnonzero(variances == 0)]
    if constant:
        counted = "1 column is" if len(constant) == 1 else f"{len(constant)} columns are"
        found.append(f"View {view.name}: {counted} constant and not informative ({shorten(constant, 3)}).")
    largest = int(np.argmax(variances))
    if not scaled and len(variances) > 2 and variances[largest] > DOMINANT * variances.sum():
        found.append(
            f"View {view.name}: column {view.columns[largest]} has {variances[largest] / variances.sum():.0%} of the "
            f"variance and dominates the view. Consider standardising the columns."
        )
    return found


def column_variances(view: ViewData) -> NDArray[np.float64]:
    """Variance of every feature over the observed samples; exactly 0 for a constant feature."""
    array, rows = view.array, np.flatnonzero(view.observed)
    if issparse(array):
        own = array[rows]
        means = np.asarray(own.mean(axis=0)).ravel()
        constant = (own.max(axis=0) - own.min(axis=0)).toarray().ravel() == 0
        return np.where(constant, 0.0, np.maximum(np.asarray(own.power(2).mean(axis=0)).ravel() - means**2, 1e-300))
    first = to_numpy(array[rows[:1]]).astype(np.float64)
    sums, squares, n_samples = np.zeros(first.shape[1]), np.zeros(first.shape[1]), len(rows)
    for block in row_blocks(n_samples, max(1, BLOCK_ENTRIES // first.shape[1])):
        part = to_numpy(array[rows[block]]).astype(np.float64) - first  # exactly zero for constant columns
        sums += part.sum(axis=0)
        squares += (part**2).sum(axis=0)
    variances = np.maximum(squares / n_samples - (sums / n_samples) ** 2, np.finfo(float).tiny)
    return np.where(squares == 0, 0.0, variances)


def _copies(views: Sequence[ViewData]) -> list[str]:
    return [
        f"Views {other.name} and {view.name} contain the same data."
        for position, view in enumerate(views)
        for other in views[:position]
        if view.array is not None and other.array is not None and _equal(view.array, other.array)
    ]


def _equal(first: Any, second: Any) -> bool:
    if first.shape != second.shape or issparse(first) != issparse(second):
        return False
    if issparse(first):
        return (first != second).nnz == 0
    # Two rows are enough to tell most views apart; all rows are compared only if these are equal.
    return all(
        bool(np.array_equal(to_numpy(first[rows]), to_numpy(second[rows])))
        for rows in (slice(0, 2), slice(0, first.shape[0]))
    )
