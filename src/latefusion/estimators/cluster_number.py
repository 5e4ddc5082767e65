"""How many clusters: the number whose clusters come back from other samples and say most about the data.

The samples are cut into halves. Each half is clustered on its own, and each clustering labels the other half by its
rule for new samples. The adjusted Rand index of the two clusterings of a half is the stability. Alone it favours few
clusters, since coarse cuts are easily found again; how much the clusters say about neighbouring samples alone favours
many. Information times the square of the stability is highest where one more cluster is not found again, and one less
says less.

Data without clusters have stable cuts too: a long cloud is cut in the middle every time. So the same is asked of one
Gaussian cloud per view, of the same shape as the view. Where the real data do no better, there is no structure to be
found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score

from latefusion.estimators.fusion import Choice, Fusion, similarity_names
from latefusion.estimators.search import find_neighborhoods
from latefusion.metrics import neighbor_information
from latefusion.partitions import KernelPartition, PrecomputedPartition
from latefusion.partitions.ensemble import EnsembleKey
from latefusion.partitions.preparation import Preparation
from latefusion.partitions.sources import (
    FeatureSource,
    PartialSource,
    ViewSource,
    count_samples,
    known_samples,
    observed_mask,
    take_samples,
)
from latefusion.progress import progress_range, report_progress

N_SPLITS = 5
# Starts of the label assignment: there are hundreds of clusterings.
N_STARTS = 3
# Samples that are looked at, and the largest number of clusters that "auto" tries.
NUMBER_SAMPLES = 1000
GREATEST_NUMBER = 20
# With fewer samples, halves of them say nothing.
LEAST_SAMPLES = 20
# A cluster of a half should have at least this many samples on average.
LEAST_CLUSTER = 5
VECTORS_PER_CLUSTER = 3
# Principal components that a cloud without clusters has.
CLOUD_COMPONENTS = 50

Assign = Callable[..., Any]


class NumberEvidence(NamedTuple):
    """What speaks for a number of clusters.

    Attributes
    ----------
    n_clusters : int
    stability : float
        Mean adjusted Rand index between halves.
    spread : float
        Its standard error.
    information : float
        What the cluster of a sample says about those of its neighbours, averaged over views, in nats.
    """

    n_clusters: int
    stability: float
    spread: float
    information: float

    @property
    def score(self) -> float:
        """Information times the square of the stability: both halves have to find it."""
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
        """Whether the best clusters come back more often than those of data without clusters do."""
        real = max(self.evidence, key=lambda one: one.score)
        null = next(one for one in self.null if one.n_clusters == real.n_clusters)
        return bool(real.stability - null.stability > 2 * np.hypot(real.spread, null.spread))

    @property
    def chosen(self) -> NumberEvidence:
        """The evidence for the number that was taken: without structure, the one that comes back most often."""
        found = self.has_structure
        return max(self.evidence, key=lambda one: one.score if found else one.stability)

    @property
    def n_clusters(self) -> int:
        """The number that was taken."""
        return self.chosen.n_clusters

    @property
    def reason(self) -> str:
        """The choice in a sentence."""
        chosen = self.chosen
        text = (
            f"{chosen.n_clusters} clusters: found again in other samples with an adjusted Rand index of "
            f"{chosen.stability:.2f} ± {chosen.spread:.2f}, best of {len(self.evidence)} numbers by "
        )
        if self.has_structure:
            return text + "information times squared stability."
        return text + "stability. Data of the same shape without clusters do as well: no sign of clusters here."


def choose_number(
    sources: Sequence[ViewSource],
    numbers: Sequence[int],
    choice: Choice,
    assign: Assign,
    seed: int,
) -> NumberOfClusters:
    """Weigh the evidence for several numbers of clusters.

    Parameters
    ----------
    sources : sequence of ViewSource
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
    weigh = _Weigher(_keys(sources, choice), choice, assign)
    with progress_range(0.0, 0.5):
        evidence = weigh.evidence(sources, numbers, splits)
    clouds = [_cloud(source, generator) for source in sources]
    with progress_range(0.5, 1.0):
        null = weigh.evidence(clouds, numbers, splits)
    return NumberOfClusters(tuple(evidence), tuple(null))


def stability_without_views(
    sources: Sequence[ViewSource], choice: Choice, number: int, assign: Assign, seed: int
) -> NDArray[np.float64]:
    """How well a number of clusters is found again in other samples: from all views, and without each of them.

    Parameters
    ----------
    sources : sequence of ViewSource
    choice : Choice
    number : int
    assign : callable
    seed : int

    Returns
    -------
    ndarray of shape (n_views + 1, n_splits)
        The first row is that of all views, the others are those without the first, the second, ...
    """
    sources, splits = _halve(sources, np.random.default_rng(seed))
    weigh = _Weigher(_keys(sources, choice), choice, assign)
    everything = frozenset(range(len(sources)))
    trials = [_Trial(number, everything), *(_Trial(number, everything - {view}) for view in sorted(everything))]
    return np.array([weigh.stability(sources, trials, *split) for split in splits]).T


