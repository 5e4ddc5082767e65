"""The choice among the best candidates by the labels that a model would have.

Candidates are scored with the labels of one label assignment. The labels of a model are chosen among several
assignments and refined, which changes scores by more than many candidates differ. So the best candidates are finished:
they get the labels, and their score, that a model with their settings would have. A finalist is chosen instead of the
first candidate if its final labels score higher by more than the standard error of the difference. The others can be
alternatives. Halves of clusters are moved for the chosen one only: it takes time, and changes few clusterings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
from latefusion.selection.label_assignment import Assigned, assign_refined, with_moved_halves
from latefusion.selection.options import Selected, has_all_starts
from latefusion.selection.table import Candidate, broad_candidates, is_gain, revise_choice

# Candidates with other labels that are finished beside the first one, at most.
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
        With the candidate that was chosen so far.
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
    others = near_ties(best, fused, errors=np.inf, share=0.0, most=MOST_FINALISTS)
    views = [one for one in broad if one.view is not None and have_other_labels(one, others)]
    ties = [_finish(selected, spaces, one).finished for one in near_ties(best, views, most=MOST_VIEWS)]
    if not others:
        return replace(selected, ties=tuple(ties))
    finalists = [_finish(selected, spaces, one) for one in (best, *others)]
    winner = _winner(finalists, candidates[0])
    if winner is not finalists[0]:
        chosen, gain = winner.candidate, score_difference(finalists[0].finished, winner.finished)
        row = next(number for number, one in enumerate(candidates) if one is chosen)
        selection = revise_choice(selected.selection, row, str(chosen), len(finalists), *gain)
        space = spaces[chosen.n_shared_components]
        plan = space.plan(chosen.similarity, chosen.weighting)
        selected = replace(selected, candidate=chosen, plan=plan, shares=space.shares, selection=selection)
    selected = replace(selected, ties=(*(one.finished for one in finalists if one is not winner), *ties))
    if selected.samples is not None:
        return selected
    return replace(selected, final=with_moved_halves(selected, winner.rows, winner.assigned))


class Finalist(NamedTuple):
    """A candidate, the same with final labels and their score, the rule that gives these labels, and its rows."""

    candidate: Candidate
    finished: Candidate
    assigned: Assigned
    rows: NDArray[Any]


def _winner(finalists: Sequence[Finalist], default: Candidate) -> Finalist:
    """The finalist of the highest score, or the first one if the gain is within the standard error.

    As among all candidates, one that explains far fewer views than the default is not taken.
    """
    broad = broad_candidates([default, *(one.finished for one in finalists)])[1:]
    first = finalists[0]
    best = max(
        (one for one in finalists if any(one.finished is other for other in broad)),
        key=lambda one: one.finished.score.value,
        default=first,
    )
    return best if is_gain(*score_difference(first.finished, best.finished)) else first


def _finish(selected: Selected, spaces: Mapping[int | None, CandidateSpace], candidate: Candidate) -> Finalist:
    """Give a candidate the labels that a model of the samples of the search would have if it were chosen."""
    space = spaces[candidate.n_shared_components]
    if candidate.view is None:
        plan = space.plan(candidate.similarity, candidate.weighting)
    else:
        plan = {PartitionKey(candidate.view, candidate.similarity): 1.0}
    (fused,) = space.fuse(plan, [candidate.regularization], **selected.options.solver)
    rows, as_chosen = space.partitions.times(fused.coefficients), replace(selected, candidate=candidate, samples=None)
    by_kmeans = candidate.labels if candidate.view is None and has_all_starts(space) else None
    assigned = assign_refined(as_chosen, rows, space.partitions.mask, by_kmeans)
    finished = with_labels(candidate, assigned.labels, selected.criterion)
    return Finalist(candidate, finished._replace(assign_labels=assigned.assign_labels), assigned, rows)


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
