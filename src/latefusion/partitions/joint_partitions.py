"""Base partitions with M from all views side by side, instead of from the mean of their similarities.

With X_p the columns of view p and a_p² one over its mean squared distance, M holds the leading eigenvectors of one
similarity of [a_1 X_1 | … | a_m X_m]. Where views are of one kind, two samples that are near each other in all of them
together are told from two that are so in a single one, which no mean of similarities can do.

Every partition is that of a single view, the last one of a view that is made of all others, so each has a
`BasePartitions` of its own. A new sample that lacks a view has no place among all views side by side: its row of M is
zero, and only the views that it has speak for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from latefusion.partitions.base_partitions import BasePartitions, fit_base_partitions
from latefusion.partitions.neighborhoods import Sizes
from latefusion.partitions.sources import join_coordinates
from latefusion.similarities.extension import Similarity
from latefusion.types import Array


@dataclass(frozen=True)
class JointPartitions(BasePartitions):
    """Base partitions of views, M of all of them side by side, and their extension.

    Attributes
    ----------
    parts : list of BasePartitions
        What extends every view on its own, and last all views side by side; without rows of training samples.
    scales : ndarray of shape (n_views,)
        Factor of every view among all views side by side.
    """

    parts: tuple[BasePartitions, ...] = ()
    scales: NDArray[np.float64] | None = None


def fit_joint_partitions(
    views: Sequence[Array],
    similarities: Sequence[Similarity],
    reference: Similarity,
    n_clusters: int,
    *,
    n_neighbors: Sizes | None = None,
    count_samples: int | None = None,
    n_jobs: int | None = None,
) -> JointPartitions:
    """Base partitions of all views, and of one similarity of all of them side by side.

    Parameters
    ----------
    views : sequence of ndarray or sparse matrices
    similarities : sequence of Similarity
        One per view.
    reference : Similarity
        That of all views side by side.
    n_clusters, n_neighbors, count_samples, n_jobs
        As in `fit_base_partitions`.

    Returns
    -------
    JointPartitions
        The last of ``neighbors`` are those among all views side by side.
    """
    together, scales = join_coordinates(views, np.ones(len(views)))
    fitted = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(fit_base_partitions)(
            [view], [similarity], n_clusters, n_neighbors=n_neighbors, count_samples=count_samples
        )
        for view, similarity in zip([*views, together], [*similarities, reference], strict=True)
    )
    return JointPartitions(
        [one.partitions[0] for one in fitted[:-1]],
        fitted[-1].partitions[0],
        [one.extensions[0] for one in fitted[:-1]],
        [one.projections[0] for one in fitted[:-1]],
        None if n_neighbors is None else [one.neighbors[0] for one in fitted],
        tuple(replace(one, partitions=[], average=one.average[:0]) for one in fitted),
        scales,
    )
