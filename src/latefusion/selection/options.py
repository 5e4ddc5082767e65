"""What the search is asked to do, and what it chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.assignment import ASSIGNMENTS
from latefusion.partitions.partitions import Partitions
from latefusion.partitions.sources import Source
from latefusion.selection.candidates import CandidateSpace, Plan
from latefusion.selection.cluster_number import LEAST_CLUSTER, NUMBER_SAMPLES, NumberOfClusters
from latefusion.selection.criterion import Criterion
from latefusion.selection.sources import NamedSimilarities
from latefusion.selection.table import Candidate, Selection

# The label assignments among which ``assign_labels="auto"`` chooses; the first serves wherever there is no choice.
AUTOMATIC = ("kmeans", "average", "mixture")
# Starts of the label assignment of a candidate. The best ones get all of ``n_init`` when they are finished. Where rows
# were imputed, all candidates do: clusters are less clear there, and a bad start is more likely. So do all candidates
# of few samples, where k-means is cheap and one start more or less can change the choice.
CANDIDATE_STARTS = 4
MANY_STARTS_SAMPLES = 500


@dataclass(frozen=True)
class SearchOptions:
    """Parameters of the search, as those of `LateFusionClustering`.

    Attributes
    ----------
    n_clusters : int, "auto" or sequence of int
    numbers : list of int
        The numbers of clusters, ascending: a single one, or those to try.
    regularizations : tuple of float
        Values of λ to try.
    named : NamedSimilarities
    missing : {"impute", "zero"}
    assign_labels : str
    n_init : int
    seed : int
    solver : dict
        Of `solve_alignment`: ``init``, ``max_iter``, ``tol``.
    n_jobs : int or None
    verbose : bool
        Log every candidate.
    prior : ndarray of shape (n_views,) or None
        Factors of the views, one on average; None for equal ones.
    """

    n_clusters: Any
    numbers: list[int]
    regularizations: tuple[float, ...]
    named: NamedSimilarities
    missing: str
    assign_labels: str
    n_init: int
    seed: int
    solver: Mapping[str, Any]
    n_jobs: int | None = None
    verbose: bool = False
    prior: NDArray[np.float64] | None = None

    def numbers_for(self, n_samples: int) -> list[int]:
        """The numbers of clusters to try that are not too large for the samples; at least one."""
        limit = min(n_samples, NUMBER_SAMPLES) // (2 * LEAST_CLUSTER if isinstance(self.n_clusters, str) else 2)
        return [one for one in self.numbers if one <= limit] or self.numbers[:1]

    def assign(
        self, consensus: NDArray[Any], n_clusters: int, n_init: int | None = None, assign_labels: str | None = None
    ) -> Any:
        """Labels of consensus rows, and the rule that gives labels to new rows."""
        name = assign_labels or self.assign_labels
        assign = ASSIGNMENTS[AUTOMATIC[0] if name == "auto" else name]
        return assign(consensus, n_clusters, n_init=n_init or self.n_init, random_state=self.seed)


@dataclass(frozen=True)
class Selected:
    """The training data and the outcome of the search, which diagnostics need.

    Attributes
    ----------
    sources : sequence of Source
    options : SearchOptions
    candidate : Candidate
        The chosen one.
    selection : Selection
        All candidates.
    number_selection : NumberOfClusters or None
        The evidence for the number of clusters, where it was chosen.
    plan : mapping of PartitionKey to float
        The partitions to fuse, and the factor of each.
    shares : ndarray of shape (n_views,)
        How much every view counts.
    samples : ndarray of int or None
        The samples that the search used; None for all.
    criterion : Criterion
        The score of clusterings of these samples.
    dependence : ndarray of shape (n_views, n_views)
        How related views are; see `view_dependence`.
    ties : tuple of Candidate
        Candidates that tie with the chosen one, with the labels that a model of the searched samples would have if
        they were chosen.
    final : Assigned or None
        Labels of all samples and their rule, if the chosen candidate was finished on all samples.
    mean : ndarray of shape (n_samples, n_clusters) or None
        M, the partition of the mean similarity, after the fit.
    partitions : tuple of Partitions
        Of single views: all similarities for the samples of the search, and, if there are more samples, the chosen ones
        for all samples. Kept after the fit so that a view can be added. Empty if views are missing, and in pickles:
        they would double the size, and can be computed again.
    without_hints : ndarray of shape (n_samples, n_clusters) or None
        The consensus without hints, if hints were followed.
    """

    sources: Sequence[Source]
    options: SearchOptions
    candidate: Candidate
    selection: Selection
    number_selection: NumberOfClusters | None
    plan: Plan
    shares: NDArray[np.float64]
    samples: NDArray[np.intp] | None
    criterion: Criterion
    dependence: NDArray[np.float64]
    ties: tuple[Candidate, ...] = ()
    final: Any = None
    mean: NDArray[Any] | None = None
    without_hints: NDArray[Any] | None = None
    partitions: tuple[Partitions, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "partitions": ()}


def has_all_starts(space: CandidateSpace) -> bool:
    """Whether candidates get all starts of the label assignment.

    Parameters
    ----------
    space : CandidateSpace

    Returns
    -------
    bool
    """
    return space.partitions.n_samples <= MANY_STARTS_SAMPLES or space.partitions.mask is not None
