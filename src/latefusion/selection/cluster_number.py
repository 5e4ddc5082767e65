"""The number of clusters, from stability between halves of the samples and information about nearest neighbors.

The samples are divided into halves. Each half is clustered on its own, and each clustering labels the other half by its
rule for new samples. The adjusted Rand index of the two clusterings of a half is the stability. Stability alone favors
few clusters, since coarse clusterings are easy to reproduce. The information of clusters about nearest neighbors alone
favors many. Information times the square of the stability is highest where one more cluster is not reproducible, and
one less is less informative.

Data without clusters have stable clusterings too: an elongated cloud is always cut in the middle. So the same is
computed for one Gaussian cloud per view, with the mean and the covariance of the view. If the real data are not more
stable, there is no evidence for clusters.

Numbers whose stability is below `WEAK` are not compared by information, which grows with the number: among clusterings
that other samples do not reproduce, it would prefer many clusters. If no number is stable enough, or the best one is
not more stable than without clusters, the structure is weak. Then the smallest number is chosen whose stability is
within one standard error (of the difference) of the highest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

from latefusion.arrays import on_host
from latefusion.encoding.preparation import Preparation
from latefusion.metrics import neighbor_information
from latefusion.metrics.information import label_tables, table_rand_indices
from latefusion.partitions.fitting import mix_rows
from latefusion.partitions.sources import Source, count_samples, known_samples, observed_mask, take_samples
from latefusion.progress import progress_range, report_progress
from latefusion.results import ResultTable
from latefusion.selection.candidates import WEIGHTINGS, CandidateSpace, fit_space, keys_of_set
from latefusion.selection.criterion import standard_error, view_neighbors
from latefusion.similarities import KernelSimilarity, PrecomputedSimilarity

N_SPLITS = 5
# Starts of the label assignment; few, since there are hundreds of clusterings.
N_STARTS = 3
# Samples that are compared, and the largest number of clusters that "auto" tries.
NUMBER_SAMPLES = 1000
GREATEST_NUMBER = 20
# Halves of fewer samples are too small to compare.
LEAST_SAMPLES = 20
# A cluster of a half should have at least this many samples on average.
LEAST_CLUSTER = 5
VECTORS_PER_CLUSTER = 3
# Structure is weak if no number of clusters has a stability of at least this.
WEAK = 0.4
# Principal components that a cloud without clusters has.
CLOUD_COMPONENTS = 50

Assign = Callable[..., Any]
# The samples of two halves.
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class NumberEvidence(NamedTuple):
    """The evidence for one number of clusters.

    Attributes
    ----------
    n_clusters : int
    stability : float
        Mean adjusted Rand index between halves.
    standard_error : float
        Its standard error.
    information : float
        Information of the cluster of a sample about those of its nearest neighbors, averaged over views, in nats.
    """

    n_clusters: int
    stability: float
    standard_error: float
    information: float

    @property
    def score(self) -> float:
        """Information times the square of the stability."""
        return max(self.stability, 0.0) ** 2 * self.information

    @property
    def score_error(self) -> float:
        """Standard error of the score, from that of the stability by linearization."""
        return 2 * max(self.stability, 0.0) * self.standard_error * self.information


@dataclass(frozen=True, repr=False)
class NumberOfClusters:
    """The choice of the number of clusters.

    Attributes
    ----------
    evidence : tuple of NumberEvidence
        One per number that was tried.
    null : tuple of NumberEvidence
        The same of data without clusters.
    """

    evidence: tuple[NumberEvidence, ...]
    null: tuple[NumberEvidence, ...]

    @property
    def best(self) -> NumberEvidence:
        """The evidence with the highest score among numbers that are stable enough; among all, if none is."""
        stable = [one for one in self.evidence if one.stability >= WEAK]
        return max(stable or self.evidence, key=lambda one: one.score)

    @property
    def has_structure(self) -> bool:
        """Whether the best clustering is significantly more stable than that of data without clusters."""
        real = self.best
        null = next(one for one in self.null if one.n_clusters == real.n_clusters)
        return real.stability - null.stability > 2 * _error_of_difference(real, null)

    @property
    def is_weak(self) -> bool:
        """Whether no number has a stability of at least 0.4, or data without clusters are as stable as the best."""
        return self.best.stability < WEAK or not self.has_structure

    @property
    def chosen(self) -> NumberEvidence:
        """The evidence for the chosen number.

        That with the highest score. For weak structure, the smallest number whose stability is within one standard
        error of the highest stability.
        """
        if not self.is_weak:
            return self.best
        top = max(self.evidence, key=lambda one: one.stability)
        near = (one for one in self.evidence if top.stability - one.stability <= _error_of_difference(top, one))
        return min(near, key=lambda one: one.n_clusters)

    @property
    def n_clusters(self) -> int:
        """The chosen number."""
        return self.chosen.n_clusters

    @property
    def tied(self) -> tuple[NumberEvidence, ...]:
        """Other numbers whose score is lower than that of the chosen one by at most the standard error.

        Empty for weak structure, where numbers are not compared by the score.
        """
        if self.is_weak:
            return ()
        best, others = self.best, (one for one in self.evidence if one.stability >= WEAK)
        return tuple(
            one
            for one in others
            if one is not best and best.score - one.score <= float(np.hypot(best.score_error, one.score_error))
        )

    @property
    def reason(self) -> str:
        """The choice in a few sentences."""
        numbers = [one.n_clusters for one in self.evidence]
        tried = f"{len(numbers)} numbers"
        if numbers == list(range(numbers[0], numbers[-1] + 1)):
            tried = f"{numbers[0]}–{numbers[-1]}"
        how = f"smallest of the most stable among {tried}" if self.is_weak else f"best of {tried}"
        if len(numbers) == 1:
            how = "the only number that was tried"
        text = (
            f"Number of clusters: {self.n_clusters} ({how}). Stability: {self._stability} between halves of the data."
        )
        if not self.has_structure:
            return f"{text} Data of the same shape without clusters are as stable: there is no evidence for clusters."
        if self.is_weak:
            return f"{text} Structure is weak: no number has a stability of {WEAK} or more."
        return f"{text} {_tie_sentence(self.tied)}" if self.tied else text

    @property
    def warning(self) -> str | None:
        """What weak structure means for the clusters, and what to do; None if structure is not weak."""
        if not self.is_weak:
            return None
        number = f"{self.n_clusters} clusters"
        found = f"Weak structure: clusterings of {number} from different halves of the data have an {self._stability}"
        meaning = "Other samples of the same kind would give different clusters."
        if self.has_structure:
            found = f"{found}. No number of clusters reaches {WEAK}."
        else:
            found = f"{found}, as data of the same shape without clusters do: there is no evidence for clusters."
            meaning = "The clusters may be arbitrary parts of one group."
        return (
            f"{found} {meaning} Do not interpret single clusters without checking them against other data. Compare "
            f"clusters of single views, remove views of noise, or set the number of clusters if it is known."
        )

    def to_table(self) -> ResultTable:
        """The evidence as a table: one row per number, the stability of data without clusters, and the chosen number.

        Returns
        -------
        ResultTable
        """
        without = {one.n_clusters: one.stability for one in self.null}
        columns: dict[str, list[Any]] = {
            "n_clusters": [one.n_clusters for one in self.evidence],
            "stability": [one.stability for one in self.evidence],
            "standard_error": [one.standard_error for one in self.evidence],
            "without_clusters": [without[one.n_clusters] for one in self.evidence],
            "information": [one.information for one in self.evidence],
            "score": [one.score for one in self.evidence],
            "chosen": [one.n_clusters == self.n_clusters for one in self.evidence],
        }
        return ResultTable(columns, [self.reason], {"chosen": lambda one: "*" if one else ""})

    def __repr__(self) -> str:
        return repr(self.to_table())

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()

    @property
    def _stability(self) -> str:
        chosen = self.chosen
        return f"adjusted Rand index of {chosen.stability:.2f} ± {chosen.standard_error:.2f}"


def _tie_sentence(tied: Sequence[NumberEvidence]) -> str:
    """A sentence about numbers that score as high as the chosen one."""
    each = [f"{one.n_clusters} (stability {one.stability:.2f} ± {one.standard_error:.2f})" for one in tied]
    listed = each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
    return f"Within the standard error, other numbers score as high: {listed}."


def _error_of_difference(first: NumberEvidence, second: NumberEvidence) -> float:
    """Standard error of the difference of two stabilities."""
    return float(np.hypot(first.standard_error, second.standard_error))


def choose_number(
    sources: Sequence[Source],
    numbers: Sequence[int],
    assign: Assign,
    seed: int,
    prior: NDArray[np.float64] | None = None,
) -> NumberOfClusters:
    """Compare several numbers of clusters.

    Parameters
    ----------
    sources : sequence of Source
    numbers : sequence of int
    assign : callable
        Turns a consensus and a number of clusters into labels and a rule for new rows.
    seed : int
    prior : ndarray of shape (n_views,), default=None
        Factors of the views; equal by default.

    Returns
    -------
    NumberOfClusters
    """
    generator = np.random.default_rng(seed)
    sources, splits = _halve(sources, generator)
    trials = [_Trial(number, range(len(sources)), "both", assign, prior) for number in numbers]
    with progress_range(0.0, 0.5):
        evidence = _evidence(sources, trials, splits)
    clouds = [_cloud(source, generator) for source in sources]
    with progress_range(0.5, 1.0):
        null = _evidence(clouds, trials, splits)
    return NumberOfClusters(tuple(evidence), tuple(null))


def stabilities(
    sources: Sequence[Source],
    subsets: Sequence[Collection[int]],
    similarity: str,
    n_clusters: int,
    assign: Assign,
    seed: int,
    prior: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Stability of a number of clusters between halves of the samples, from several subsets of the views.

    Parameters
    ----------
    sources : sequence of Source
    subsets : sequence of collection of int
        Positions of views.
    similarity : {"both", "graph", "kernel"}
    n_clusters : int
    assign : callable
    seed : int
    prior : ndarray of shape (n_views,), default=None
        Factors of the views; equal by default.

    Returns
    -------
    ndarray of shape (n_subsets, n_splits)
    """
    sources, splits = _halve(sources, np.random.default_rng(seed))
    trials = [_Trial(n_clusters, views, similarity, assign, prior) for views in subsets]
    return np.array([_split_stability(sources, split, trials) for split in splits]).T


