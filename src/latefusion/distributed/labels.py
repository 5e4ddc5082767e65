"""The last pass over the rows: from consensus rows to a rule for labels, by sums over pieces."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import namespace, unit_rows
from latefusion.assignment import ASSIGNMENTS, NearestCenter
from latefusion.assignment.kmeans import Members, add_members, find_starts, finish_starts, gather_members
from latefusion.distributed.chunks import ChunkedViews, in_one_thread
from latefusion.distributed.passes import keep, sum_up
from latefusion.types import Array


def fit_rule(
    consensus: da.Array,
    subset: NDArray[Any],
    n_clusters: int,
    *,
    assign_labels: str,
    n_init: int,
    generator: np.random.RandomState,
    scheduler: str | None = None,
) -> tuple[Any, int]:
    """A rule that labels consensus rows.

    Parameters
    ----------
    consensus : dask.array.Array of shape (n_samples, n_clusters)
    subset : ndarray of shape (n_rows, n_clusters)
        Consensus rows of random samples, on which the starts of k-means compete. The other rules use only these rows.
    n_clusters : int
    assign_labels : {"kmeans", "rotation", "cluster_qr"}
    n_init : int
    generator : RandomState
    scheduler : str, default=None
        Address of the scheduler.

    Returns
    -------
    rule : AssignmentRule
    n_passes : int
        Passes over all consensus rows. These are kept in the memory of the workers if they fit; otherwise each pass
        reads all views again.
    """
    if assign_labels != "kmeans":
        return ASSIGNMENTS[assign_labels](subset, n_clusters, n_init=n_init, random_state=generator)[1], 0
    xp = namespace(subset)
    starts, limit = find_starts(unit_rows(subset, xp=xp), n_clusters, n_init=n_init, generator=generator, xp=xp)
    names = ("consensus of all views",)
    rows = ChunkedViews(names, (consensus,), scheduler=scheduler)
    kept = keep(consensus, rows, "consensus")
    if kept is not None:
        rows = ChunkedViews(names, (kept,), scheduler=scheduler)

    def gather(centers: Array) -> Members:
        found: Members = sum_up(rows, _members, centers, add_members, "k-means")
        return found

    centers, n_passes = finish_starts(gather, starts, limit, xp=xp)
    return NearestCenter(centers), n_passes


def _members(centers: Array, start: int, rows: Array) -> Members:
    xp = namespace(rows)
    return gather_members(unit_rows(rows, xp=xp), centers, xp)


def lazy_labels(rule: Any, consensus: da.Array) -> tuple[da.Array, da.Array]:
    """Labels and confidence of consensus rows, as lazy arrays.

    Parameters
    ----------
    rule : AssignmentRule
    consensus : dask.array.Array of shape (n_samples, n_clusters)

    Returns
    -------
    labels, confidence : dask.array.Array of shape (n_samples,)
    """
    labels = consensus.map_blocks(_labels, rule, drop_axis=1, dtype=np.intp, meta=np.empty(0, dtype=np.intp))
    confidence = consensus.map_blocks(
        _confidence, rule, drop_axis=1, dtype=consensus.dtype, meta=np.empty(0, dtype=consensus.dtype)
    )
    return labels, confidence


def _labels(rows: Array, rule: Any) -> Array:
    return in_one_thread(rule.predict, rows)


def _confidence(rows: Array, rule: Any) -> Array:
    return in_one_thread(rule.confidence, rows)
