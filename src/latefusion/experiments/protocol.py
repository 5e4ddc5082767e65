"""The protocol of the paper, which selects with the classes, and a protocol without classes.

*Oracle*, as the paper reports: kernels are centred and scaled to unit diagonal, every method runs over its grid, the
final k-means is started 50 times, and the best value of each score is reported, which needs the classes. Every point of
a grid has its own random starts.

*Label-free*: default parameters (`LateFusionClustering` selects its own), the estimator's own k-means starts, one run
per seed; mean and standard deviation over the seeds are reported.

A cell is the unit of work that is run, stored and limited as a whole: one data set, one method, one protocol, part of a
grid and some seeds. Most methods end in k-means on an embedding that does not depend on the seed: it is computed once,
and k-means is repeated. Methods that find labels themselves are fitted once per seed, in one cell each. A grid that
shares its base partitions (that of LF-MVC) is one cell, any other grid has one cell per point.
"""

from __future__ import annotations

import itertools
import json
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import namespace, unit_rows
from latefusion.assignment import assign_by_kmeans
from latefusion.baselines import PAPER_METHODS
from latefusion.estimators import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering
from latefusion.experiments.sources import Source, standardized
from latefusion.metrics import clustering_accuracy, normalized_mutual_info, purity_score

Protocol = Literal["oracle", "label-free"]
Grid = Mapping[str, Sequence[Any]]

GAM, LAM, OURS = "LF-MVC-GAM", "LF-MVC-LAM", "LateFusionClustering"
METRICS = ("accuracy", "nmi", "purity")
REGULARIZATIONS = [2.0**power for power in range(-5, 6)]
NEIGHBORHOODS = [tenths / 10 for tenths in range(1, 11)]


@dataclass(frozen=True)
class Contender:
    """A method of the evaluation.

    Attributes
    ----------
    estimator : class
    grid : dict of str to list
        Grid of the oracle.
    finds_labels : bool
        Whether labels come from the method itself and not from k-means on its embedding.
    decides : bool
        Whether the method scales the views and selects its parameters itself.
    """

    estimator: Any
    grid: Grid = field(default_factory=dict)
    finds_labels: bool = False
    decides: bool = False


FIND_LABELS = ("concat-kmeans", "concat-spectral", "RMKKM", "MvWCMD", "OPLFMVC")
CONTENDERS: dict[str, Contender] = {
    **{name: Contender(one, one.parameter_grid, name in FIND_LABELS) for name, one in PAPER_METHODS.items()},
    GAM: Contender(GlobalAlignmentClustering, {"regularization": REGULARIZATIONS}),
    LAM: Contender(LocalAlignmentClustering, {"regularization": REGULARIZATIONS, "neighborhood": NEIGHBORHOODS}),
    OURS: Contender(LateFusionClustering, {"regularization": ["auto", 1.0, 2.0, 4.0]}, decides=True),
}


class Effort(NamedTuple):
    """Number of runs.

    Attributes
    ----------
    restarts : int
        Starts of k-means under the oracle.
    seeds : int
        Seeds of the label-free protocol.
    grid_values : int
        Maximum number of values of one parameter, evenly spaced in its list; 0 for all.
    """

    restarts: int = 50
    seeds: int = 10
    grid_values: int = 0


FULL = Effort()
QUICK = Effort(restarts=10, seeds=5, grid_values=3)


@dataclass(frozen=True)
class Cell:
    """One unit of work.

    Attributes
    ----------
    source : Source
    method : str
    protocol : {"oracle", "label-free"}
    grid : str
        The part of the grid, as JSON: every parameter with the list of its values.
    seeds : tuple of int
    """

    source: Source
    method: str
    protocol: Protocol
    grid: str
    seeds: tuple[int, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies it, as texts."""
        return self.source.checksum, self.source.name, self.method, self.protocol, self.grid, json.dumps(self.seeds)


class Point(NamedTuple):
    """The result of one point of a grid.

    Attributes
    ----------
    parameters : dict
    seconds : float
        For one clustering: the fit and its labels once.
    scores : dict of str to list of float
        One value per seed.
    costs : list of float
        Costs of k-means, one per seed; empty if the method has no such step.
    """

    parameters: dict[str, Any]
    seconds: float
    scores: dict[str, list[float]]
    costs: list[float]


class Labeling(NamedTuple):
    """Labels for one seed and their k-means cost, if any."""

    labels: NDArray[Any]
    cost: float | None


def plan(sources: Sequence[Source], methods: Sequence[str], effort: Effort) -> list[Cell]:
    """All cells of an evaluation: small data sets first, and for each the label-free protocol before the grids.

    Parameters
    ----------
    sources : sequence of Source
    methods : sequence of str
        Names in `CONTENDERS`.
    effort : Effort
        `FULL` is the effort of the paper.

    Returns
    -------
    list of Cell
    """
    unknown = [name for name in methods if name not in CONTENDERS]
    if unknown:
        raise ValueError(f"unknown methods {unknown}; known are {', '.join(CONTENDERS)}")
    cells: list[Cell] = []
    for source in sources:
        for method in methods:
            contender = CONTENDERS[method]
            apart = contender.finds_labels or contender.decides
            cells += _with_seeds(source, method, "label-free", [{}], effort.seeds, apart)
        for method in methods:
            contender = CONTENDERS[method]
            parts = _parts(method, _thinned(contender.grid, effort.grid_values))
            cells += _with_seeds(source, method, "oracle", parts, effort.restarts, contender.finds_labels)
    return cells


def _with_seeds(
    source: Source, method: str, protocol: Protocol, parts: Sequence[Grid], n_seeds: int, apart: bool
) -> Iterator[Cell]:
    seeds = [(seed,) for seed in range(n_seeds)] if apart else [tuple(range(n_seeds))]
    for part, some in itertools.product(parts, seeds):
        yield Cell(source, method, protocol, json.dumps(part, sort_keys=True), some)


def _parts(method: str, grid: Grid) -> list[Grid]:
    """The whole grid if its points share their work, otherwise point by point."""
    return [grid] if method in (GAM, LAM) else [{key: [value] for key, value in one.items()} for one in points(grid)]


def points(grid: Grid) -> list[dict[str, Any]]:
    """All combinations of the values of a grid."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _thinned(grid: Grid, most: int) -> Grid:
    if not most:
        return grid
    return {
        key: [
            values[at] for at in np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int))
        ]
        for key, values in grid.items()
    }


