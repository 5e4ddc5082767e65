"""From the outcomes of cells to one summary per data set and method: oracle, label-free, time, and failures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from latefusion.experiments.protocol import METRICS, Cell, Point
from latefusion.experiments.sources import Source
from latefusion.experiments.store import Outcome

TEST = "one-sided Wilcoxon signed-rank test, paired by seed, at the 5 % level"
LEVEL = 0.05


class Best(NamedTuple):
    """The best value of one score, selected with the classes.

    Attributes
    ----------
    value : float
        The best over grid and restarts.
    parameters : dict
        Parameters of the best value.
    sample : ndarray of shape (n_restarts,)
        All restarts at these parameters.
    mean : float
        The best over the grid of the mean over restarts: the expected score of one start, with parameters selected with
        the classes.
    lowest_cost : float or None
        The best over the grid if every point uses the restart with the lowest k-means cost, which needs no classes.
    """

    value: float
    parameters: dict[str, object]
    sample: NDArray[np.float64]
    mean: float
    lowest_cost: float | None


class Level(NamedTuple):
    """The accuracy of one point of a grid.

    Attributes
    ----------
    parameters : dict
    best, mean, spread : float
        Over the restarts; the spread is their standard deviation.
    """

    parameters: dict[str, Any]
    best: float
    mean: float
    spread: float


@dataclass(frozen=True)
class Summary:
    """The results of one method on one data set.

    Attributes
    ----------
    source : Source
    method : str
    oracle : dict of str to Best
        By metric; empty if there are no results.
    label_free : dict of str to ndarray of shape (n_seeds,)
        By metric.
    seconds : float or None
        One clustering with default parameters.
    levels : list of Level
        One per point of the grid.
    reasons : Counter of str
        Reasons of failed cells, and their numbers.
    n_missing : int
        Number of cells that were not run.
    n_cells : int
        Number of all cells.
    """

    source: Source
    method: str
    oracle: dict[str, Best]
    label_free: dict[str, NDArray[np.float64]]
    seconds: float | None
    levels: list[Level]
    reasons: Counter[str]
    n_missing: int
    n_cells: int


def summarize(cells: Sequence[Cell], outcomes: Mapping[Cell, Outcome]) -> list[Summary]:
    """Summarise the outcomes of all cells.

    Parameters
    ----------
    cells : sequence of Cell
    outcomes : mapping of Cell to Outcome
        The outcomes so far.

    Returns
    -------
    list of Summary
        One per data set and method, in the order of the cells.
    """
    groups: dict[tuple[Source, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.source, cell.method), []).append(cell)
    return [_summary(source, method, group, outcomes) for (source, method), group in groups.items()]


def _summary(source: Source, method: str, cells: Sequence[Cell], outcomes: Mapping[Cell, Outcome]) -> Summary:
    done = [cell for cell in cells if cell in outcomes]
    grid, default = (
        _joined([outcomes[cell] for cell in done if cell.protocol == protocol]) for protocol in ("oracle", "label-free")
    )
    return Summary(
        source,
        method,
        {metric: _best(grid, metric) for metric in METRICS} if grid else {},
        {metric: np.array(default[0].scores[metric]) for metric in METRICS} if default else {},
        default[0].seconds if default else None,
        [_level(point) for point in grid],
        Counter(outcomes[cell].reason for cell in done if outcomes[cell].reason),
        len(cells) - len(done),
        len(cells),
    )


def _joined(outcomes: Sequence[Outcome]) -> list[Point]:
    """One point per set of parameters; seeds of separate cells are concatenated in their order."""
    groups: dict[str, list[Point]] = {}
    for outcome in outcomes:
        for point in outcome.points:
            groups.setdefault(json.dumps(point.parameters, sort_keys=True), []).append(point)
    return [
        Point(
            group[0].parameters,
            float(np.mean([point.seconds for point in group])),
            {metric: [value for point in group for value in point.scores[metric]] for metric in METRICS},
            [cost for point in group for cost in point.costs],
        )
        for group in groups.values()
    ]


def _level(point: Point) -> Level:
    scores = np.array(point.scores["accuracy"])
    return Level(point.parameters, float(scores.max()), float(scores.mean()), float(scores.std()))


def _best(points: Sequence[Point], metric: str) -> Best:
    winner = max(points, key=lambda point: max(point.scores[metric]))
    settled = [
        point.scores[metric][int(np.argmin(point.costs))] if point.costs else point.scores[metric][0]
        for point in points
        if point.costs or len(set(point.scores[metric])) == 1
    ]
    return Best(
        max(winner.scores[metric]),
        winner.parameters,
        np.array(winner.scores[metric]),
        max(float(np.mean(point.scores[metric])) for point in points),
        max(settled) if len(settled) == len(points) else None,
    )


def best_and_equals(samples: Mapping[str, NDArray[np.float64]], heights: Mapping[str, float]) -> dict[str, str]:
    """Mark the best method and those that are not significantly worse.

    Parameters
    ----------
    samples : mapping of str to ndarray of shape (n_seeds,)
        Scores of every method, paired by seed.
    heights : mapping of str to float
        The value that determines the best method.

    Returns
    -------
    dict of str to {"best", "equal"}
        Methods that are worse are left out.
    """
    if not heights:
        return {}
    best = max(heights, key=lambda method: heights[method])
    marks = {
        method: "equal" for method, sample in samples.items() if method != best and not _worse(sample, samples[best])
    }
    return marks | {best: "best"}


def _worse(sample: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    paired = min(len(sample), len(best))
    return signed_rank_pvalue(best[:paired] - sample[:paired]) < LEVEL


def signed_rank_pvalue(differences: NDArray[np.float64]) -> float:
    """Probability of a rank sum this large if every difference were as likely negative as positive.

    Parameters
    ----------
    differences : ndarray of shape (n_pairs,)
        Zeros are left out, equal sizes share their mean rank.

    Returns
    -------
    float

    Notes
    -----
    Exact, given the ranks: the distribution of the sum is built up pair by pair. With ties, SciPy tries all signs,
    which takes a hundred times as long.
    """
    kept = differences[differences != 0]
    doubled = np.rint(2 * rankdata(np.abs(kept))).astype(int)  # mean ranks are multiples of a half
    chances = np.zeros(doubled.sum() + 1)
    chances[0] = 1.0
    for rank in doubled:
        chances[rank:] = chances[rank:] + chances[:-rank]
        chances /= 2
    return float(chances[doubled[kept > 0].sum() :].sum())
