"""Partitions that the candidates are fused from: which samples, similarities and eigenvectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.partitions.partitions import Partitions
from latefusion.partitions.sources import Source, count_samples, joint_source, observed_mask
from latefusion.selection.candidates import (
    WEIGHTINGS,
    CandidateSpace,
    fit_space,
    imputed_source,
    keys_of_set,
    similarity_names,
)
from latefusion.selection.options import SearchOptions
from latefusion.selection.table import Candidate

# Eigenvectors per cluster: with four the mean of the similarities is about as good as if it had been formed; many
# clusters need only two.
VECTORS_PER_CLUSTER = (2, 4)
ENOUGH_VECTORS = 160
# The search uses no more samples than this, unless that leaves too few for every cluster.
SEARCH_SAMPLES = 3000
SEARCH_SAMPLES_PER_CLUSTER = 10
# Shared components per cluster from which missing rows are imputed; the first is the default.
COMPONENTS_PER_CLUSTER = (1.0, 0.5, 2.0)


def search_samples(sources: Sequence[Source], n_clusters: int, seed: int) -> NDArray[np.intp] | None:
    """The samples that the search uses, among those that have any view.

    Parameters
    ----------
    sources : sequence of Source
    n_clusters : int
    seed : int

    Returns
    -------
    ndarray of int of shape (n_used,) or None
        In order; None for all.
    """
    n_samples, generator = count_samples(sources), np.random.default_rng(seed)
    chosen = draw_search_samples(n_samples, n_clusters, generator)
    if len(chosen) == n_samples:
        return None
    mask = observed_mask(sources)
    if mask is None:
        return chosen
    chosen = np.flatnonzero(mask.any(axis=1))[chosen]
    # More samples of views that few of these have.
    used = np.isin(np.arange(len(mask)), chosen)
    for observed in mask.T:
        lacking = SEARCH_SAMPLES_PER_CLUSTER * n_clusters - np.count_nonzero(observed & used)
        used[generator.permutation(np.flatnonzero(observed & ~used))[: max(0, lacking)]] = True
    return np.flatnonzero(used)


def draw_search_samples(n_samples: int, n_clusters: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Positions of the samples that the search uses among those that have any view, in order."""
    enough = most_search_samples(n_clusters)
    if n_samples <= enough:
        return np.arange(n_samples)
    return np.sort(generator.choice(n_samples, enough, replace=False))


def most_search_samples(n_clusters: int) -> int:
    """How many samples the search uses at most."""
    return max(SEARCH_SAMPLES, SEARCH_SAMPLES_PER_CLUSTER * n_clusters)


def number_of_vectors(n_clusters: int, n_samples: int) -> int:
    """Eigenvectors of every similarity."""
    least, most = (number * n_clusters for number in VECTORS_PER_CLUSTER)
    return min(max(least, min(most, ENOUGH_VECTORS)), n_samples)


def shared_components(n_clusters: int) -> list[int]:
    """The numbers of shared components from which missing rows are imputed, for all candidates."""
    return [max(1, round(number * n_clusters)) for number in COMPONENTS_PER_CLUSTER]


def fit_views(
    sources: Sequence[Source],
    n_clusters: int,
    options: SearchOptions,
    candidate: Candidate | None = None,
    known: Partitions | None = None,
) -> CandidateSpace:
    """Partitions of single views, without rows for missing views.

    Parameters
    ----------
    sources : sequence of Source
    n_clusters : int
    options : SearchOptions
    candidate : Candidate, default=None
        The only one whose partitions are fitted; by default partitions for all candidates are.
    known : Partitions, default=None
        Partitions of some views of these samples, which are not computed again. No view is missing.

    Returns
    -------
    CandidateSpace
    """
    keys = keys_of_set(sources, None if candidate is None else candidate.similarity)
    if candidate is not None and observed_mask(sources) is not None:  # rows are imputed from these
        keys = list(dict.fromkeys([*keys, *keys_of_set(sources, "both")]))
    n_components = number_of_vectors(n_clusters, count_samples(sources))
    return fit_space(sources, keys, n_components, n_clusters, options.n_jobs, options.prior, known)


def fit_spaces(
    sources: Sequence[Source],
    n_clusters: int,
    options: SearchOptions,
    candidate: Candidate | None = None,
    shares: NDArray[Any] | None = None,
    fitted: CandidateSpace | None = None,
) -> dict[int | None, CandidateSpace]:
    """Partitions of some samples, for every number of shared components from which missing rows are imputed.

    Parameters
    ----------
    sources : sequence of Source
    n_clusters : int
    options : SearchOptions
    candidate : Candidate, default=None
        The only one whose partitions are fitted; by default partitions for all candidates are.
    shares : ndarray of shape (n_views,), default=None
        How much every view counts where all views are put side by side; from the partitions by default.
    fitted : CandidateSpace, default=None
        What `fit_views` returns for the sources and the candidate, perhaps for more clusters; fitted by default.

    Returns
    -------
    dict of int or None to CandidateSpace
        The only key is None if no rows are imputed.
    """
    similarities = options.named.joint(sources, options.missing)
    numbers: list[int | None] = [None]
    if candidate is None:
        together = list(similarities)
        if observed_mask(sources) is not None and options.missing != "zero":
            numbers = list(dict.fromkeys(shared_components(n_clusters)))
    else:
        numbers = [candidate.n_shared_components]
        alone = candidate.weighting == WEIGHTINGS[0]
        together = [] if alone else similarity_names(similarities, candidate.similarity)
    fitted = fit_views(sources, n_clusters, options, candidate) if fitted is None else fitted
    fitted = replace(fitted, n_clusters=n_clusters)
    n_components = number_of_vectors(n_clusters, count_samples(sources))
    found = {}
    for number in numbers:
        space = fitted.filled(options.missing, number)
        if together:
            if space.partitions.mask is not None:
                joint = imputed_source(space, similarities)
            else:
                joint = joint_source(sources, similarities, space.shares if shares is None else shares)
            space = space.with_joint(joint, together, n_components, options.n_jobs)
        found[number] = space
    return found
