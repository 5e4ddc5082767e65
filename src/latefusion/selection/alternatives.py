"""Near ties: other clusterings of the same samples that score as high as the chosen one within the standard error.

A candidate ties with the chosen one if its score is lower by at most the standard error of the difference, which is
paired over parts of the samples. A higher score is possible: single views are compared but never chosen, and final
labels come from all samples. Only ties with other labels matter. Samples between two clusters change their label
with almost any setting, so clusterings that differ on at most 5 % of the samples count as the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.metrics import match_labels
from latefusion.selection.criterion import standard_error
from latefusion.selection.table import Candidate, describe_settings

# Clusterings are the same if they differ on at most this share of the samples, or on at most so many of them.
FEW_SHARE = 0.05
FEW_SAMPLES = 3
# Alternatives that are listed.
MOST_ALTERNATIVES = 4


class Alternative(NamedTuple):
    """Another clustering that scores as high as the chosen one within the standard error.

    Attributes
    ----------
    labels : ndarray of shape (n_compared,)
        Cluster of every compared sample if the model had these settings. Clusters have the names of the most similar
        clusters of the model.
    samples : ndarray of int of shape (n_compared,)
        Row numbers of the compared samples: those that the search used and that have any view. ``labels[i]`` is the
        label of the sample in row ``samples[i]``.
    moved : ndarray of int
        Row numbers of the compared samples whose label is another one than in the model.
    view : str or None
        The only view that is used, with one similarity; None if all views are fused.
    similarity, weighting : str
    regularization : float
    n_shared_components : int or None
    assign_labels : str
        The settings of the clustering, as the attributes of the estimator of the same names. For a view alone the
        similarity is that of its partition, and weighting and regularization have no effect.
    score : float
    difference : float
        Score minus the score of the labels of the model.
    standard_error : float
        Standard error of the difference, paired over parts of the samples.
    """

    labels: NDArray[np.intp]
    samples: NDArray[np.intp]
    moved: NDArray[np.intp]
    view: str | None
    similarity: str
    weighting: str
    regularization: float
    n_shared_components: int | None
    assign_labels: str
    score: float
    difference: float
    standard_error: float

    @property
    def share(self) -> float:
        """Share of the compared samples that move."""
        return len(self.moved) / len(self.samples)

    @property
    def settings(self) -> str:
        """The settings in words."""
        if self.view is None:
            return describe_settings(self)
        return f"view {self.view!r} alone, similarity {self.similarity!r}"

    def __str__(self) -> str:
        """The alternative in a sentence."""
        return (
            f"With {self.settings}: {len(self.moved)} of {len(self.samples)} samples ({self.share:.0%}) move to "
            f"another cluster; the score differs by {self.difference:+z.3f} ± {self.standard_error:.3f}."
        )


def alternatives_to(
    chosen: Candidate, ties: Sequence[Candidate], samples: NDArray[np.intp], view_names: Sequence[str]
) -> tuple[Alternative, ...]:
    """Describe the candidates that tie with the chosen one and have other labels.

    Parameters
    ----------
    chosen : Candidate
    ties : sequence of Candidate
        Compared by `near_ties`.
    samples : ndarray of int of shape (n_compared,)
        Row numbers of the samples whose labels candidates have.
    view_names : sequence of str

    Returns
    -------
    tuple of Alternative
        Best first.
    """
    return tuple(_alternative(chosen, one, samples, view_names) for one in near_ties(chosen, ties))


def near_ties(
    chosen: Candidate,
    candidates: Sequence[Candidate],
    *,
    errors: float = 1.0,
    share: float = FEW_SHARE,
    most: int = MOST_ALTERNATIVES,
) -> list[Candidate]:
    """Candidates with other clusters whose scores are lower than the chosen one by at most some standard errors.

    Parameters
    ----------
    chosen : Candidate
    candidates : sequence of Candidate
        May contain the chosen one.
    errors : float, default=1.0
        Standard errors of the difference.
    share : float, default=0.05
        Labels that differ on at most this share of the samples are nearly equal; with 0, only equal ones are.
    most : int, default=4
        Number of candidates at most.

    Returns
    -------
    list of Candidate
        Best first. Of candidates whose labels are nearly equal only the best is in the list.
    """
    tied = [one for one in candidates if _ties(chosen, one, errors)]
    found: list[Candidate] = []
    for one in sorted(tied, key=lambda tie: -tie.score.value):
        if have_other_labels(one, [chosen, *found], share):
            found.append(one)
    return found[:most]


def score_difference(chosen: Candidate, other: Candidate) -> tuple[float, float]:
    """Score of another candidate minus that of the chosen one, and the standard error of the difference.

    Parameters
    ----------
    chosen, other : Candidate

    Returns
    -------
    difference, error : float
    """
    return other.score.value - chosen.score.value, standard_error(other.score.parts - chosen.score.parts)


def tie_note(alternatives: Sequence[Alternative]) -> str:
    """One sentence about alternatives, of which there is at least one.

    Parameters
    ----------
    alternatives : sequence of Alternative

    Returns
    -------
    str
    """
    number, least = len(alternatives), min(one.share for one in alternatives)
    several = number > 1
    return (
        f"{number} other clustering{'s' * several} score{'s' * (not several)} as high within the standard error; "
        f"{'the nearest' if several else 'it'} moves {least:.0%} of the samples to another cluster."
    )


def _ties(chosen: Candidate, other: Candidate, errors: float) -> bool:
    difference, error = score_difference(chosen, other)
    return difference >= -errors * error


def have_other_labels(one: Candidate, others: Sequence[Candidate], share: float = FEW_SHARE) -> bool:
    """Whether labels differ from those of all others on more than a few samples, after matching the clusters.

    Parameters
    ----------
    one : Candidate
    others : sequence of Candidate
    share : float, default=0.05
        Share of the samples that are a few; with 0, none are.

    Returns
    -------
    bool
    """
    return all(_differ(one, other, share) for other in others)


def _differ(one: Candidate, other: Candidate, share: float) -> bool:
    n_moved = np.count_nonzero(match_labels(other.labels, one.labels) != other.labels)
    return bool(n_moved > (max(FEW_SAMPLES, share * len(other.labels)) if share > 0 else 0))


def _alternative(
    chosen: Candidate, one: Candidate, samples: NDArray[np.intp], view_names: Sequence[str]
) -> Alternative:
    labels = match_labels(chosen.labels, one.labels).astype(np.intp)
    return Alternative(
        labels,
        samples,
        samples[labels != chosen.labels],
        None if one.view is None else view_names[one.view],
        one.similarity,
        one.weighting,
        one.regularization,
        one.n_shared_components,
        one.assign_labels,
        one.score.value,
        *score_difference(chosen, one),
    )
