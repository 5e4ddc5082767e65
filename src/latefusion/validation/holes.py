"""Missing views: which samples have which views, and whether these can be fused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from latefusion.types import Array, Views

# Samples named in an error.
SHOWN = 3
# A view is loose if it shares fewer samples per cluster with the others, and less than this part of its samples.
LEAST_SHARED = 10
LOOSE_SHARE = 0.5


def empty_rows(array: Array) -> NDArray[np.bool_]:
    """Rows in which all values are NaN; in a sparse matrix, rows whose stored entries are all NaN, at least one.

    Parameters
    ----------
    array : ndarray or csr_array of shape (n_samples, n_features)

    Returns
    -------
    ndarray of bool of shape (n_samples,)
    """
    if not scipy.sparse.issparse(array):
        empty: NDArray[np.bool_] = np.isnan(array[:, 0])  # one column rules out most rows
        candidates = np.flatnonzero(empty)
        empty[candidates] = np.isnan(array[candidates]).all(axis=1)
        return empty
    stored = np.diff(array.indptr)
    filled = np.bincount(np.repeat(np.arange(len(stored)), stored)[np.isnan(array.data)], minlength=len(stored))
    return (filled == stored) & (stored > 0)


def check_holes(views: Views, n_clusters: int) -> None:
    """Raise an error for training views that cannot be fused.

    Errors are samples without any view, views without any sample or with fewer samples than clusters, and groups of
    samples that share no view.

    Parameters
    ----------
    views : Views
        With a mask.
    n_clusters : int
    """
    assert views.mask is not None
    check_counts(views.names, _counts(views.mask), len(views), n_clusters)


def check_counts(names: Sequence[str], counts: NDArray[np.int64], n_samples: int, n_clusters: int) -> None:
    """Raise an error for views that are missing for too many samples, or that share too few samples.

    Parameters
    ----------
    names : sequence of str
    counts : ndarray of int of shape (n_views, n_views)
        Number of samples that have both views.
    n_samples, n_clusters : int
    """
    sizes = dict(zip(names, np.diag(counts).tolist(), strict=True))
    for name, size in sizes.items():
        if size == 0:
            raise ValueError(f"View {name!r} is missing for all {n_samples} samples. Remove it.")
        if size < max(2, n_clusters):
            raise ValueError(
                f"View {name!r} has {size} of {n_samples} samples, fewer than n_clusters={n_clusters}. Remove this "
                f"view, use fewer clusters, or add samples with this view."
            )
    n_groups, group = _groups(counts)
    if n_groups > 1:
        of_group = [[name for name, one in zip(names, group, strict=True) if one == g] for g in range(n_groups)]
        described = "; ".join(str({name: sizes[name] for name in own}) for own in of_group)
        raise ValueError(
            f"The views form {n_groups} groups that share no sample. Samples per view: {described}. The clusters of "
            f"different groups cannot be matched. Cluster each group on its own, or add samples that have views of "
            f"several groups. If sample ids should match, check that they are written in the same way in all views."
        )


def can_be_fused(mask: NDArray[np.bool_], n_clusters: int) -> bool:
    """Whether every view has enough samples, and all views are linked by samples that they share.

    Parameters
    ----------
    mask : ndarray of bool of shape (n_samples, n_views)
    n_clusters : int

    Returns
    -------
    bool
    """
    return bool(mask.sum(axis=0).min() >= max(2, n_clusters)) and _groups(_counts(mask))[0] == 1


def loose_views(names: Sequence[str], observed: NDArray[np.bool_], n_clusters: int) -> list[str]:
    """Views that share so few samples with the others that the match of their clusters is uncertain.

    Parameters
    ----------
    names : sequence of str
    observed : ndarray of bool of shape (n_samples, n_views)
    n_clusters : int

    Returns
    -------
    list of str
        One warning for each of them.
    """
    warned = []
    for name, own in zip(names, observed.T, strict=True):
        shared = int(np.sum(own & (observed.sum(axis=1) > 1)))
        if len(names) > 1 and shared < min(LEAST_SHARED * n_clusters, LOOSE_SHARE * own.sum()):
            warned.append(
                f"Only {shared} of the {int(own.sum())} samples of view {name!r} are in another view as well. The "
                f"clusters of this view are matched with those of the other views by these samples alone. Check that "
                f"sample ids are written in the same way in all views."
            )
    return warned


def check_some_view(views: Views) -> None:
    """Raise an error for samples without any view."""
    assert views.mask is not None
    unseen = np.flatnonzero(~views.mask.any(axis=1))
    if len(unseen) == len(views) > SHOWN:
        raise ValueError(
            f"All views are missing for all {len(views)} samples. Check that the right columns and rows were read."
        )
    if len(unseen):
        ids: Sequence[Any] = (unseen if views.sample_ids is None else views.sample_ids[unseen]).tolist()
        raise no_view_at_all(ids, len(ids))


def no_view_at_all(ids: Sequence[Any], n_samples: int) -> ValueError:
    """The error for samples without any view, with the first of them."""
    shown = ", ".join(repr(one) for one in ids[:SHOWN])
    more = f" and {n_samples - SHOWN} more" if n_samples > SHOWN else ""
    return ValueError(f"All views are missing for {n_samples} samples: sample {shown}{more}. Remove them.")


def _counts(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of samples that have both of two views."""
    seen = mask.astype(np.int64)
    return seen.T @ seen


def _groups(counts: NDArray[np.int64]) -> tuple[int, NDArray[np.intp]]:
    """How many groups of views share no sample, and the group of every view."""
    n_groups, group = connected_components(counts > 0, directed=False)
    return int(n_groups), group