def _halve(sources: Sequence[Source], generator: np.random.Generator) -> tuple[Sequence[Source], list[Split]]:
    """Sources of not too many samples, each of which has a view, and several ways to cut these into halves."""
    known = known_samples(observed_mask(sources))
    if known is not None:
        sources = take_samples(sources, np.flatnonzero(known))
    n_samples = count_samples(sources)
    if n_samples > NUMBER_SAMPLES:
        chosen = np.sort(generator.choice(n_samples, NUMBER_SAMPLES, replace=False))
        sources, n_samples = [source.take(chosen) for source in sources], NUMBER_SAMPLES
    sources = [replace(source, coordinates=on_host(source.coordinates)) for source in sources]
    orders = [generator.permutation(n_samples) for _ in range(N_SPLITS)]
    return sources, [(np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :])) for order in orders]


class _Trial(NamedTuple):
    """A number of clusters, the views, similarities and factors they are made from, and how labels are assigned."""

    n_clusters: int
    views: Collection[int]
    similarity: str
    assign: Assign
    prior: NDArray[np.float64] | None

    def cluster(self, space: CandidateSpace) -> tuple[Any, Any, NDArray[Any]]:
        """Labels, their rule, and the coefficients of the consensus."""
        own = replace(space, n_clusters=self.n_clusters, prior=self.prior)
        plan = {key: one for key, one in own.plan(self.similarity, WEIGHTINGS[0]).items() if key.view in self.views}
        (fused,) = own.fuse(plan, [1.0])
        labels, rule = self.assign(own.partitions.times(fused.coefficients), self.n_clusters, n_init=N_STARTS)
        return labels, rule, fused.coefficients


