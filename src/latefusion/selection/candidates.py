"""Candidates: which similarities are fused, and with which factor each.

A candidate fuses some partitions of every view. Views count equally, or in proportion to how well each agrees with the
others; then all views side by side are one more view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.coordinates import ImputedCoordinates
from latefusion.partitions.fitting import block_agreement, fill_missing_rows, fit_partitions, root_values
from latefusion.partitions.partitions import PartitionKey, Partitions
from latefusion.partitions.sources import Source, known_samples
from latefusion.similarities.graph import NeighborSearch
from latefusion.solvers.late_fusion_spectra import (
    FusedSpectra,
    Span,
    WeightedSpectrum,
    agreement_with_others,
    fuse_spectra,
)

# Sets of similarities that are fused. A view that has none of them takes part with
# those that it has.
SIMILARITY_SETS: dict[str, tuple[str, ...]] = {
    "both": ("graph 10", "kernel"),
    "graph": ("graph 5", "graph 10", "graph 20"),
    "kernel": ("kernel",),
}
# Whether all views count equally, or by how well each agrees with the others, with all views side by side as one more.
WEIGHTINGS = ("equal", "agreement")
# Two views whose partitions agree more than this begin to count as one; at full agreement they do.
SAME_VIEW = 0.95
# Least trust in a view, as a share of the average: a weight of zero over zero is undefined.
LEAST_TRUST = 1e-3


# Factors of the partitions that are fused.
Plan = Mapping[PartitionKey, float]


def similarity_names(similarities: Mapping[str, Any], similarity: str | None) -> list[str]:
    """The similarities of a view that a set consists of; all that it has, if it has none of those, or without a set."""
    wanted = similarities if similarity is None else SIMILARITY_SETS[similarity]
    return [name for name in wanted if name in similarities] or list(similarities)


def keys_of_set(sources: Sequence[Source], similarity: str | None = None) -> list[PartitionKey]:
    """Keys of the similarities of all views that a set consists of; of all similarities by default."""
    return [
        PartitionKey(view, name)
        for view, one in enumerate(sources)
        for name in similarity_names(one.similarities, similarity)
    ]


def sameness(agreement: NDArray[np.float64]) -> NDArray[np.float64]:
    """To what extent two views count as one, from 0 to 1, by the agreement of their partitions."""
    return np.clip((agreement - SAME_VIEW) / (1 - SAME_VIEW), 0.0, 1.0)


@dataclass(frozen=True)
class CandidateSpace:
    """Partitions of all similarities of some samples, and everything that can be fused from them.

    Attributes
    ----------
    sources : list of Source
        One per view, and last all views together where there are several.
    partitions : Partitions
    n_views : int
    n_clusters : int
    searches : list of NeighborSearch
        Nearest neighbors in the coordinates of every source.
    prior : ndarray of shape (n_views,) or None
        Factors of the views, one on average; None for equal ones.
    """

    sources: Sequence[Source]
    partitions: Partitions
    n_views: int
    n_clusters: int
    searches: Sequence[NeighborSearch]
    prior: NDArray[np.float64] | None = None

    def filled(self, missing: str = "impute", n_components_shared: int | None = None) -> CandidateSpace:
        """The same with rows for missing views, if there are any; see `fill_missing_rows`."""
        scoring = keys_of_set(self.sources, "both")
        filled = fill_missing_rows(self.partitions, missing, self.n_clusters, scoring, n_components_shared)
        return replace(self, partitions=filled)

    def with_joint(
        self, joint: Source, names: Sequence[str], n_components: int, n_jobs: int | None = None
    ) -> CandidateSpace:
        """The same, with similarities of all views together."""
        sources, searches = [*self.sources, joint], [*self.searches, NeighborSearch(joint.coordinates)]
        keys = [PartitionKey(self.n_views, name) for name in names]
        more = fit_partitions(sources, keys, n_components, self.n_clusters, searches=searches, n_jobs=n_jobs)
        return replace(self, sources=sources, partitions=self.partitions.joined(more), searches=searches)

    @cached_property
    def span(self) -> Span:
        """Inner products of all eigenvectors, and the eigenvectors of few samples."""
        partitions = self.partitions
        few = partitions.n_samples <= partitions.columns[-1].stop
        return Span(partitions.products, partitions.basis() if few else None)

    @cached_property
    def overlap(self) -> NDArray[np.float64]:
        """Which views hold the same information, from 0 to 1, shape (n_views, n_views)."""
        agreement = np.eye(self.n_views)
        names = [{key.name for key in self.partitions.keys if key.view == view} for view in range(self.n_views)]
        for second, first in combinations(range(self.n_views), 2):
            alike = [
                block_agreement(self.partitions, PartitionKey(first, name), PartitionKey(second, name), self.n_clusters)
                for name in names[first] & names[second]
            ]
            agreement[first, second] = agreement[second, first] = min(alike, default=0.0)
        return sameness(agreement)

    @cached_property
    def presence(self) -> NDArray[np.float64]:
        """The share of the samples that have every view, among those that have any."""
        mask = self.partitions.mask
        return np.ones(self.n_views) if mask is None else mask[mask.any(axis=1)].mean(axis=0)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """How much every view counts: its prior factor over the number of views that hold the same information."""
        prior: Any = 1.0 if self.prior is None else self.prior
        return prior / self.overlap.sum(axis=1)

    def trust(self, similarity: str) -> NDArray[np.float64]:
        """How well every view agrees with the others, beyond chance; one on average."""
        keys = keys_of_set(self.sources[: self.n_views], similarity)
        mask = self.partitions.mask
        agreement = agreement_with_others(
            self.span,
            [self._member(key, float(np.sqrt(self.shares[key.view] * self.presence[key.view]))) for key in keys],
            [key.view for key in keys],
            self.overlap,
            self.n_clusters,
            basis=None if mask is None else self.partitions.basis(),
            mask=mask,
        )
        n_compared = (
            self.partitions.n_samples if mask is None else np.maximum(1, mask[mask.sum(axis=1) > 1].sum(axis=0))
        )
        beyond = np.maximum(agreement - self.n_clusters / n_compared, 0.0)
        if beyond.max() < np.sqrt(np.finfo(beyond.dtype).eps):  # with as many clusters as samples, all agree by chance
            return np.ones(self.n_views)
        trust: NDArray[np.float64] = np.maximum(beyond / np.average(beyond, weights=self.shares), LEAST_TRUST)
        return trust

    def plan(self, similarity: str, weighting: str) -> Plan:
        """The partitions of a set of similarities, and the factor of each."""
        key = (similarity, weighting)
        if key not in self._plans:
            self._plans[key] = self._plan(similarity, weighting != WEIGHTINGS[0])
        return self._plans[key]

    @cached_property
    def _plans(self) -> dict[tuple[str, str], Plan]:
        """Plans that were computed before."""
        return {}

    def _plan(self, similarity: str, weighed: bool) -> Plan:
        trust = self.trust(similarity) if weighed else np.ones(self.n_views)
        factors = {}
        for view in range(len(self.sources) if weighed else self.n_views):
            names = similarity_names(self.sources[view].similarities, similarity)
            weight = 1.0
            if view < self.n_views:
                # Imputed rows agree with the other views by construction, and must not raise the weight of a view.
                weight = np.sqrt(self.shares[view]) * trust[view] * np.sqrt(self.presence[view])
            factors.update({PartitionKey(view, name): float(weight / np.sqrt(len(names))) for name in names})
        return factors

    def fuse(self, plan: Plan, regularizations: Sequence[float], **options: Any) -> list[FusedSpectra]:
        """The consensus for every λ; computed once."""
        known = self._fused.setdefault((*plan.items(), *sorted(options.items())), {})
        others = [value for value in regularizations if value not in known]
        if others:
            members = [self._member(key, factor) for key, factor in plan.items()]
            known.update(zip(others, fuse_spectra(self.span, members, self.n_clusters, others, **options), strict=True))
        return [known[value] for value in regularizations]

    @cached_property
    def _fused(self) -> dict[tuple[Any, ...], dict[float, FusedSpectra]]:
        """Consensus partitions that were computed before, by plan and λ."""
        return {}

    def _member(self, key: PartitionKey, factor: float) -> WeightedSpectrum:
        position = self.partitions.position(key)
        return WeightedSpectrum(self.partitions.columns[position], self.partitions.values[position], factor)


def fit_space(
    sources: Sequence[Source],
    keys: Sequence[PartitionKey],
    n_components: int,
    n_clusters: int,
    n_jobs: int | None = None,
    prior: NDArray[np.float64] | None = None,
    known: Partitions | None = None,
) -> CandidateSpace:
    """Fit the named similarities of views, but for known partitions; rows of missing views are zero."""
    searches = [NeighborSearch(source.coordinates) for source in sources]
    partitions = fit_partitions(sources, keys, n_components, n_clusters, searches=searches, known=known, n_jobs=n_jobs)
    return CandidateSpace(sources, partitions, len(sources), n_clusters, searches, prior)


def imputed_source(space: CandidateSpace, similarities: Mapping[str, Any]) -> Source:
    """All views together by their imputed eigenvectors: those of the kernel, where a view has one.

    Parameters
    ----------
    space : CandidateSpace
        With imputed rows.
    similarities : mapping of str to Similarity

    Returns
    -------
    Source
    """
    partitions = space.partitions
    columns, scales = [], []
    for view in range(space.n_views):
        names = [key.name for key in partitions.keys if key.view == view]
        position = partitions.position(PartitionKey(view, "kernel" if "kernel" in names else names[0]))
        own = partitions.columns[position]
        columns.append(np.arange(own.start, own.stop))
        scales.append(root_values(partitions.values[position], space.n_clusters) * np.sqrt(space.shares[view]))
    known = known_samples(partitions.mask)
    chosen, factors = np.concatenate(columns), np.concatenate(scales)
    basis = partitions.basis() if known is None else partitions.basis()[known]
    coordinates = (basis[:, chosen] * factors).astype(partitions.dtype)
    encoding = ImputedCoordinates(chosen, factors, coordinates.dtype)
    return Source("joint", coordinates, similarities, encoding, known)
