"""Choosing kinds of similarity and λ without labels.

Every candidate is a clustering of the same samples. It is judged by three numbers between 0 and 1:

- what the cluster of a sample says about the clusters of its neighbours in all views together,
- the same in every view on its own, on average,
- what it says about the clusterings that the views give on their own, on average.

The first two ask whether clusters hold together in the data, the third whether the views have been heard. The score is
their mean. `docs/SELECTION.md` has the experiment that chose it among others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from latefusion.estimators.fusion import Choice
from latefusion.metrics import neighbor_information, shared_information
from latefusion.partitions.sources import join_coordinates, known_samples
from latefusion.similarities.graph import NeighborSearch

# Neighbours of a sample that are looked at: the nearest in all views together, and some more in single views, which are
# noisier.
JOINT_NEIGHBORS = 5
VIEW_NEIGHBORS = 10
# Parts of the samples from which the uncertainty of a score is taken.
N_FOLDS = 5


class Neighborhoods(NamedTuple):
    """Nearest neighbours in every view, and in all of them together.

    Attributes
    ----------
    joint : list of ndarray of shape (n_samples, n_neighbors)
        One, or one for every way in which missing rows were filled in.
    views : list of ndarray of shape (n_samples, n_neighbors)
    """

    joint: list[NDArray[np.intp]]
    views: list[NDArray[np.intp]]


def find_neighborhoods(
    searches: Sequence[NeighborSearch],
    shares: NDArray[Any],
    mask: NDArray[np.bool_] | None = None,
    joint: Sequence[NeighborSearch] = (),
) -> Neighborhoods:
    """Nearest neighbours by exact distances.

    Parameters
    ----------
    searches : sequence of NeighborSearch
        One per view, of the samples that have it.
    shares : ndarray of shape (n_views,)
        How much every view counts in the joint distance, which is the mean of squared distances after bringing their
        mean to one.
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Which views samples have, where some lack any. Two samples are compared by the views that both have, and -1
        stands for a neighbour that is not there.
    joint : sequence of NeighborSearch, default=()
        Of all samples that have any view in all views together, where that is known already.

    Returns
    -------
    Neighborhoods
    """
    if mask is None:
        joint = joint or [NeighborSearch(join_coordinates([one.placed for one in searches], shares)[0])]
        views = [one.others(VIEW_NEIGHBORS) for one in searches]
    else:
        views = [
            _scattered_neighbors(search, observed, VIEW_NEIGHBORS)
            for search, observed in zip(searches, mask.T, strict=True)
        ]
    known = known_samples(mask)
    if known is None:
        together = [one.others(JOINT_NEIGHBORS) for one in joint]
    else:
        together = [_scattered_neighbors(one, known, JOINT_NEIGHBORS) for one in joint]
    if mask is not None and not together:
        together = [_shared_neighbors(searches, shares, mask)]
    return Neighborhoods(together, views)


def _scattered_neighbors(search: NeighborSearch, observed: NDArray[np.bool_], n_neighbors: int) -> NDArray[np.intp]:
    """Neighbours of some samples among each other, as positions among all."""
    samples = np.flatnonzero(observed)
    own = samples[search.others(n_neighbors)]
    neighbors = np.full((len(observed), own.shape[1]), -1)
    neighbors[samples] = own
    return neighbors


def _shared_neighbors(
    searches: Sequence[NeighborSearch], shares: NDArray[Any], mask: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Neighbours by the mean distance over the views that two samples share."""
    n_samples = len(mask)
    joint, weights = np.zeros((n_samples, n_samples)), np.zeros((n_samples, n_samples))
    for search, share, observed in zip(searches, shares, mask.T, strict=True):
        squared = euclidean_distances(search.placed, squared=True).astype(np.float64, copy=False)
        mean = squared.mean()
        if mean > 0:
            joint[np.ix_(observed, observed)] += squared * (share / mean)
            weights[np.ix_(observed, observed)] += share
    joint = np.where(weights > 0, joint / np.where(weights > 0, weights, 1.0), np.inf)
    np.fill_diagonal(joint, np.inf)
    n_neighbors = min(JOINT_NEIGHBORS, n_samples - 1)
    nearest = np.argpartition(joint, n_neighbors - 1, axis=1)[:, :n_neighbors]
    np.fill_diagonal(weights, 0.0)
    shared = np.take_along_axis(weights, nearest, axis=1) > 0
    return np.where(shared, nearest, -1)


class Score(NamedTuple):
    """Score of a clustering: of all samples, and of parts of them."""

    value: float
    parts: NDArray[np.float64]

    @property
    def spread(self) -> float:
        """Standard error of the value."""
        return _standard_error(self.parts)


class Candidate(NamedTuple):
    """One way of fusing, and how well it did.

    ``n_directions`` is the number of directions that rows of missing views were filled in by; None if none were.
    """

    n_clusters: int
    choice: Choice
    regularization: float
    score: Score
    n_directions: int | None = None


def _standard_error(parts: NDArray[Any]) -> float:
    return float(np.std(parts, ddof=1) / np.sqrt(len(parts))) if len(parts) > 1 else 0.0