def _evidence(sources: Sequence[Source], trials: Sequence[_Trial], splits: Sequence[Split]) -> list[NumberEvidence]:
    """Stability and information of every number."""
    stability = []
    for position, split in enumerate(splits):
        report_progress("number of clusters", position / (len(splits) + 1))
        stability.append(_split_stability(sources, split, trials))
    report_progress("number of clusters", len(splits) / (len(splits) + 1))
    space = _fit_space(sources, trials)
    neighbors = view_neighbors(space.searches, observed_mask(sources))
    found = []
    for trial, own in zip(trials, np.transpose(stability), strict=True):
        number, labels = trial.n_clusters, trial.cluster(space)[0]
        informations = [neighbor_information(labels, one, number) for one in neighbors]
        information = np.average(informations, weights=trial.prior) * np.log(number)
        found.append(NumberEvidence(number, float(own.mean()), standard_error(own), float(information)))
    return found


def _split_stability(sources: Sequence[Source], split: Split, trials: Sequence[_Trial]) -> list[float]:
    """For every trial, the agreement of the labels that two halves give to each other with their own."""
    mask = observed_mask(sources)
    halves = []
    for seen, unseen in (split, split[::-1]):
        space = _fit_space([source.take(seen) for source in sources], trials)
        crossed = [sources[block.view].cross(block, seen, unseen) for block in space.partitions.blocks]
        halves.append((space, crossed, None if mask is None else mask[unseen]))
    found = []
    for trial in trials:
        own, given = [], []
        for space, crossed, presence in halves:
            labels, rule, coefficients = trial.cluster(space)
            own.append(labels)
            given.append(rule.predict(mix_rows(space.partitions, crossed, presence, coefficients)))
        tables = [label_tables(*pair, trial.n_clusters) for pair in zip(own[::-1], given, strict=True)]
        found.append(float(np.mean(table_rand_indices(np.concatenate(tables)))))
    return found


def _fit_space(sources: Sequence[Source], trials: Sequence[_Trial]) -> CandidateSpace:
    """Partitions for all trials, which have the same similarities."""
    greatest = max(trial.n_clusters for trial in trials)
    n_components = min(VECTORS_PER_CLUSTER * greatest, count_samples(sources))
    return fit_space(sources, keys_of_set(sources, trials[0].similarity), n_components, greatest).filled()


def _cloud(source: Source, generator: np.random.Generator) -> Source:
    """A Gaussian cloud with the mean and the covariance of a view's coordinates, of the same samples."""
    points = source.coordinates
    n_components = min(CLOUD_COMPONENTS, points.shape[0] - 1, points.shape[1] - 1)
    if n_components > 0:
        points = TruncatedSVD(n_components, random_state=0).fit_transform(points)
    elif scipy.sparse.issparse(points):
        points = points.toarray()
    drawn = points.mean(axis=0) + points.std(axis=0) * generator.standard_normal(points.shape)
    similarities = {
        name: KernelSimilarity() if isinstance(one, PrecomputedSimilarity) else one
        for name, one in source.similarities.items()
    }
    plain = Preparation("coordinates")
    return Source(plain.kind, drawn.astype(points.dtype), similarities, plain, source.observed)
