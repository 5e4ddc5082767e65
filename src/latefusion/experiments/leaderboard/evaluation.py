"""One cell of the leaderboard: fit a method with default parameters for every seed, and score the labels."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.experiments.leaderboard.methods import entrants
from latefusion.experiments.leaderboard.peak import PeakMemory
from latefusion.experiments.leaderboard.problems import BoardSet, Problem
from latefusion.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info


@dataclass(frozen=True)
class BoardCell:
    """One method on one data set of one board, with all seeds.

    Attributes
    ----------
    source : BoardSet
    method : str
    seeds : tuple of int
    seconds : float
        Limit of all seeds together.
    memory : int
        Limit in MiB.
    code : str
        Version of the code that the method uses.
    """

    source: BoardSet
    method: str
    seeds: tuple[int, ...]
    seconds: float
    memory: int
    code: str

    @property
    def place(self) -> tuple[str, str, str]:
        """Board, data set and method."""
        return self.source.entry.board, self.source.name, self.method

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies it in a store, as texts."""
        settings = {"code": self.code, "seconds": self.seconds, "memory": self.memory}
        board, name, method = self.place
        return self.source.checksum, name, method, board, json.dumps(settings), json.dumps(self.seeds)


class Run(NamedTuple):
    """The result of one seed.

    Attributes
    ----------
    seed : int
    acc, nmi, ari : float
    seconds, cpu_seconds : float
    peak_mib : float or None
        Peak memory since before the first fit of the cell.
    """

    seed: int
    acc: float
    nmi: float
    ari: float
    seconds: float
    cpu_seconds: float
    peak_mib: float | None


def evaluate_cell(cell: BoardCell) -> Iterator[Run]:
    """Fit the method of a cell once per seed.

    Parameters
    ----------
    cell : BoardCell

    Yields
    ------
    Run
        A seed is left out if the mean time of the earlier ones leaves no time for it.
    """
    begin = time.monotonic()
    problem, peak = cell.source.problem(cell.seeds[0]), PeakMemory()
    for done, seed in enumerate(cell.seeds):
        if cell.source.rate and done:
            problem = cell.source.problem(seed)
        yield _run(cell, problem, seed, peak)
        if (time.monotonic() - begin) * (done + 2) / (done + 1) > cell.seconds:
            return


def _run(cell: BoardCell, problem: Problem, seed: int, peak: PeakMemory) -> Run:
    entry = cell.source.entry
    model = entrants()[cell.method].configured(entry.n_clusters, entry.kind, seed)
    start, cpu_start = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # results that did not converge count
        labels = model.fit_predict(problem.views)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    return Run(seed, *scores(problem.target, labels), seconds, cpu_seconds, peak.mebibytes())


def scores(target: NDArray[np.intp], labels: Any) -> tuple[float, float, float]:
    """Accuracy, mutual information and adjusted Rand index of the samples with known classes.

    Parameters
    ----------
    target : ndarray of shape (n_samples,)
        Classes; -1 if unknown.
    labels : array of shape (n_samples,)

    Returns
    -------
    tuple of float
        Mutual information is divided by the mean of both entropies.
    """
    labels = np.asarray(labels)
    if labels.shape != target.shape:
        raise ValueError(f"fit_predict returned labels of shape {labels.shape} for {len(target)} samples")
    known = target >= 0
    true, found = target[known], labels[known]
    return clustering_accuracy(true, found), normalized_mutual_info(true, found), adjusted_rand(true, found)
