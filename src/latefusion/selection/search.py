"""The choices of `LateFusionClustering`: number of clusters, similarities, weights of views, λ; all without labels."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from latefusion.assignment import ASSIGNMENTS, fit_linear_discriminant, fit_mixture
from latefusion.partitions.partitions import PartitionKey
from latefusion.partitions.sources import Source, count_samples, joint_source, known_samples, observed_mask
from latefusion.progress import progress_range, report_progress
from latefusion.selection.alternatives import Alternative, alternatives_to, near_ties
from latefusion.selection.candidates import (
    SIMILARITY_SETS,
    WEIGHTINGS,
    CandidateSpace,
    Plan,
    fit_space,
    imputed_source,
    keys_of_set,
    similarity_names,
)
from latefusion.selection.cluster_number import (
    LEAST_CLUSTER,
    LEAST_SAMPLES,
    NUMBER_SAMPLES,
    NumberOfClusters,
    choose_number,
)
from latefusion.selection.criterion import Criterion, joint_neighbors, view_neighbors, view_trust
from latefusion.selection.dependence import unrelated_views, view_dependence
from latefusion.selection.refinement import refine
from latefusion.selection.sources import NamedSimilarities
from latefusion.selection.table import LEAST_BREADTH, Candidate, Selection, broad_candidates, choose
from latefusion.similarities import GivenPartition
from latefusion.solvers.late_fusion_spectra import FusedSpectra

logger = logging.getLogger("latefusion")

# The similarities whose own clusterings a candidate is compared with.
COMPARED = ("graph 10", "kernel", "given")
COMPARED_STARTS = 10
# Starts of the label assignment of a candidate. The chosen one gets all of ``n_init``. Where rows were imputed, all
# candidates do: clusters are less clear there, and a bad start is more likely. So do all candidates of few samples,
# where k-means is cheap and one start more or less can change the choice.
CANDIDATE_STARTS = 4
MANY_STARTS_SAMPLES = 500
REGULARIZATIONS = (1.0, 2.0, 4.0)
# The label assignments among which ``assign_labels="auto"`` chooses; the first serves wherever there is no choice.
AUTOMATIC = ("kmeans", "average", "mixture")
# Eigenvectors per cluster: with four the mean of the similarities is about as good as if it had been formed; many
# clusters need only two.
VECTORS_PER_CLUSTER = (2, 4)
ENOUGH_VECTORS = 160
# The search uses no more samples than this, unless that leaves too few for every cluster.
SEARCH_SAMPLES = 3000
SEARCH_SAMPLES_PER_CLUSTER = 10
# About the share of the time after which the number of clusters is known, and after which all choices are made.
NUMBER_SHARE = 0.6
SEARCH_SHARE = 0.9
# Shared components per cluster from which missing rows are imputed; the first is the default.
COMPONENTS_PER_CLUSTER = (1.0, 0.5, 2.0)


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
    mean : ndarray of shape (n_samples, n_clusters) or None
        M, the partition of the mean similarity, after the fit.
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
    mean: NDArray[Any] | None = None


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
    options = _set_aside(options, unrelated_views(dependence))
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
        plan = space.plan(best.similarity, best.weighting)
        shares = space.shares
        selected = Selected(sources, options, best, selection, number, plan, shares, samples, criterion, dependence)
        ties = tuple(_completed(selected, spaces, one) for one in near_ties(best, broad_candidates(candidates + alone)))
    return replace(selected, ties=ties), space


def _set_aside(options: SearchOptions, unrelated: NDArray[np.bool_]) -> SearchOptions:
    """The same options, without weight for views that are unrelated to all others."""
    if not unrelated.any():
        return options
    prior = np.where(unrelated, 0.0, 1.0 if options.prior is None else options.prior)
    return replace(options, prior=prior / prior[~unrelated].mean())


def _completed(selected: Selected, spaces: Mapping[int | None, CandidateSpace], candidate: Candidate) -> Candidate:
    """A candidate with the labels, and their score, that a model of these samples would have if it were chosen."""
    space = spaces[candidate.n_shared_components]
    if candidate.view is None:
        plan = space.plan(candidate.similarity, candidate.weighting)
    else:
        plan = {PartitionKey(candidate.view, candidate.similarity): 1.0}
    (fused,) = space.fuse(plan, [candidate.regularization], **selected.options.solver)
    rows, as_chosen = space.partitions.times(fused.coefficients), replace(selected, candidate=candidate, samples=None)
    labels, _, name = assign_selected(as_chosen, rows, space.partitions.mask)
    return _with_labels(candidate, labels, selected.criterion)._replace(assign_labels=name)


def _with_labels(candidate: Candidate, labels: NDArray[np.intp], criterion: Criterion) -> Candidate:
    """The candidate with other labels of the samples of the search, and their score."""
    score, own = criterion.score(labels, candidate.n_clusters), labels[criterion.samples].astype(np.int32)
    return candidate._replace(score=score, labels=own)


def find_alternatives(
    selected: Selected, labels: NDArray[np.intp], searched: NDArray[np.intp], view_names: Sequence[str]
) -> tuple[Alternative, ...]:
    """Other clusterings that score as high as the final one within the standard error.

    The final labels are compared with those that a model of the searched samples would have if another candidate were
    chosen: both come from the same label assignments, are refined, and have a score of the same criterion. Labels of
    candidates before the refinement would differ from the final ones by the refinement, too.

    Parameters
    ----------
    selected : Selected
    labels : ndarray of shape (n_searched,)
        Final labels of the samples that the search used.
    searched : ndarray of int of shape (n_searched,)
        Row numbers of these samples among all.
    view_names : sequence of str

    Returns
    -------
    tuple of Alternative
        Best first. Their labels are those of searched samples that have any view.
    """
    criterion = selected.criterion
    chosen = _with_labels(selected.candidate, labels, criterion)
    return alternatives_to(chosen, selected.ties, searched[criterion.samples], view_names)


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
    rare = []
    for observed in mask.T:
        lacking = SEARCH_SAMPLES_PER_CLUSTER * n_clusters - np.count_nonzero(observed[chosen])
        rare.append(generator.permutation(np.flatnonzero(observed))[: max(0, lacking)])
    return np.unique(np.concatenate([chosen, *rare]))


def draw_search_samples(n_samples: int, n_clusters: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Positions of the samples that the search uses among those that have any view, in order."""
    enough = max(SEARCH_SAMPLES, SEARCH_SAMPLES_PER_CLUSTER * n_clusters)
    if n_samples <= enough:
        return np.arange(n_samples)
    return np.sort(generator.choice(n_samples, enough, replace=False))


