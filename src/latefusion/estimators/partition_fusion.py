"""From the columns of given partitions to their consensus: weights, number of clusters, labels, and the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.utils import check_random_state

from latefusion.arrays import require_memory
from latefusion.assignment import ASSIGNMENTS, LargestVote
from latefusion.encoding.coordinates import Unchanged
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.given_partitions import assigned_samples
from latefusion.partitions.imputation import Fill
from latefusion.partitions.partitions import Block
from latefusion.selection.candidates import sameness
from latefusion.similarities.factor import FactorExtension
from latefusion.similarities.given import GivenMap, centered_basis, indicator
from latefusion.solvers.label_agreement import ComparedPartition, refine_labels
from latefusion.solvers.subspace_consensus import Subspaces
from latefusion.types import SolverResult, Views
from latefusion.validation import check_n_clusters

# One more direction than clusters for every three clusters: with k directions the starting labels are less diverse.
EXTRA_DIRECTIONS = 3
# A partition counts by the square of its number of clusters, up to this multiple of n_clusters: a partition of fewer
# clusters does not say how to separate n_clusters of them, and agreement with it favors merged clusters.
FINEST = 2
# How much the numbers of clusters of the partitions count as evidence, compared with the eigenvalues.
NUMBER_SHARE = 0.25


@dataclass(frozen=True)
class FusionOptions:
    """Options of the consensus, as `ConsensusClustering` has them.

    Attributes
    ----------
    numbers : tuple of int or None
        Numbers of clusters to choose from, ascending; None for all.
    weights : ndarray of shape (n_partitions,) or None
        Given weights; None for those by agreement.
    regularization, tol : float
    max_iter, n_init : int
    assign_labels : str
    random_state : int, RandomState or None
    """

    numbers: tuple[int, ...] | None
    weights: NDArray[np.float64] | None
    regularization: float
    max_iter: int
    tol: float
    assign_labels: str
    n_init: int
    random_state: Any

    def only(self, partitions: Sequence[int]) -> FusionOptions:
        """The options for some of the partitions."""
        return self if self.weights is None else replace(self, weights=self.weights[list(partitions)])

    def counts(self, spaces: Subspaces, n_samples: int) -> NDArray[np.float64]:
        """Weight of every partition."""
        if self.weights is None:
            same = sameness(spaces.overlap())
            return spaces.trust(same, n_samples) / same.sum(axis=1)
        largest = self.weights.max()
        return self.weights / largest if largest > 0 else np.ones(len(self.weights))

    def number(self, values: NDArray[Any], widths: NDArray[np.intp], counts: NDArray[np.float64]) -> int:
        """The number of clusters after which the evidence decreases most."""
        if self.numbers is not None and len(self.numbers) == 1:
            return self.numbers[0]
        finest = int(widths.max())
        padded = np.concatenate([values, np.zeros(finest + 1)])[: finest + 1]
        # k clusters have k - 1 directions beside the constant one.
        as_fine = (widths >= np.arange(1, finest + 2)[:, None]) @ counts / counts.sum()
        evidence = padded + NUMBER_SHARE * as_fine
        decrease = evidence[:-1] - evidence[1:]  # after 2 clusters, 3, ...
        possible = [one for one in self.numbers or range(2, finest + 2) if one < len(evidence) + 1]
        if not possible:
            return min(self.numbers or (2,))
        return max(possible, key=lambda one: float(decrease[one - 2]))

    def starts(self, shared: NDArray[np.float64], n_clusters: int) -> list[NDArray[np.intp]]:
        """Labels of the rows of U; one result per start of k-means."""
        assign = ASSIGNMENTS[self.assign_labels]
        if self.assign_labels != "kmeans":
            return [assign(shared, n_clusters, n_init=self.n_init, random_state=self.random_state)[0]]
        generator = check_random_state(self.random_state)
        return [assign(shared, n_clusters, n_init=1, random_state=generator)[0] for _ in range(self.n_init)]


class FusedPartitions(NamedTuple):
    """The consensus of partitions.

    Attributes
    ----------
    eigenvalues : ndarray
        Of the mean co-membership.
    n_clusters : int
    solution : SolverResult
        Of the iterations.
    weights : ndarray of shape (n_partitions,)
        β; zero for partitions that were left out.
    votes : ndarray of shape (n_samples, n_clusters)
    fitted : ConsensusMap
        From the columns of the partitions to votes and labels.
    """

    eigenvalues: NDArray[np.float64]
    n_clusters: int
    solution: SolverResult
    weights: NDArray[np.float64]
    votes: NDArray[np.float64]
    fitted: ConsensusMap

    @property
    def labels(self) -> NDArray[np.intp]:
        """Clusters of the samples."""
        labels: NDArray[np.intp] = self.fitted.rule.predict(self.votes)
        return labels


def fuse_partitions(views: Views, maps: Sequence[GivenMap], options: FusionOptions) -> FusedPartitions:
    """Find the consensus of partitions.

    Partitions that put all samples into one cluster, as they may in a part of the data, are left out.

    Parameters
    ----------
    views : Views
        The columns of every partition.
    maps : sequence of GivenMap
    options : FusionOptions

    Returns
    -------
    FusedPartitions
    """
    varying = [view for view, given in enumerate(maps) if given.weights.any()]
    used = [maps[view] for view in varying]
    options = options.only(varying)
    columns = hstack([views.arrays[view] for view in varying], format="csr")
    n_samples, width = columns.shape
    require_memory(
        3 * width**2 * 8,
        f"The contingency tables of partitions with {width} clusters in all",
        "Use fewer or coarser partitions.",
    )
    products = (columns.T @ columns).toarray()
    spaces = Subspaces.of([given.weights for given in used], products)
    counts = options.counts(spaces, n_samples)
    spaces = replace(spaces, factors=np.sqrt(counts))
    n_clusters = options.number(spaces.values, spaces.widths, counts)
    check_n_clusters(n_clusters, n_samples)
    n_groups = count_groups(columns, used)
    if n_clusters > n_groups:
        raise ValueError(
            f"n_clusters={n_clusters} is too large: the partitions together distinguish only {n_groups} groups of "
            f"samples. Use at most {n_groups} clusters, or add finer partitions."
        )
    coefficients, result = spaces.fuse(
        n_clusters + n_clusters // EXTRA_DIRECTIONS,
        regularization=options.regularization,
        max_iter=options.max_iter,
        tol=options.tol,
    )
    shared = columns @ np.concatenate([given.weights @ own for given, own in zip(used, coefficients, strict=True)])
    compared = _compared(used, products, counts, n_clusters)
    starts = options.starts(shared, n_clusters)
    best = max((refine_labels(columns, compared, labels, n_clusters) for labels in starts), key=lambda one: one[:2])
    tables = [np.zeros((len(given.weights), n_clusters)) for given in maps]
    weights = np.zeros(len(maps), dtype=np.asarray(result.weights).dtype)
    weights[varying] = np.asarray(result.weights)
    for view, own in zip(varying, _slices(used), strict=True):
        tables[view] = best.votes[own]
    fitted = _table_map(tables)
    votes = fitted.rows(views)
    fitted = replace(fitted, rule=LargestVote.of(votes))
    return FusedPartitions(spaces.values, n_clusters, result, weights, votes, fitted)


def count_groups(columns: csr_array, maps: Sequence[GivenMap]) -> int:
    """The number of groups of samples that the partitions distinguish.

    Parameters
    ----------
    columns : csr_array of shape (n_samples, n_columns)
        Those of all partitions, side by side.
    maps : sequence of GivenMap

    Returns
    -------
    int
    """
    generator = np.random.default_rng(0)
    # Samples with the same clusters have the same product with a random vector; others almost surely do not.
    table = np.concatenate([given.weights @ generator.standard_normal(given.width) for given in maps])
    return len(np.unique(np.round(columns @ table * np.sqrt(columns.shape[0]), 9)))


def partition_agreement(
    views: Views, maps: Sequence[GivenMap], labels: NDArray[np.intp], n_clusters: int
) -> NDArray[np.float64]:
    """Squared cosines between the subspaces of partitions and labels, over the larger dimension.

    Parameters
    ----------
    views : Views
        The columns of every partition.
    maps : sequence of GivenMap
    labels : ndarray of shape (n_samples,)
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_partitions,)
    """
    found = []
    for given, own, assigned in zip(maps, views.arrays, assigned_samples(views).T, strict=True):
        # Samples that are unassigned in a partition do not count as disagreement.
        clusters = indicator(np.where(assigned, labels, -1), n_clusters)
        basis = centered_basis(clusters, np.ones(n_clusters))
        cosines = given.weights.T @ (own.T @ clusters) @ basis
        found.append(np.sum(cosines**2) / max(given.width, basis.shape[1]))
    return np.array(found)


def _compared(
    maps: Sequence[GivenMap], products: NDArray[np.float64], counts: NDArray[np.float64], n_clusters: int
) -> list[ComparedPartition]:
    """The partitions as `refine_labels` compares them with labels; weights sum to one."""
    n_compared = np.minimum([given.width + 1 for given in maps], FINEST * n_clusters)
    weights = counts * n_compared**2
    found = []
    for given, weight, own in zip(maps, weights / weights.sum(), _slices(maps), strict=True):
        within, assigned = products[own, own], given.assigned
        factor = given.co_membership(float(assigned @ within @ assigned))
        found.append(ComparedPartition.of(factor, assigned, within, float(weight)))
    return found


def _slices(maps: Sequence[GivenMap]) -> list[slice]:
    """The columns of every partition."""
    ends = np.cumsum([len(given.weights) for given in maps])
    return [slice(end - len(given.weights), end) for given, end in zip(maps, ends, strict=True)]


def _table_map(tables: Sequence[NDArray[Any]]) -> ConsensusMap:
    """The map whose rows are the sum over partitions of the rows of tables, one row per cluster."""
    n_views, width = len(tables), tables[0].shape[1]
    return ConsensusMap(
        n_views=n_views,
        blocks=tuple(
            Block(view, "given", Unchanged(), FactorExtension(Unchanged()), one) for view, one in enumerate(tables)
        ),
        coefficients=np.tile(np.eye(width), (n_views, 1)),
        rule=None,
        fill=Fill(np.zeros(n_views * width, dtype=bool)),
    )
