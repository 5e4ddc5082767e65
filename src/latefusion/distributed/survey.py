"""The first pass: what must be known of all rows before anything is fitted, and the rows that are looked at closely.

Which rows these are is drawn beforehand, so that one pass brings all of them: landmarks and anchors, rows that tell
distances, those on which the starts of k-means compete, those whose neighbourhoods are counted.

A row of NaN says that the sample lacks the view. Rows of a view are drawn among those that there are, as in memory, by
their position there; how many there are is known when all chunks were looked at, so that holes cost a second look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from latefusion.arrays import row_blocks
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.passes import sum_up
from latefusion.types import Array
from latefusion.validation.holes import SHOWN, check_sizes, empty_rows, no_view_at_all

# Rows that are summed up at a time.
SUM_ROWS = 2**12


class ColumnSums(NamedTuple):
    """Sums over the rows of one view, or of a part of it.

    Attributes
    ----------
    n_rows : int
        Of samples that have the view.
    totals : ndarray of shape (n_features,)
        In double precision.
    scatter : ndarray of shape (n_features,)
        Sums of squared distances from the mean; zero unless asked for.
    present : ndarray of shape (n_features,)
        Numbers of values that are not zero; zero unless asked for.
    sample : array or sparse matrix of shape (n_wanted, n_features)
        The wanted rows.
    drawn : array or sparse matrix of shape (n_drawn, n_features)
        The rows of the drawn samples, NaN for those that lack the view.
    first : array or sparse matrix of shape (1, n_features)
        The first row; no row if there is none.
    varies : bool
        Whether another row differs from it.
    """

    n_rows: int
    totals: NDArray[np.float64]
    scatter: NDArray[np.float64]
    present: NDArray[np.float64]
    sample: Array
    drawn: Array
    first: Array
    varies: bool

    @property
    def mean(self) -> NDArray[np.float64]:
        """Means of the columns."""
        return self.totals / max(1, self.n_rows)


class Presence(NamedTuple):
    """Which samples have which views, as far as it can be told in few numbers.

    Attributes
    ----------
    n_samples : int
    counts : ndarray of int of shape (n_pieces, n_views)
        Samples that have the view, piece by piece.
    together : ndarray of int of shape (n_views, n_views)
        Samples that have both views.
    nowhere : ndarray of int
        The first samples that have no view at all.
    n_nowhere : int
        How many there are.
    """

    n_samples: int
    counts: NDArray[np.intp]
    together: NDArray[np.intp]
    nowhere: NDArray[np.intp]
    n_nowhere: int

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of samples that have a view."""
        return np.diag(self.together)

    @property
    def has_holes(self) -> bool:
        """Whether samples lack views."""
        return bool(np.any(self.sizes < self.n_samples))


@dataclass(frozen=True)
class SurveyPlan:
    """What the pass is to bring.

    Attributes
    ----------
    wanted : tuple of ndarray of int
        Per view positions among the rows that there are, ascending.
    drawn : ndarray of int
        Numbers of samples, ascending.
    names : tuple of str
    edges : tuple of ndarray of int
        First row of every chunk of every view, for errors.
    starts : ndarray of int
        First sample of every piece.
    before : ndarray of int of shape (n_pieces, n_views)
        How many samples before a piece have a view.
    spreads : bool
        Whether scatter and present are needed.
    """

    wanted: tuple[NDArray[np.intp], ...]
    drawn: NDArray[np.intp]
    names: tuple[str, ...]
    edges: tuple[NDArray[np.intp], ...]
    starts: NDArray[np.intp]
    before: NDArray[np.intp]
    spreads: bool


@dataclass(frozen=True)
class Survey:
    """What the first pass brought.

    Attributes
    ----------
    wanted : tuple of ndarray of int
    drawn : ndarray of int
    views : list of ColumnSums
    presence : Presence
    """

    wanted: tuple[NDArray[np.intp], ...]
    drawn: NDArray[np.intp]
    views: list[ColumnSums]
    presence: Presence

    def take(self, view: int, positions: NDArray[np.intp]) -> Array:
        """Some of the wanted rows of a view."""
        return self.views[view].sample[np.searchsorted(self.wanted[view], positions)]

    def draw(self, view: int, samples: NDArray[np.intp]) -> Array:
        """The rows of some of the drawn samples."""
        return self.views[view].drawn[np.searchsorted(self.drawn, samples)]