def number_of_vectors(n_clusters: int, n_samples: int) -> int:
    """Eigenvectors of every similarity."""
    least, most = (number * n_clusters for number in VECTORS_PER_CLUSTER)
    return min(max(least, min(most, ENOUGH_VECTORS)), n_samples)


def shared_components(n_clusters: int) -> list[int]:
    """The numbers of shared components from which missing rows are imputed, for all candidates."""
    return [max(1, round(number * n_clusters)) for number in COMPONENTS_PER_CLUSTER]


def fit_views(
    sources: Sequence[Source], n_clusters: int, options: SearchOptions, candidate: Candidate | None = None
) -> CandidateSpace:
    """Partitions of single views, without rows for missing views.

    Parameters
    ----------
    sources : sequence of Source
    n_clusters : int
    options : SearchOptions
    candidate : Candidate, default=None
        The only one whose partitions are fitted; by default partitions for all candidates are.

    Returns
    -------
    CandidateSpace
    """
    keys = keys_of_set(sources, None if candidate is None else candidate.similarity)
    if candidate is not None and observed_mask(sources) is not None:  # rows are imputed from these
        keys = list(dict.fromkeys([*keys, *keys_of_set(sources, "both")]))
    n_components = number_of_vectors(n_clusters, count_samples(sources))
    return fit_space(sources, keys, n_components, n_clusters, options.n_jobs, options.prior)


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
    partitions, n_clusters = space.partitions, space.n_clusters
    is_cheap = partitions.n_samples <= MANY_STARTS_SAMPLES
    n_init = options.n_init if is_cheap or partitions.mask is not None else min(CANDIDATE_STARTS, options.n_init)
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
            rows = partitions.times(fused.coefficients)
            labels, _ = assign_known(options.assign, rows, partitions.mask, n_clusters, n_init=n_init)
            score, own = criterion.score(labels, n_clusters), labels[criterion.samples].astype(np.int32)
            candidate = Candidate(n_clusters, *choice, value, n_shared_components, assign_labels, score, own)
            if options.verbose:
                logger.info("%s", candidate)
            yield candidate


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
        yield _with_labels(candidate, labels, criterion)


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


def assign_selected(
    selected: Selected, consensus: NDArray[Any], mask: NDArray[np.bool_] | None
) -> tuple[NDArray[np.intp], Any, str]:
    """Labels of the consensus of all samples, and the rule that gives labels to new rows.

    ``assign_labels="auto"`` takes the labels of the highest score of several assignments, refines them, and fits a
    linear discriminant to the result, whose labels are returned. If the search used only some of the samples, so do
    these steps, and the discriminant labels all.

    Parameters
    ----------
    selected : Selected
    consensus : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Which samples have which views; None if no view is missing.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : AssignmentRule
    assign_labels : str
        The chosen assignment.
    """
    options, candidate, criterion = selected.options, selected.candidate, selected.criterion
    n_clusters = candidate.n_clusters
    if options.assign_labels != "auto":
        return *assign_known(options.assign, consensus, mask, n_clusters), options.assign_labels
    rows = consensus if selected.samples is None else consensus[selected.samples]
    known = criterion.samples
    found: dict[str, NDArray[np.intp]] = {}
    for name in AUTOMATIC:
        labels = np.zeros(len(rows), dtype=np.intp)
        if name == "mixture":
            labels[known] = fit_mixture(rows[known], found["kmeans"][known], n_clusters).predict(rows[known])
        else:
            labels[known] = options.assign(rows[known], n_clusters, assign_labels=name)[0]
        found[name] = labels
    scored = [
        candidate._replace(assign_labels=name, score=criterion.score(one, n_clusters).per_entropy(one, n_clusters))
        for name, one in found.items()
    ]
    best = choose(scored, len(known))[0].assign_labels
    labels = refine(found[best], n_clusters, criterion, LEAST_BREADTH * candidate.score.breadth)
    rule = fit_linear_discriminant(rows[known], labels[known], n_clusters)
    return rule.predict(consensus), rule, best


def assign_known(assign: Any, rows: NDArray[Any], mask: NDArray[np.bool_] | None, *args: Any, **options: Any) -> Any:
    """Labels and their rule from the samples that have any view; the rule gives labels to the others.

    Rows of samples without any view coincide. They would be a cluster of their own, or attract a center.

    Parameters
    ----------
    assign : callable
        From rows to labels and a rule for other rows.
    rows : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if no view is missing.
    *args, **options
        Of `assign`.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : object
    """
    known = known_samples(mask)
    if known is None:
        return assign(rows, *args, **options)
    own, rule = assign(rows[known], *args, **options)
    labels = np.asarray(rule.predict(rows))
    labels[known] = own
    return labels, rule
