"""The last pass over the rows: from consensus rows to a rule for labels, by sums over pieces."""

from __future__ import annotations

from functools import partial
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
    rows: ChunkedViews, subset: NDArray[Any], assign_labels: str, n_init: int, generator: np.random.RandomState
) -> Any:
    """A rule that labels consensus rows.

    The consensus rows are kept in the memory of the workers if they fit; otherwise each pass of k-means over them reads
    all views again.

    Parameters
    ----------
    rows : ChunkedViews
        The consensus rows of all samples, as the only view.
    subset : ndarray of shape (n_rows, n_clusters)
        Consensus rows of random samples, on which the starts of k-means compete. The other rules use only these rows.
    assign_labels : {"kmeans", "rotation", "cluster_qr", "average", "mixture"}
    n_init : int
    generator : RandomState

    Returns
    -------
    AssignmentRule
    """
    n_clusters = subset.shape[1]
    if assign_labels != "kmeans":
        return ASSIGNMENTS[assign_labels](subset, n_clusters, n_init=n_init, random_state=generator)[1]
    xp = namespace(subset)
    starts, limit = find_starts(unit_rows(subset, xp=xp), n_clusters, n_init=n_init, generator=generator, xp=xp)
    rows = keep(rows, "consensus")

    def gather(centers: Array) -> Any:
        return sum_up(rows, _members, centers, add_members, "k-means")

    return NearestCenter(finish_starts(gather, starts, limit, xp=xp)[0])


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
    kinds = {"labels": (rule.predict, np.intp), "confidence": (rule.confidence, consensus.dtype)}
    labels, confidence = (
        consensus.map_blocks(
            partial(in_one_thread, function), token=name, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype=dtype)
        )
        for name, (function, dtype) in kinds.items()
    )
    return labels, confidence