def survey(
    views: ChunkedViews,
    wanted: Sequence[Sequence[NDArray[np.intp]]],
    drawn: NDArray[np.intp],
    *,
    presence: Presence | None = None,
    spreads: bool = False,
) -> Survey:
    """Look at all rows once.

    Parameters
    ----------
    views : ChunkedViews
    wanted : sequence of sequences of ndarray of int
        Per view the positions of the rows to bring, among the rows of samples that have it.
    drawn : ndarray of int
        Numbers of the samples to bring all rows of.
    presence : Presence, default=None
        Which samples have which views, where it is known; all of them when None.
    spreads : bool, default=False
        Whether the spread of the columns, and how many of their values are not zero, are needed as well.

    Returns
    -------
    Survey
    """
    starts = views.starts[:-1]
    before = np.repeat(starts[:, None], views.n_views, axis=1)
    if presence is not None:
        before = np.cumsum(presence.counts, axis=0) - presence.counts
    rows = tuple(np.unique(np.concatenate([np.arange(0), *own])) for own in wanted)
    edges = tuple(np.concatenate([[0], np.cumsum(array.chunks[0])[:-1]]) for array in views.arrays)
    plan = SurveyPlan(rows, np.unique(drawn), views.names, edges, starts, before, spreads)
    found, seen = sum_up(views, _look, plan, _together, "survey")
    for name, sums in zip(views.names, found, strict=True):
        if sums.n_rows and not sums.varies:
            raise ValueError(
                f"View {name!r} is constant: all samples have the same values, so it cannot separate any. Drop it."
            )
    return Survey(rows, plan.drawn, found, seen)


def check_presence(names: Sequence[str], presence: Presence, n_clusters: int) -> None:
    """Refuse views that cannot be fused because of what samples lack, as in memory.

    Parameters
    ----------
    names : sequence of str
    presence : Presence
    n_clusters : int
    """
    if presence.n_nowhere:
        raise no_view_at_all(presence.nowhere.tolist(), presence.n_nowhere)
    check_sizes(names, presence.sizes.tolist(), presence.n_samples, n_clusters)
    n_groups, group = connected_components(presence.together > 0, directed=False)
    if n_groups > 1:
        apart = [[name for name, one in zip(names, group, strict=True) if one == number] for number in range(n_groups)]
        raise ValueError(
            f"The views fall into {n_groups} groups that no sample has in common: {apart}. No sample says which "
            f"clusters of one group are those of another: cluster each on its own, or add samples that have views of "
            f"several."
        )


def lacking_views(names: Sequence[str], presence: Presence, reason: str) -> ValueError:
    """The error where samples lack views and must not."""
    lacking = {name: presence.n_samples - int(size) for name, size in zip(names, presence.sizes, strict=True)}
    return ValueError(
        f"Some samples lack views, by rows of NaN or a mask: { ({name: n for name, n in lacking.items() if n}) }. On "
        f"chunked views {reason}, keep the complete samples, or fit in memory on a sample of the rows and label the "
        f"others with latefusion.distributed.predict."
    )


def _look(plan: SurveyPlan, start: int, *blocks: Array) -> tuple[list[ColumnSums], Presence]:
    piece, n_rows = int(np.searchsorted(plan.starts, start)), blocks[0].shape[0]
    drawn = _between(plan.drawn, start, n_rows)
    found, seen = [], np.ones((n_rows, len(blocks)), dtype=bool)
    for view, (block, name, edges) in enumerate(zip(blocks, plan.names, plan.edges, strict=True)):
        block = scipy.sparse.csr_array(block) if scipy.sparse.issparse(block) else block
        rows, totals = block, _totals(block)
        if not np.all(np.isfinite(totals)):  # one value that is not finite is enough for that
            seen[:, view] = ~empty_rows(block)
            rows = block[seen[:, view]]
            totals = _totals(rows)
            if not np.all(np.isfinite(totals)):
                raise _not_finite(block, seen[:, view], start, name, edges)
        own = rows.shape[0]
        scatter, present = _spreads(rows, totals / max(1, own)) if plan.spreads else (0 * totals, 0 * totals)
        varies = own > 1 and (_differs(rows[-1:], rows[:1]) or _differs(rows, rows[:1]))
        sample = rows[_between(plan.wanted[view], int(plan.before[piece, view]), own)]
        found.append(ColumnSums(own, totals, scatter, present, sample, block[drawn], rows[:1].copy(), varies))
    nowhere = start + np.flatnonzero(~seen.any(axis=1))
    counts = seen.astype(np.intp)
    return found, Presence(n_rows, counts.sum(axis=0)[None], counts.T @ counts, nowhere[:SHOWN], len(nowhere))


