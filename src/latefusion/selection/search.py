"""The choices of `LateFusionClustering`: number of clusters, similarities, weights of views, λ; all without labels."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from latefusion.partitions.partitions import PartitionKey
from latefusion.partitions.sources import Source, count_samples, known_samples, observed_mask
from latefusion.progress import progress_range, report_progress
from latefusion.selection.candidates import SIMILARITY_SETS, WEIGHTINGS, CandidateSpace
from latefusion.selection.cluster_number import LEAST_SAMPLES, NUMBER_SAMPLES, NumberOfClusters, choose_number
from latefusion.selection.criterion import Criterion, Score, joint_neighbors, view_neighbors, view_trust
from latefusion.selection.dependence import unrelated_views, view_dependence
from latefusion.selection.finalists import choose_finalist, with_labels
from latefusion.selection.label_assignment import assign_known
from latefusion.selection.options import AUTOMATIC, CANDIDATE_STARTS, SearchOptions, Selected, has_all_starts
from latefusion.selection.spaces import fit_spaces, search_samples
from latefusion.selection.table import Candidate, choose
from latefusion.similarities import GivenPartition
from latefusion.solvers.late_fusion_spectra import FusedSpectra

logger = logging.getLogger("latefusion")

# The similarities whose own clusterings a candidate is compared with.
COMPARED = ("graph 10", "kernel", "given")
COMPARED_STARTS = 10
REGULARIZATIONS = (1.0, 2.0, 4.0)
# About the share of the time after which the number of clusters is known, and after which all choices are made.
NUMBER_SHARE = 0.6
SEARCH_SHARE = 0.9


def select(sources: Sequence[Source], options: SearchOptions) -> tuple[Selected, CandidateSpace]:
    """Choose the number of clusters, the similarities, the weights of views and λ.

    Parameters
    ----------
    sources : sequence of Source
        One per view.
    options : SearchOptions

    Returns
    -------
    selected : Selected
    space : CandidateSpace
        The partitions that the search fitted for the chosen imputation.
    """
    dependence = view_dependence([one.coordinates for one in sources], observed_mask(sources), options.seed)
    options = set_aside(options, unrelated_views(dependence))
    number, n_clusters, begun = None, options.numbers[0], 0.0
    if not isinstance(options.n_clusters, Integral):
        with progress_range(0.0, NUMBER_SHARE):
            number = find_number(sources, options)
        n_clusters, begun = number.n_clusters, NUMBER_SHARE
    report_progress("similarities", begun)
    samples = search_samples(sources, n_clusters, options.seed)
    spaces = fit_spaces(sources if samples is None else [one.take(samples) for one in sources], n_clusters, options)
    with warnings.catch_warnings():
        # A single view may separate fewer groups than there are clusters. Its clustering is used all the same, and so
        # are those of candidates that are not chosen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        with progress_range((begun + SEARCH_SHARE) / 2, SEARCH_SHARE):
            criterion = fit_criterion(list(spaces.values()), options)
            candidates = _all_candidates(spaces, criterion, options)
            alone = list(_single_views(spaces, criterion, candidates[0], options))
        best, selection = choose(candidates, count_samples(next(iter(spaces.values())).sources))
        space = spaces[best.n_shared_components]
        plan, shares = space.plan(best.similarity, best.weighting), space.shares
        selected = Selected(sources, options, best, selection, number, plan, shares, samples, criterion, dependence)
        selected = choose_finalist(selected, spaces, candidates, alone)
    return selected, spaces[selected.candidate.n_shared_components]


def set_aside(options: SearchOptions, unrelated: NDArray[np.bool_]) -> SearchOptions:
    """The same options, without weight for views that are unrelated to all others.

    Parameters
    ----------
    options : SearchOptions
    unrelated : ndarray of bool of shape (n_views,)

    Returns
    -------
    SearchOptions
    """
    if not unrelated.any():
        return options
    prior = np.where(unrelated, 0.0, 1.0 if options.prior is None else options.prior)
    return replace(options, prior=prior / prior[~unrelated].mean())


def fuse_selected(
    selected: Selected, space: CandidateSpace, fitted: CandidateSpace | None = None
) -> tuple[CandidateSpace, FusedSpectra]:
    """Fuse the chosen partitions of all samples.

    Parameters
    ----------
    selected : Selected
    space : CandidateSpace
        That of the search; partitions are fitted again if the search used only some of the samples.
    fitted : CandidateSpace, default=None
        Partitions of single views of all samples, as for `fit_spaces`.

    Returns
    -------
    space : CandidateSpace
    fused : FusedSpectra
    """
    options, candidate = selected.options, selected.candidate
    if selected.samples is not None:
        spaces = fit_spaces(selected.sources, candidate.n_clusters, options, candidate, selected.shares, fitted)
        space = spaces[candidate.n_shared_components]
    (fused,) = space.fuse(selected.plan, [candidate.regularization], **options.solver)
    return space, fused


def find_number(sources: Sequence[Source], options: SearchOptions) -> NumberOfClusters:
    """Choose the number of clusters.

    Parameters
    ----------
    sources : sequence of Source
    options : SearchOptions

    Returns
    -------
    NumberOfClusters
    """
    n_samples = count_samples(sources)
    if n_samples < LEAST_SAMPLES:
        raise ValueError(
            f"n_clusters={options.n_clusters!r} compares halves of the samples and needs at least {LEAST_SAMPLES} of "
            f"them, got {n_samples}. Set n_clusters to an integer."
        )
    # The samples are halved, and in each half every view needs some.
    fewest = min(one.coordinates.shape[0] for one in sources) * min(1.0, NUMBER_SAMPLES / n_samples)
    if fewest < LEAST_SAMPLES < n_samples:
        raise ValueError(
            f"n_clusters={options.n_clusters!r} needs about {LEAST_SAMPLES} samples in every view among the "
            f"{min(n_samples, NUMBER_SAMPLES)} that are compared, but one view has about {fewest:.0f}. Set n_clusters "
            f"to an integer, or remove this view."
        )
    # Given labels are the same in every half: their number of clusters would always be stable.
    is_free = np.array([not isinstance(one.similarities.get("given"), GivenPartition) for one in sources])
    used = np.flatnonzero(is_free if is_free.any() else ~is_free).tolist()
    prior = None if options.prior is None else options.prior[used]
    numbers = options.numbers_for(n_samples)
    found = choose_number([sources[view] for view in used], numbers, options.assign, options.seed, prior)
    if found.warning is not None:
        warnings.warn(found.warning, UserWarning, stacklevel=2)
    return found


def _all_candidates(
    spaces: Mapping[int | None, CandidateSpace], criterion: Criterion, options: SearchOptions
) -> list[Candidate]:
    """All similarities, weights of views, λ and imputations, with their scores."""
    candidates: list[Candidate] = []
    for position, (number, space) in enumerate(spaces.items()):
        with progress_range(position / len(spaces), (position + 1) / len(spaces)):
            candidates += _candidates(space, criterion, number, options)
    return candidates


def _candidates(
    space: CandidateSpace, criterion: Criterion, n_shared_components: int | None, options: SearchOptions
) -> Iterator[Candidate]:
    n_clusters = space.n_clusters
    assign_labels = AUTOMATIC[0] if options.assign_labels == "auto" else options.assign_labels
    seen = set()
    choices = list(product(SIMILARITY_SETS, WEIGHTINGS))
    for position, choice in enumerate(choices):
        report_progress(f"candidates, {position + 1} of {len(choices)}", position / len(choices))
        plan = space.plan(*choice)
        if tuple(plan.items()) in seen:  # views that leave no choice make several choices equal
            continue
        seen.add(tuple(plan.items()))
        solutions = space.fuse(plan, options.regularizations, **options.solver)
        for value, fused in zip(options.regularizations, solutions, strict=True):
            score, own = score_fusion(space, fused, criterion, options)
            candidate = Candidate(n_clusters, *choice, value, n_shared_components, assign_labels, score, own)
            if options.verbose:
                logger.info("%s", candidate)
            yield candidate


def score_fusion(
    space: CandidateSpace, fused: FusedSpectra, criterion: Criterion, options: SearchOptions
) -> tuple[Score, NDArray[np.int32]]:
    """Score and labels of a fusion, by one label assignment.

    Parameters
    ----------
    space : CandidateSpace
    fused : FusedSpectra
    criterion : Criterion
    options : SearchOptions

    Returns
    -------
    score : Score
    labels : ndarray of shape (n_compared,)
        Of the samples of the criterion.
    """
    partitions, n_clusters = space.partitions, space.n_clusters
    n_init = options.n_init if has_all_starts(space) else min(CANDIDATE_STARTS, options.n_init)
    rows = partitions.times(fused.coefficients)
    labels, _ = assign_known(options.assign, rows, partitions.mask, n_clusters, n_init=n_init)
    return criterion.score(labels, n_clusters), labels[criterion.samples].astype(np.int32)


def _compared_keys(space: CandidateSpace) -> list[PartitionKey]:
    """Partitions of single views whose own clusterings a candidate is compared with."""
    return [key for key in space.partitions.keys if key.view < space.n_views and key.name in COMPARED]


def _single_views(
    spaces: Mapping[int | None, CandidateSpace], criterion: Criterion, default: Candidate, options: SearchOptions
) -> Iterator[Candidate]:
    """Clusterings of single views: they cannot be chosen, but they can be alternatives.

    If two views contain different clusters, all fusions may follow the same view, and which one may be chance.
    """
    number, space = next(iter(spaces.items()))
    partitions, n_clusters = space.partitions, space.n_clusters
    found = [own for several in criterion.view_labels for own in several]
    for key, labels in zip(_compared_keys(space), found, strict=True):
        if labels.min() < 0:  # samples for which the view is missing have imputed rows
            rows = partitions.vectors[partitions.position(key)][:, :n_clusters]
            labels, _ = assign_known(options.assign, rows, partitions.mask, n_clusters, n_init=COMPARED_STARTS)
        candidate = default._replace(similarity=key.name, n_shared_components=number, view=key.view)
        yield with_labels(candidate, labels, criterion)


def fit_criterion(spaces: Sequence[CandidateSpace], options: SearchOptions) -> Criterion:
    """The criterion that scores candidates: the same for all, however missing rows were imputed.

    Parameters
    ----------
    spaces : sequence of CandidateSpace
        One per imputation.
    options : SearchOptions

    Returns
    -------
    Criterion
    """
    space = spaces[0]
    partitions, mask = space.partitions, space.partitions.mask
    view_labels: list[list[NDArray[np.intp]]] = [[] for _ in range(space.n_views)]
    for key in _compared_keys(space):
        rows = partitions.vectors[partitions.position(key)][:, : space.n_clusters]
        observed = slice(None) if mask is None else mask[:, key.view]
        labels = np.full(len(rows), -1)
        labels[observed] = options.assign(rows[observed], space.n_clusters, n_init=COMPARED_STARTS)[0]
        view_labels[key.view].append(labels)
    joint = [one.searches[-1] for one in spaces if len(one.searches) > one.n_views]
    searches, presence = space.searches[: space.n_views], space.shares * space.presence
    weights = presence * view_trust(view_labels, presence)
    return Criterion(
        joint_neighbors(searches, space.shares, mask, joint),
        view_neighbors(searches, mask),
        view_labels,
        weights / weights.sum(),
        presence / presence.sum(),
        known_samples(mask),
    )
