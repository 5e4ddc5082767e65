"""One more view for a fitted model, whose choices are kept and whose views are not fitted again.

Kept are the number of clusters, the similarities, the weighting, λ, the number of shared components, the samples that
the search used, and the partitions of single views, if no view is missing. What depends on all views together is
computed again: weights, the partitions of all views side by side, the mean partition, the criterion and the labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from sklearn.exceptions import ConvergenceWarning

from latefusion.partitions.partitions import Partitions
from latefusion.partitions.sources import Source, observed_mask
from latefusion.progress import report_progress
from latefusion.selection.candidates import CandidateSpace
from latefusion.selection.dependence import unrelated_views, view_dependence
from latefusion.selection.options import SearchOptions, Selected
from latefusion.selection.search import fit_criterion, score_fusion, set_aside
from latefusion.selection.spaces import fit_spaces, fit_views, shared_components


def select_as_before(
    before: Selected, sources: Sequence[Source], options: SearchOptions
) -> tuple[Selected, CandidateSpace]:
    """The choices of a model for more views of the same samples.

    Parameters
    ----------
    before : Selected
        Of the model.
    sources : sequence of Source
        Those of the model, then those of more views.
    options : SearchOptions

    Returns
    -------
    selected : Selected
    space : CandidateSpace
        The partitions of the samples that the search used.
    """
    mask, n_clusters = observed_mask(sources), before.candidate.n_clusters
    dependence = view_dependence([one.coordinates for one in sources], mask, options.seed)
    options = set_aside(options, unrelated_views(dependence))
    report_progress("similarities", 0.0)
    searched = sources if before.samples is None else [one.take(before.samples) for one in sources]
    known = before.partitions[0] if before.partitions and mask is None else None
    fitted = fit_views(searched, n_clusters, options, known=known)
    spaces = fit_spaces(searched, n_clusters, options, fitted=fitted)
    chosen = before.candidate
    if chosen.n_shared_components not in spaces:  # views were complete before
        number = shared_components(n_clusters)[0]
        chosen = chosen._replace(n_shared_components=number if number in spaces else None)
    space = spaces[chosen.n_shared_components]
    plan = space.plan(chosen.similarity, chosen.weighting)
    with warnings.catch_warnings():  # as in the search
        warnings.simplefilter("ignore", ConvergenceWarning)
        criterion = fit_criterion(list(spaces.values()), options)
        (fused,) = space.fuse(plan, [chosen.regularization], **options.solver)
        score, labels = score_fusion(space, fused, criterion, options)
    selected = replace(
        before,
        sources=sources,
        options=options,
        candidate=chosen._replace(score=score, labels=labels),
        plan=plan,
        shares=space.shares,
        criterion=criterion,
        dependence=dependence,
        ties=(),
        final=None,
        mean=None,
    )
    return selected, space


def fit_all_samples(selected: Selected) -> CandidateSpace | None:
    """Partitions of single views of all samples, for `fuse_selected`; None if the search used all samples."""
    if selected.samples is None:
        return None
    known = selected.partitions[1] if len(selected.partitions) > 1 and _is_complete(selected) else None
    return fit_views(selected.sources, selected.candidate.n_clusters, selected.options, selected.candidate, known)


def of_views(searched: CandidateSpace, fused: CandidateSpace) -> tuple[Partitions, ...]:
    """Partitions of single views that a model keeps; none if views are missing.

    Parameters
    ----------
    searched : CandidateSpace
        Of the samples that the search used.
    fused : CandidateSpace
        Of all samples; the same object if the search used all.

    Returns
    -------
    tuple of Partitions
    """
    if searched.partitions.mask is not None or fused.partitions.mask is not None:
        return ()
    spaces = [searched] if searched is fused else [searched, fused]
    return tuple(
        one.partitions.restricted([key for key in one.partitions.keys if key.view < one.n_views]) for one in spaces
    )


def _is_complete(selected: Selected) -> bool:
    return observed_mask(selected.sources) is None
