"""The table of candidates, and the choice among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.results import ResultTable
from latefusion.selection.criterion import Score, standard_error

# Least breadth of a candidate, as a share of that of the default.
LEAST_BREADTH = 2 / 3


class Candidate(NamedTuple):
    """One way of fusing, its score and its labels.

    ``n_shared_components`` is the number of components from which missing rows were imputed; None if there are none.
    ``labels`` are those of the samples of the criterion, as small integers to save memory. ``view`` is the position of
    the only view that is fused, from one partition; None for all views.
    """

    n_clusters: int
    similarity: str
    weighting: str
    regularization: float
    n_shared_components: int | None
    assign_labels: str
    score: Score
    labels: NDArray[np.int32]
    view: int | None = None

    def __str__(self) -> str:
        """Settings and score, without the labels."""
        return f"{describe_settings(self)}, score {self.score.value:.3f}"


@dataclass(frozen=True, repr=False)
class Selection(Sequence[Mapping[str, Any]]):
    """The candidates, their scores, and the reason for the choice.

    Attributes
    ----------
    rows : tuple of dict
        One per candidate, in the order in which they were tried.
    reason : str
        The choice in a sentence.
    n_samples : int
        Samples that the search used.
    """

    rows: tuple[Mapping[str, Any], ...]
    reason: str
    n_samples: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return tuple(self.rows[0])

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.rows)

    def __getitem__(self, position: Any) -> Any:
        """One candidate."""
        return self.rows[position]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, as a data frame takes them."""
        return {column: [row.get(column) for row in self.rows] for column in self.columns}

    def __repr__(self) -> str:
        """A table, best candidate first, and the reason."""
        return repr(self._best_first())

    def _repr_html_(self) -> str:
        return self._best_first()._repr_html_()

    def _best_first(self) -> ResultTable:
        rows = sorted(self.rows, key=lambda one: -one["score"])
        columns = {column: [row.get(column) for row in rows] for column in self.columns}
        return ResultTable(columns, [self.reason], {"chosen": lambda chosen: "*" * bool(chosen)})


def choose(candidates: Sequence[Candidate], n_samples: int) -> tuple[Candidate, Selection]:
    """Take the candidate of the highest score, or the first one if the gain is within the standard error.

    A candidate that explains far fewer views than the first one is not taken.

    Parameters
    ----------
    candidates : sequence of Candidate
        The first is the default.
    n_samples : int
        Samples that the search used.

    Returns
    -------
    chosen : Candidate
    selection : Selection
    """
    default = candidates[0]
    best = max(broad_candidates(candidates), key=lambda one: one.score.value)
    gain = best.score.value - default.score.value
    error = standard_error(best.score.parts - default.score.parts)
    chosen = best if is_gain(gain, error) else default
    rows = tuple(_row(one, chosen=one is chosen) for one in candidates)
    what = str(chosen)
    if chosen is default:
        reason = f"The default was kept: {what}."
        if round(gain, 3) > 0:
            reason += (
                f" The best of {len(rows)} candidates scores {gain:.3f} ± {error:.3f} higher, which may be chance."
            )
    else:
        reason = f"Best of {len(rows)} candidates: {what}. It scores {gain:.3f} ± {error:.3f} more than the default."
    return chosen, Selection(rows, reason, n_samples)


def is_gain(difference: float, error: float) -> bool:
    """Whether a difference of scores is a reason for another choice: it exceeds its standard error.

    A gain that is printed as 0.000 is none.

    Parameters
    ----------
    difference, error : float

    Returns
    -------
    bool
    """
    return difference > error and round(difference, 3) > 0


def revise_choice(
    selection: Selection, position: int, what: str, n_compared: int, gain: float, error: float
) -> Selection:
    """The table with another candidate chosen, because its final labels score higher.

    Parameters
    ----------
    selection : Selection
    position : int
        Row of the candidate.
    what : str
        The candidate in words.
    n_compared : int
        Candidates whose final labels were compared.
    gain, error : float
        Score of its final labels minus that of the final labels of the best candidate, and the standard error.

    Returns
    -------
    Selection
    """
    rows = tuple({**row, "chosen": number == position} for number, row in enumerate(selection.rows))
    reason = (
        f"Best final labels of the first {n_compared} of {len(rows)} candidates: {what}. They score {gain:.3f} ± "
        f"{error:.3f} more than those of the candidate with the highest score before."
    )
    return Selection(rows, reason, selection.n_samples)


def broad_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that do not explain far fewer views than the first one.

    Parameters
    ----------
    candidates : sequence of Candidate
        The first is the default.

    Returns
    -------
    list of Candidate
    """
    least = LEAST_BREADTH * candidates[0].score.breadth
    return [one for one in candidates if one.score.breadth >= least]


def _row(candidate: Candidate, *, chosen: bool) -> dict[str, Any]:
    score = candidate.score
    row = candidate._asdict() | {
        "score": score.value,
        "standard_error": score.standard_error,
        "breadth": score.breadth,
        "chosen": chosen,
    }
    del row["labels"], row["view"]
    if candidate.n_shared_components is None:
        del row["n_shared_components"]
    return row


def describe_settings(candidate: Any) -> str:
    """The settings of a candidate that fuses all views, in words.

    Parameters
    ----------
    candidate : Candidate or Alternative

    Returns
    -------
    str
    """
    parts = [
        f"similarity {candidate.similarity!r}",
        f"views weighted {'equally' if candidate.weighting == 'equal' else 'by agreement'}",
        f"regularization={candidate.regularization:g}",
    ]
    number = candidate.n_shared_components
    if number is not None:
        parts.append(f"missing rows imputed from {number} shared component{'s' * (number != 1)}")
    return ", ".join(parts)
