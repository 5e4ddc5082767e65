"""The choice among candidates whose scores do not differ significantly, by the labels that a model would have.

Candidates are scored with the labels of one label assignment. The labels of a model are chosen among several
assignments and refined, which changes scores by more than many candidates differ. So the best candidates are finished:
they get the labels, and their score, that a model with their settings would have. A finalist is chosen instead of the
best candidate if its final labels score higher by more than the standard error of the difference. The others can be
alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latefusion.partitions.partitions import PartitionKey
from latefusion.selection.alternatives import (
    Alternative,
    alternatives_to,
    have_other_labels,
    near_ties,
    score_difference,
)
from latefusion.selection.candidates import CandidateSpace
from latefusion.selection.criterion import Criterion
from latefusion.selection.label_assignment import assign_selected
from latefusion.selection.options import Selected
from latefusion.selection.table import Candidate, broad_candidates, is_gain, revise_choice

# Scores that are lower by at most so many standard errors of the difference are not significantly lower.
SIGNIFICANT = 2.0
# Candidates with other labels that are finished beside the best one, at most. Also small differences before the
# refinement can become large ones.
MOST_FINALISTS = 6
# Clusterings of single views that are finished, at most.
MOST_VIEWS = 2


def choose_finalist(
    selected: Selected,
    spaces: Mapping[int | None, CandidateSpace],
    candidates: Sequence[Candidate],
    alone: Sequence[Candidate],
) -> Selected:
    """Compare the best candidates by their final labels.

    Parameters
    ----------
    selected : Selected
        With the best candidate.
    spaces : mapping of int or None to CandidateSpace
        Partitions of the samples of the search, by the number of shared components.
    candidates : sequence of Candidate
        All of them; the first is the default.
    alone : sequence of Candidate
        Clusterings of single views, which can be alternatives but cannot be chosen.

    Returns
    -------
    Selected
        With the chosen candidate, and the others as ties.
    """
    best, broad = selected.candidate, broad_candidates([*candidates, *alone])
    fused = [one for one in broad if one.view is None]
    others = near_ties(best, fused, errors=SIGNIFICANT, share=0.0, most=MOST_FINALISTS)
    views = [one for one in broad if one.view is not None and have_other_labels(one, others)]
    finished = [_finished(selected, spaces, one) for one in (best, *others)] if others else [best]
    ties = [_finished(selected, spaces, one) for one in near_ties(best, views, most=MOST_VIEWS)]
    position = _position_of_best(finished, candidates[0])
    if position > 0:
        chosen = others[position - 1]
        row = next(number for number, one in enumerate(candidates) if one is chosen)
        gain = score_difference(finished[0], finished[position])
        selection = revise_choice(selected.selection, row, str(chosen), len(finished), *gain)
        space = spaces[chosen.n_shared_components]
        plan = space.plan(chosen.similarity, chosen.weighting)
        selected = replace(selected, candidate=chosen, plan=plan, shares=space.shares, selection=selection)
    rest = [one for number, one in enumerate(finished) if number != position]
    return replace(selected, ties=(*rest, *ties))


def _position_of_best(finished: Sequence[Candidate], default: Candidate) -> int:
    """The finished candidate to take; 0 is the one that was best before."""
    first, broad = finished[0], broad_candidates([default, *finished])[1:]
    best = max(broad, key=lambda one: one.score.value, default=first)
    if best is first or not is_gain(*score_difference(first, best)):
        return 0
    return next(number for number, one in enumerate(finished) if one is best)


def _finished(selected: Selected, spaces: Mapping[int | None, CandidateSpace], candidate: Candidate) -> Candidate:
    """A candidate with the labels, and their score, that a model of these samples would have if it were chosen."""
    space = spaces[candidate.n_shared_components]
    if candidate.view is None:
        plan = space.plan(candidate.similarity, candidate.weighting)
    else:
        plan = {PartitionKey(candidate.view, candidate.similarity): 1.0}
    (fused,) = space.fuse(plan, [candidate.regularization], **selected.options.solver)
    rows, as_chosen = space.partitions.times(fused.coefficients), replace(selected, candidate=candidate, samples=None)
    labels, _, name = assign_selected(as_chosen, rows, space.partitions.mask)
    return with_labels(candidate, labels, selected.criterion)._replace(assign_labels=name)


def with_labels(candidate: Candidate, labels: NDArray[np.intp], criterion: Criterion) -> Candidate:
    """The candidate with other labels of the samples of the search, and their score.

    Parameters
    ----------
    candidate : Candidate
    labels : ndarray of shape (n_searched,)
    criterion : Criterion

    Returns
    -------
    Candidate
    """
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
    chosen = with_labels(selected.candidate, labels, criterion)
    return alternatives_to(chosen, selected.ties, searched[criterion.samples], view_names)