def _between(numbers: NDArray[np.intp], first: int, size: int) -> NDArray[np.intp]:
    """The numbers in a range, counted from its beginning."""
    return numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + size)] - first


def _totals(block: Array) -> NDArray[np.float64]:
    totals = np.zeros(block.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # refused later, with the place
        for part in row_blocks(block.shape[0], SUM_ROWS):
            totals += np.asarray(block[part].sum(axis=0, dtype=np.float64)).ravel()
    return totals


def _spreads(block: Array, mean: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scatter, present = np.zeros(block.shape[1]), np.zeros(block.shape[1])
    for rows in row_blocks(block.shape[0], SUM_ROWS):
        part = block[rows]
        if scipy.sparse.issparse(part):
            here = np.asarray((part != 0).sum(axis=0)).ravel()
            squares = part.astype(np.float64).power(2).sum(axis=0) - 2 * mean * part.sum(axis=0, dtype=np.float64)
            scatter += np.asarray(squares).ravel() + part.shape[0] * mean**2
        else:
            here = np.count_nonzero(part, axis=0)
            scatter += np.sum((part - mean) ** 2, axis=0)
        present += here
    return scatter, present


def _differs(rows: Array, first: Array) -> bool:
    """Whether any of the rows is another than the first one; a sparse first row is only compared with one other."""
    if scipy.sparse.issparse(rows):
        return bool(rows.shape[0] > 1 and (rows.max(axis=0) != rows.min(axis=0)).nnz) or bool((rows[:1] != first).nnz)
    return bool(np.any(rows != first))


def _together(parts: Sequence[tuple[list[ColumnSums], Presence]]) -> tuple[list[ColumnSums], Presence]:
    sums, seen = zip(*parts, strict=True)
    n_samples, counts, together, nowhere, n_nowhere = zip(*seen, strict=True)
    first = np.concatenate(nowhere)[:SHOWN]
    presence = Presence(sum(n_samples), np.concatenate(counts), sum(together), first, sum(n_nowhere))
    return [_add(view) for view in zip(*sums, strict=True)], presence


def _add(parts: Sequence[ColumnSums]) -> ColumnSums:
    n_rows = sum(part.n_rows for part in parts)
    totals = np.sum([part.totals for part in parts], axis=0)
    # Of every part its own scatter, and that of its mean about the mean of all.
    between = sum(part.n_rows * (part.mean - totals / max(1, n_rows)) ** 2 for part in parts)
    scatter = np.sum([part.scatter for part in parts], axis=0) + between
    present = np.sum([part.present for part in parts], axis=0)
    first = next((part.first for part in parts if part.n_rows), parts[0].first)
    varies = any(part.varies or (part.n_rows > 0 and _differs(part.first, first)) for part in parts)
    sample, drawn = (_stacked([getattr(part, name) for part in parts]) for name in ("sample", "drawn"))
    return ColumnSums(n_rows, totals, scatter, present, sample, drawn, first, varies)


def _stacked(parts: Sequence[Array]) -> Array:
    return scipy.sparse.vstack(parts, format="csr") if scipy.sparse.issparse(parts[0]) else np.concatenate(parts)


def _not_finite(block: Array, seen: NDArray[np.bool_], start: int, name: str, edges: NDArray[np.intp]) -> ValueError:
    if scipy.sparse.issparse(block):
        entries = block.tocoo()
        bad = entries.coords[0][~np.isfinite(entries.data)]
    else:
        bad = np.nonzero(~np.isfinite(block))[0]
    bad = bad[seen[bad]]
    if not len(bad):
        return ValueError(
            f"View {name!r} has values in rows {start} to {start + block.shape[0] - 1} that are too large to be summed "
            f"up. Divide it by a constant, or standardise its columns."
        )
    first = start + int(bad.min())
    chunk = int(np.searchsorted(edges, first, side="right")) - 1
    return ValueError(
        f"View {name!r} has {len(bad)} values that are NaN or infinite in rows {first} to {start + int(bad.max())}, "
        f"the first of them in chunk {chunk}. Fill them in, or remove these samples from all views; only rows of "
        f"nothing but NaN say that a sample lacks the view."
    )
