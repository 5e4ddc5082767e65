"""Which similarities are fused, and with what factor: from an ensemble to a consensus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.partitions.ensemble import Ensemble, EnsembleKey, fit_ensemble, root_values
from latefusion.partitions.sources import JointSource, SharedSource, ViewSource, known_samples
from latefusion.similarities.graph import NeighborSearch
from latefusion.solvers.late_fusion_spectra import (
    FusedSpectra,
    Member,
    agreement_with_others,
    fuse_spectra,
)

# Kinds of fusion, and the similarities of every view that they consist of. A view that has none of them takes part with
# what it has.
KINDS: dict[str, tuple[str, ...]] = {
    "both": ("graph 10", "kernel"),
    "graph": ("graph 5", "graph 10", "graph 20"),
    "kernel": ("kernel",),
}
# Whether all views count alike, or by how well each agrees with the others, with all views side by side as one more.
WEIGHINGS = ("alike", "by agreement")
# Two views whose base partitions agree more than this begin to count as one; at full agreement they do.
SAME_VIEW = 0.95
# No view is trusted less than this share of the average, lest its weight be zero over zero.
LEAST_TRUST = 1e-3


class Choice(NamedTuple):
    """One way of fusing.

    Attributes
    ----------
    kind : {"both", "graph", "kernel"}
    weighing : {"alike", "by agreement"}
    """

    kind: str
    weighing: str


Plan = Mapping[EnsembleKey, float]


def similarity_names(source: ViewSource | JointSource | SharedSource, kind: str) -> list[str]:
    """The similarities of a view that a kind of fusion consists of; all that it has, if it has none of those."""
    found = [name for name in KINDS[kind] if name in source.similarities]
    return found or list(source.similarities)


@dataclass(frozen=True)
class Fusion:
    """The eigenvectors of all similarities of some samples, and what can be fused from them.

    Attributes
    ----------
    sources : list of ViewSource or JointSource
        One per view, and last all views together where there are several.
    ensemble : Ensemble
    n_views : int
    n_clusters : int
    searches : list of NeighborSearch
        Nearest neighbours in the coordinates of every source.
    """

    sources: Sequence[Any]
    ensemble: Ensemble
    n_views: int
    n_clusters: int
    searches: Sequence[NeighborSearch]

    @classmethod
    def of(
        cls,
        sources: Sequence[Any],
        keys: Sequence[EnsembleKey],
        n_components: int,
        n_clusters: int,
        n_jobs: int | None = None,
    ) -> Fusion:
        """Fit the similarities of views that are named; rows of samples that lack a view are zero."""
        searches = [NeighborSearch(source.coordinates) for source in sources]
        ensemble = fit_ensemble(sources, keys, n_components, n_clusters, searches=searches, n_jobs=n_jobs)
        return cls(sources, ensemble, len(sources), n_clusters, searches)

    def filled(self, missing: str = "impute", n_directions: int | None = None) -> Fusion:
        """The same with rows for samples that lack views, if there are any; see `Ensemble.filled`."""
        scoring = [
            key for key in self.ensemble.keys if key.similarity in similarity_names(self.sources[key.view], "both")
        ]
        return replace(self, ensemble=self.ensemble.filled(missing, self.n_clusters, scoring, n_directions))

    def shared_source(self, similarities: Mapping[str, Any]) -> SharedSource:
        """All views together by their filled-in eigenvectors: those of the kernel, where a view has one."""
        columns, scales = [], []
        for view in range(self.n_views):
            names = [key.similarity for key in self.ensemble.keys if key.view == view]
            name = "kernel" if "kernel" in names else names[0]
            position = self.ensemble.position(EnsembleKey(view, name))
            own = self.ensemble.columns[position]
            columns.append(np.arange(own.start, own.stop))
            roots = root_values(self.ensemble.spectra[position].values, self.n_clusters)
            scales.append(roots * np.sqrt(self.shares[view]))
        known = known_samples(self.ensemble.mask)
        chosen, factors = np.concatenate(columns), np.concatenate(scales)
        basis = self.ensemble.basis() if known is None else self.ensemble.basis()[known]
        coordinates = (basis[:, chosen] * factors).astype(self.ensemble.dtype)
        return SharedSource(chosen, factors, coordinates, similarities, observed=known)

    def with_joint(
        self, joint: JointSource | SharedSource, names: Sequence[str], n_components: int, n_jobs: int | None = None
    ) -> Fusion:
        """The same, with similarities of all views together."""
        sources, searches = [*self.sources, joint], [*self.searches, NeighborSearch(joint.coordinates)]
        keys = [EnsembleKey(self.n_views, name) for name in names]
        more = fit_ensemble(sources, keys, n_components, self.n_clusters, searches=searches, n_jobs=n_jobs)
        return replace(self, sources=sources, ensemble=self.ensemble.joined(more), searches=searches)

    def with_clusters(self, n_clusters: int) -> Fusion:
        """The same eigenvectors for another number of clusters."""
        return replace(self, n_clusters=n_clusters)

    @cached_property
    def overlap(self) -> NDArray[np.float64]:
        """Which views say the same, from 0 to 1."""
        agreement = np.eye(self.n_views)
        names = [{key.similarity for key in self.ensemble.keys if key.view == view} for view in range(self.n_views)]
        for first in range(self.n_views):
            for second in range(first):
                alike = [
                    self.ensemble.agreement(
                        self.ensemble.position(EnsembleKey(first, name)),
                        self.ensemble.position(EnsembleKey(second, name)),
                        self.n_clusters,
                    )
                    for name in names[first] & names[second]
                ]
                agreement[first, second] = agreement[second, first] = min(alike, default=0.0)
        return np.clip((agreement - SAME_VIEW) / (1 - SAME_VIEW), 0.0, 1.0)

    @cached_property
    def presence(self) -> NDArray[np.float64]:
        """The share of the samples that have every view, among those that have any."""
        mask = self.ensemble.mask
        return np.ones(self.n_views) if mask is None else mask[mask.any(axis=1)].mean(axis=0)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """How much every view counts: one, or one over the number of views that say the same."""
        return 1.0 / self.overlap.sum(axis=1)

    def trust(self, kind: str) -> NDArray[np.float64]:
        """How well every view agrees with the others, beyond chance; one on average."""
        keys = self._view_keys(kind)
        agreement = agreement_with_others(
            self.ensemble.root,
            [self._member(key, float(np.sqrt(self.shares[key.view] * self.presence[key.view]))) for key in keys],
            [key.view for key in keys],
            self.overlap,
            self.n_clusters,
            basis=None if self.ensemble.mask is None else self.ensemble.basis(),
            mask=self.ensemble.mask,
        )
        mask = self.ensemble.mask
        judged = self.ensemble.n_samples if mask is None else np.maximum(1, mask[mask.sum(axis=1) > 1].sum(axis=0))
        beyond = np.maximum(agreement - self.n_clusters / judged, 0.0)
        if beyond.max() < np.sqrt(np.finfo(beyond.dtype).eps):  # with as many clusters as samples, all agree by chance
            return np.ones(self.n_views)
        trust: NDArray[np.float64] = np.maximum(beyond / np.average(beyond, weights=self.shares), LEAST_TRUST)
        return trust

    def plan(self, choice: Choice) -> Plan:
        """The similarities of a choice, and the factor of each."""
        weighed = choice.weighing != WEIGHINGS[0]
        trust = self.trust(choice.kind) if weighed else np.ones(self.n_views)
        factors = {}
        for view in range(len(self.sources) if weighed else self.n_views):
            names = similarity_names(self.sources[view], choice.kind)
            weight = 1.0
            if view < self.n_views:
                # Rows that were filled in agree with the others by themselves, and must earn a view no weight.
                weight = np.sqrt(self.shares[view]) * trust[view] * np.sqrt(self.presence[view])
            factors.update({EnsembleKey(view, name): float(weight / np.sqrt(len(names))) for name in names})
        return factors

    def fuse(self, plan: Plan, regularizations: Sequence[float], **options: Any) -> list[FusedSpectra]:
        """The consensus for every λ."""
        members = [self._member(key, factor) for key, factor in plan.items()]
        return fuse_spectra(self.ensemble.root, members, members, self.n_clusters, regularizations, **options)

    def _view_keys(self, kind: str) -> list[EnsembleKey]:
        return [
            EnsembleKey(view, name)
            for view in range(self.n_views)
            for name in similarity_names(self.sources[view], kind)
        ]

    def _member(self, key: EnsembleKey, factor: float) -> Member:
        position = self.ensemble.position(key)
        return Member(self.ensemble.columns[position], self.ensemble.spectra[position].values, factor)
