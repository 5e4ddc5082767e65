"""The number of clusters, from stability between halves of the samples and information about nearest neighbors.

The samples are divided into halves. Each half is clustered on its own, and each clustering labels the other half by its
rule for new samples. The adjusted Rand index of the two clusterings of a half is the stability. Stability alone favors
few clusters, since coarse clusterings are easy to reproduce. The information of clusters about nearest neighbors alone
favors many. Information times the square of the stability is highest where one more cluster is not reproducible, and
one less is less informative.

Data without clusters have stable clusterings too: an elongated cloud is always cut in the middle. So the same is
computed for one Gaussian cloud per view, with the mean and the covariance of the view. If the real data are not more
stable, there is no evidence for clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score

from latefusion.encoding.preparation import Preparation
from latefusion.metrics import neighbor_information
from latefusion.partitions.fitting import mix_rows
from latefusion.partitions.partitions import PartitionKey
from latefusion.partitions.sources import (
    Source,
    count_samples,
    known_samples,
    observed_mask,
    take_samples,
)
from latefusion.progress import progress_range, report_progress
from latefusion.selection.candidates import CandidateSpace, Choice, fit_space, keys_of_set
from latefusion.selection.criterion import find_neighborhoods, standard_error
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
# Principal components that a cloud without clusters has.
CLOUD_COMPONENTS = 50

Assign = Callable[..., Any]


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


@dataclass(frozen=True)
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
    def has_structure(self) -> bool:
        """Whether the best clustering is more stable than that of data without clusters."""
        real = max(self.evidence, key=lambda one: one.score)
        null = next(one for one in self.null if one.n_clusters == real.n_clusters)
        return bool(real.stability - null.stability > 2 * np.hypot(real.standard_error, null.standard_error))

    @property
    def chosen(self) -> NumberEvidence:
        """The evidence for the chosen number: without structure, the most stable one."""
        found = self.has_structure
        return max(self.evidence, key=lambda one: one.score if found else one.stability)

    @property
    def n_clusters(self) -> int:
        """The chosen number."""
        return self.chosen.n_clusters

    @property
    def reason(self) -> str:
        """The choice in a sentence."""
        numbers = [one.n_clusters for one in self.evidence]
        chosen, tried = self.chosen, f"{len(numbers)} numbers"
        if numbers == list(range(numbers[0], numbers[-1] + 1)):
            tried = f"{numbers[0]}–{numbers[-1]}"
        text = f"Number of clusters: {chosen.n_clusters} (best of {tried})."
        if len(numbers) == 1:
            text = f"Number of clusters: {chosen.n_clusters} (the only number that was tried)."
        index = f"{chosen.stability:.2f} ± {chosen.standard_error:.2f}"
        text += f" Stability: adjusted Rand index {index} between halves of the data."
        if self.has_structure:
            return text
        return f"{text} Data of the same shape without clusters are as stable: there is no evidence for clusters."


def choose_number(
    sources: Sequence[Source],
    numbers: Sequence[int],
    choice: Choice,
    assign: Assign,
    seed: int,
) -> NumberOfClusters:
    """Compare several numbers of clusters.

    Parameters
    ----------
    sources : sequence of Source
    numbers : sequence of int
    choice : Choice
    assign : callable
        Turns a consensus and a number of clusters into labels and a rule for new rows.
    seed : int

    Returns
    -------
    NumberOfClusters
    """
    generator = np.random.default_rng(seed)
    sources, splits = _halve(sources, generator)
    trials = _Trials(keys_of_set(sources, choice.similarity), choice, assign)
    with progress_range(0.0, 0.5):
        evidence = trials.evidence(sources, numbers, splits)
    clouds = [_cloud(source, generator) for source in sources]
    with progress_range(0.5, 1.0):
        null = trials.evidence(clouds, numbers, splits)
    return NumberOfClusters(tuple(evidence), tuple(null))


def stability_without_views(
    sources: Sequence[Source], choice: Choice, number: int, assign: Assign, seed: int
) -> NDArray[np.float64]:
    """Stability of a number of clusters between halves: of all views, and without each of them.

    Parameters
    ----------
    sources : sequence of Source
    choice : Choice
    number : int
    assign : callable
    seed : int

    Returns
    -------
    ndarray of shape (n_views + 1, n_splits)
        The first row is that of all views, the others are those without the first, the second, ...
    """
    everything = frozenset(range(len(sources)))
    return _stabilities(
        sources, [everything, *(everything - {view} for view in sorted(everything))], choice, number, assign, seed
    )


def stability_of(
    sources: Sequence[Source], choice: Choice, number: int, assign: Assign, seed: int
) -> NDArray[np.float64]:
    """Stability of a number of clusters between halves, one value per split."""
    return _stabilities(sources, [frozenset(range(len(sources)))], choice, number, assign, seed)[0]


def _stabilities(
    sources: Sequence[Source],
    subsets: Sequence[frozenset[int]],
    choice: Choice,
    number: int,
    assign: Assign,
    seed: int,
) -> NDArray[np.float64]:
    """Stability of a number of clusters from several subsets of the views, shape (n_subsets, n_splits)."""
    sources, splits = _halve(sources, np.random.default_rng(seed))
    trials = _Trials(keys_of_set(sources, choice.similarity), choice, assign)
    wanted = [_Trial(number, views) for views in subsets]
    return np.array([trials.stability(sources, wanted, *split) for split in splits]).T


def _halve(sources: Sequence[Source], generator: np.random.Generator) -> tuple[Sequence[Source], list[Any]]:
    """Sources of not too many samples, each of which has a view, and several ways to cut these into halves."""
    known = known_samples(observed_mask(sources))
    if known is not None:
        sources = take_samples(sources, np.flatnonzero(known))
    n_samples = count_samples(sources)
    if n_samples > NUMBER_SAMPLES:
        chosen = np.sort(generator.choice(n_samples, NUMBER_SAMPLES, replace=False))
        sources, n_samples = [source.take(chosen) for source in sources], NUMBER_SAMPLES
    orders = [generator.permutation(n_samples) for _ in range(N_SPLITS)]
    return sources, [(np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :])) for order in orders]


class _Trial(NamedTuple):
    """A number of clusters, and the views that they are made from."""

    number: int
    views: frozenset[int]


@dataclass(frozen=True)
class _Trials:
    keys: Sequence[PartitionKey]
    choice: Choice
    assign: Assign

    def evidence(self, sources: Sequence[Any], numbers: Sequence[int], splits: Sequence[Any]) -> list[NumberEvidence]:
        """Stability and information of every number."""
        trials = [_Trial(number, frozenset(range(len(sources)))) for number in numbers]
        found = []
        for position, split in enumerate(splits):
            report_progress("number of clusters", position / (len(splits) + 1))
            found.append(self.stability(sources, trials, *split))
        stability = np.array(found)
        report_progress("number of clusters", len(splits) / (len(splits) + 1))
        space = self._fit(sources, max(numbers))
        neighborhoods = find_neighborhoods(space.searches, np.ones(len(sources)), observed_mask(sources))
        rows = []
        for position, (number, _) in enumerate(trials):
            labels, _, _ = self._cluster(space, trials[position])
            information = [neighbor_information(labels, one, number) for one in neighborhoods.views]
            own = stability[:, position]
            rows.append(
                NumberEvidence(
                    number, float(own.mean()), standard_error(own), float(np.mean(information) * np.log(number))
                )
            )
        return rows

    def stability(
        self, sources: Sequence[Any], trials: Sequence[_Trial], first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> list[float]:
        """For every trial, the agreement of what two halves make of each other."""
        greatest = max(trial.number for trial in trials)
        halves = [self._fit([source.take(own) for source in sources], greatest) for own in (first, second)]
        whole = observed_mask(sources)
        # The rows of every half in the blocks of the other.
        crossed = [
            [sources[block.view].cross(block, seen, unseen) for block in half.partitions.blocks]
            for half, seen, unseen in ((halves[0], first, second), (halves[1], second, first))
        ]
        found = []
        for trial in trials:
            clustered = [self._cluster(half, trial) for half in halves]
            scores = []
            for here, there in ((0, 1), (1, 0)):
                _, rule, coefficients = clustered[here]
                mask = None if whole is None else whole[second if here == 0 else first]
                rows = mix_rows(halves[here].partitions, crossed[here], mask, coefficients)
                scores.append(adjusted_rand_score(clustered[there][0], rule.predict(rows)))
            found.append(float(np.mean(scores)))
        return found

    def _fit(self, sources: Sequence[Source], greatest: int) -> CandidateSpace:
        n_components = min(VECTORS_PER_CLUSTER * greatest, count_samples(sources))
        return fit_space(sources, self.keys, n_components, greatest).filled()

    def _cluster(self, space: CandidateSpace, trial: _Trial) -> Any:
        own = replace(space, n_clusters=trial.number)
        plan = {key: factor for key, factor in own.plan(self.choice).items() if key.view in trial.views}
        (fused,) = own.fuse(plan, [1.0])
        labels, rule = self.assign(own.partitions.times(fused.coefficients), trial.number, n_init=N_STARTS)
        return labels, rule, fused.coefficients


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