def evaluate(cell: Cell) -> list[Point]:
    """Run one cell.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    list of Point
        One per point of the grid; for methods on single views, one per view under the oracle.
    """
    target = cell.source.load().target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # results that did not converge count, as in the paper
        return [
            Point(parameters, seconds, _scores(target, found), [one.cost for one in found if one.cost is not None])
            for parameters, seconds, found in _clusterings(cell)
        ]


def _clusterings(cell: Cell) -> Iterator[tuple[dict[str, Any], float, list[Labeling]]]:
    contender, oracle = CONTENDERS[cell.method], cell.protocol == "oracle"
    start = time.perf_counter()
    for parameters, model, embeddings in _fitted(cell):
        fitted = time.perf_counter() - start
        for name, embedding in _candidates(model, embeddings, oracle).items():
            start = time.perf_counter()
            if embedding is None or contender.finds_labels or (contender.decides and not oracle):
                found = [Labeling(model.labels_, None)] * len(cell.seeds)
                labelled = 0.0
            else:
                n_init = 1 if oracle else model.n_init
                states = [random_state(cell, parameters, seed) for seed in cell.seeds]
                found = [_by_kmeans(embedding, cell.source.n_clusters, n_init, state) for state in states]
                labelled = (time.perf_counter() - start) / len(cell.seeds)
            yield parameters | ({"view": name} if name else {}), fitted + labelled, found
        start = time.perf_counter()


def _fitted(cell: Cell) -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Parameters, fitted model, and its embedding if it is not an attribute of the model."""
    grid = json.loads(cell.grid)
    data = cell.source.load()
    views = list(data.views.arrays) if CONTENDERS[cell.method].decides else standardized(data)
    model = estimator(cell)
    if cell.method == GAM and grid:
        for point in model.regularization_path(views, grid["regularization"]):
            yield {"regularization": point.regularization}, model, point.consensus
    elif cell.method == LAM and grid:
        for size, path in model.neighborhood_path(views, grid["neighborhood"], grid["regularization"]).items():
            for point in path:
                yield {"regularization": point.regularization, "neighborhood": size}, model, point.consensus
    else:
        for parameters in points(grid):
            state = random_state(cell, parameters, cell.seeds[0])
            yield parameters, model.set_params(random_state=state, **parameters).fit(views), None


def estimator(cell: Cell) -> Any:
    """The unfitted estimator of a cell, without the parameters of its grid."""
    contender = CONTENDERS[cell.method]
    options: dict[str, Any] = {"n_clusters": cell.source.n_clusters}
    if cell.source.load().kind == "kernels":
        options["similarity"] = "precomputed"
    if cell.protocol == "oracle" and not contender.decides:
        options["n_init"] = 1  # a restart is one start; the best of them is selected with the classes
    return contender.estimator(**options)


def random_state(cell: Cell, parameters: Mapping[str, Any], seed: int) -> int:
    """The seed itself; for the oracle, a different one for every point of a grid."""
    return zlib.crc32(json.dumps([parameters, seed], sort_keys=True).encode()) if cell.protocol == "oracle" else seed


def _candidates(model: Any, embedding: Any, oracle: bool) -> dict[str, Any]:
    """The input of k-means, by view if the oracle may select one; None if the labels need no k-means."""
    if embedding is not None:
        return {"": embedding}
    if hasattr(model, "view_consensus_"):
        every = dict(zip(map(str, model.view_names_), model.view_consensus_, strict=True))
        return every if oracle else {"": model.view_consensus_[model.view_]}
    if getattr(model, "n_components_", None) == model.n_clusters:  # the components of a graph are the clusters
        return {"": None}
    if hasattr(model, "consensus_"):
        return {"": model.consensus_}
    every_view = getattr(model, "view_embeddings_", None)
    return {"": None if every_view is None else np.concatenate(every_view, axis=1)}


def _by_kmeans(embedding: NDArray[Any], n_clusters: int, n_init: int, seed: int) -> Labeling:
    labels, rule = assign_by_kmeans(embedding, n_clusters, n_init=n_init, random_state=seed)
    rows = unit_rows(embedding, xp=namespace(embedding))
    return Labeling(labels, float(np.sum((rows - rule.centers[labels]) ** 2)))


def _scores(target: Any, found: Sequence[Labeling]) -> dict[str, list[float]]:
    """Scores of every labeling; NMI is divided by the larger entropy, as the authors do. Equal ones are scored once."""
    known: dict[bytes, tuple[float, float, float]] = {}
    rows = []
    for labels, _ in found:
        key = labels.tobytes()
        if key not in known:
            known[key] = (
                clustering_accuracy(target, labels),
                normalized_mutual_info(target, labels, average_method="max"),
                purity_score(target, labels),
            )
        rows.append(known[key])
    return {metric: [row[position] for row in rows] for position, metric in enumerate(METRICS)}