def stability_of(
    sources: Sequence[ViewSource], choice: Choice, number: int, assign: Assign, seed: int
) -> NDArray[np.float64]:
    """How well a number of clusters is found again in other samples, one value per split; as above, from all views."""
    sources, splits = _halve(sources, np.random.default_rng(seed))
    weigh = _Weigher(_keys(sources, choice), choice, assign)
    trial = _Trial(number, frozenset(range(len(sources))))
    return np.array([weigh.stability(sources, [trial], *split)[0] for split in splits])


def _keys(sources: Sequence[ViewSource], choice: Choice) -> list[EnsembleKey]:
    return [
        EnsembleKey(view, name) for view, source in enumerate(sources) for name in similarity_names(source, choice.kind)
    ]


def _halve(sources: Sequence[ViewSource], generator: np.random.Generator) -> tuple[Sequence[ViewSource], list[Any]]:
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
class _Weigher:
    keys: Sequence[EnsembleKey]
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
        fusion = self._fit(sources, max(numbers))
        neighborhoods = find_neighborhoods(fusion.searches, np.ones(len(sources)), observed_mask(sources))
        rows = []
        for position, (number, _) in enumerate(trials):
            labels, _, _ = self._cluster(fusion, trials[position])
            information = [neighbor_information(labels, one, number) for one in neighborhoods.views]
            own = stability[:, position]
            spread = float(own.std(ddof=1) / np.sqrt(len(own)))
            rows.append(NumberEvidence(number, float(own.mean()), spread, float(np.mean(information) * np.log(number))))
        return rows

    def stability(
        self, sources: Sequence[Any], trials: Sequence[_Trial], first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> list[float]:
        """For every trial, the agreement of what two halves make of each other."""
        greatest = max(trial.number for trial in trials)
        halves = [self._fit([source.take(own) for source in sources], greatest) for own in (first, second)]
        whole = observed_mask(sources)
        # The rows of every half in the spectra of the other.
        crossed = [
            [
                sources[key.view].cross(key.similarity, one, seen, unseen)
                for key, one in zip(self.keys, half.ensemble.spectra, strict=True)
            ]
            for half, seen, unseen in ((halves[0], first, second), (halves[1], second, first))
        ]
        found = []
        for trial in trials:
            clustered = [self._cluster(half, trial) for half in halves]
            scores = []
            for here, there in ((0, 1), (1, 0)):
                _, rule, coefficients = clustered[here]
                mask = None if whole is None else whole[second if here == 0 else first]
                rows = halves[here].ensemble.mix(crossed[here], mask, coefficients)
                scores.append(adjusted_rand_score(clustered[there][0], rule.predict(rows)))
            found.append(float(np.mean(scores)))
        return found

    def _fit(self, sources: Sequence[Any], greatest: int) -> Fusion:
        n_components = min(VECTORS_PER_CLUSTER * greatest, count_samples(sources))
        return Fusion.of(sources, self.keys, n_components, greatest).filled()

    def _cluster(self, fusion: Fusion, trial: _Trial) -> Any:
        own = fusion.with_clusters(trial.number)
        plan = {key: factor for key, factor in own.plan(self.choice).items() if key.view in trial.views}
        (fused,) = own.fuse(plan, [1.0])
        labels, rule = self.assign(own.ensemble.rows(fused.coefficients), trial.number, n_init=N_STARTS)
        return labels, rule, fused.coefficients


def _cloud(source: ViewSource, generator: np.random.Generator) -> ViewSource:
    """A Gaussian cloud with the mean and the covariance of a view's points, of the same samples."""
    cloud = _complete_cloud(source, generator)
    return cloud if source.observed is None else PartialSource(cloud, source.observed)


def _complete_cloud(source: ViewSource, generator: np.random.Generator) -> FeatureSource:
    points = source.coordinates
    n_components = min(CLOUD_COMPONENTS, points.shape[0] - 1, points.shape[1] - 1)
    if n_components > 0:
        points = TruncatedSVD(n_components, random_state=0).fit_transform(points)
    elif scipy.sparse.issparse(points):
        points = points.toarray()
    drawn = points.mean(axis=0) + points.std(axis=0) * generator.standard_normal(points.shape)
    similarities = {
        name: KernelPartition() if isinstance(one, PrecomputedPartition) else one
        for name, one in source.similarities.items()
    }
    return FeatureSource(Preparation("coordinates"), drawn.astype(points.dtype), similarities)