@dataclass(frozen=True)
class Judge:
    """Scores clusterings of the samples it has seen.

    Attributes
    ----------
    neighborhoods : Neighborhoods
    opinions : list of list of ndarray of shape (n_samples,)
        Clusterings that every view gives on its own; -1 for samples that lack it.
    shares : ndarray of shape (n_views,)
        How much every view counts; they sum to one.
    known : ndarray of bool of shape (n_samples,) or None
        Which samples have any view; None for all.
    """

    neighborhoods: Neighborhoods
    opinions: Sequence[Sequence[NDArray[np.intp]]]
    shares: NDArray[Any]
    known: NDArray[np.bool_] | None = None

    def score(self, labels: NDArray[np.intp], n_clusters: int) -> Score:
        """Mean of the three informations."""
        samples = np.arange(len(labels)) if self.known is None else np.flatnonzero(self.known)
        # Shuffled: samples that come in turns would fill a part with one cluster.
        order = np.random.default_rng(0).permutation(samples)
        folds = [order[fold::N_FOLDS] for fold in range(min(N_FOLDS, len(samples) // 2))]
        parts = np.array([self._score(labels, n_clusters, fold) for fold in folds])
        return Score(self._score(labels, n_clusters, samples), parts)

    def _score(self, labels: NDArray[np.intp], n_clusters: int, samples: NDArray[np.intp]) -> float:
        joint = np.mean(
            [
                neighbor_information(labels, neighbors, n_clusters, samples=samples)
                for neighbors in self.neighborhoods.joint
            ]
        )
        alone = [
            neighbor_information(labels, neighbors, n_clusters, samples=samples)
            for neighbors in self.neighborhoods.views
        ]
        heard = [
            np.mean([_information_about(labels[samples], opinion[samples], n_clusters) for opinion in opinions])
            for opinions in self.opinions
        ]
        return float((joint + self.shares @ alone + self.shares @ heard) / 3)


def _information_about(labels: NDArray[np.intp], opinion: NDArray[np.intp], n_clusters: int) -> float:
    heard = opinion >= 0
    return shared_information(labels[heard], opinion[heard], n_clusters)


@dataclass(frozen=True)
class Selection:
    """What was tried, what it scored, and why one of them was taken.

    Attributes
    ----------
    rows : tuple of dict
        One per candidate, with the columns below.
    reason : str
        The choice in a sentence.
    n_samples : int
        Samples that the search looked at.
    """

    rows: tuple[Mapping[str, Any], ...]
    reason: str
    n_samples: int
    columns: tuple[str, ...] = field(
        default=("n_clusters", "kind", "weighing", "regularization", "score", "spread", "chosen")
    )

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """The candidates, in the order in which they were tried."""
        return iter(self.rows)

    def __getitem__(self, position: int) -> Mapping[str, Any]:
        """One candidate."""
        return self.rows[position]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, as a data frame takes them."""
        return {column: [row.get(column) for row in self.rows] for column in self.columns}

    def __str__(self) -> str:
        """A table, best candidate first, and the reason."""
        lines = ["  ".join(f"{column:>14s}" for column in self.columns)]
        for row in sorted(self.rows, key=lambda one: -one["score"]):
            lines.append("  ".join(f"{_shown(row.get(column)):>14s}" for column in self.columns))
        return "\n".join([*lines, self.reason])


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "*" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def choose(candidates: Sequence[Candidate], n_samples: int) -> Selection:
    """Take the candidate of the highest score, or the first one if that is no better beyond chance.

    Parameters
    ----------
    candidates : sequence of Candidate
        The first is the default.
    n_samples : int
        Samples that the search looked at.

    Returns
    -------
    Selection
    """
    default = candidates[0]
    best = max(candidates, key=lambda one: one.score.value)
    gain = best.score.value - default.score.value
    doubt = _standard_error(best.score.parts - default.score.parts)
    chosen = best if gain > doubt else default
    rows = tuple(
        {
            "n_clusters": one.n_clusters,
            "kind": one.choice.kind,
            "weighing": one.choice.weighing,
            "regularization": one.regularization,
            **({} if one.n_directions is None else {"n_directions": one.n_directions}),
            "score": one.score.value,
            "spread": one.score.spread,
            "chosen": one is chosen,
        }
        for one in candidates
    )
    what = f"kind {chosen.choice.kind!r}, views {chosen.choice.weighing}, regularization={chosen.regularization:g}, "
    if chosen.n_directions is not None:
        what += f"missing rows filled in by {chosen.n_directions} directions, "
    what += f"score {chosen.score.value:.3f}"
    if chosen is default:
        reason = f"The default was kept: {what}."
        if best is not default:
            reason += f" The best of {len(rows)} candidates gains {gain:.3f}, which may be chance (± {doubt:.3f})."
    else:
        reason = (
            f"Best of {len(rows)} candidates: {what}. Its clusters say more about neighbouring samples and about the "
            f"views than those of the default, by {gain:.3f} ± {doubt:.3f}."
        )
    return Selection(rows, reason, n_samples, tuple(rows[0]))
