"""The first pass over the rows: column statistics, and the rows from which everything else is fitted.

The positions of these rows are drawn before the pass, so that one pass collects all of them: landmarks and anchors,
rows that set distances, rows on which the starts of k-means compete, and rows whose neighbourhoods are counted.

A row of NaN marks a missing view. The rows of a view are drawn among its observed samples, as in memory. Their number
is known only after all chunks were read, so that missing views cost a second pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.distributed.chunks import ChunkedViews, row_edges
from latefusion.distributed.passes import sum_up
from latefusion.encoding.column_statistics import ColumnStatistics, column_statistics, merge_statistics, stack_rows
from latefusion.types import Array
from latefusion.validation.holes import SHOWN, check_counts, empty_rows, no_view_at_all


class ViewPart(NamedTuple):
    """Results of the first pass for one view, or for a part of its rows.

    Attributes
    ----------
    statistics : ColumnStatistics
        Of the observed samples, with the rows at the wanted positions as sample.
    drawn : array or sparse matrix of shape (n_drawn, n_features)
        Rows of the drawn samples, NaN where the view is missing.
    first : array or sparse matrix of shape (1, n_features)
        The first observed row; no row if there is none.
    varies : bool
        Whether another row differs from the first one.
    """

    statistics: ColumnStatistics
    drawn: Array
    first: Array
    varies: bool


class ObservedCounts(NamedTuple):
    """Numbers of samples for which views are observed.

    Attributes
    ----------
    n_samples : int
    by_piece : ndarray of int of shape (n_pieces, n_views)
        Observed samples in every piece.
    together : ndarray of int of shape (n_views, n_views)
        Samples for which both views are observed.
    empty : ndarray of int
        The first samples for which all views are missing.
    n_empty : int
        Number of these samples.
    """

    n_samples: int
    by_piece: NDArray[np.intp]
    together: NDArray[np.intp]
    empty: NDArray[np.intp]
    n_empty: int

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of observed samples of every view."""
        return np.diag(self.together)

    @property
    def has_missing(self) -> bool:
        """Whether any view is missing for any sample."""
        return bool(np.any(self.sizes < self.n_samples))


class _Plan(NamedTuple):
    """What the pass collects.

    Attributes
    ----------
    wanted : tuple of ndarray of int
        Positions among the observed rows of every view, ascending.
    drawn : ndarray of int
        Numbers of samples, ascending.
    names : tuple of str
    edges : tuple of ndarray of int
        First row of every chunk of every view, and the number of rows, for errors.
    before : dict of int to list of int
        Number of observed samples of every view before every piece, by its first sample.
    only_means : bool
    """

    wanted: tuple[NDArray[np.intp], ...]
    drawn: NDArray[np.intp]
    names: tuple[str, ...]
    edges: tuple[NDArray[np.intp], ...]
    before: dict[int, list[int]]
    only_means: bool


class FirstPass(NamedTuple):
    """Results of the first pass.

    Attributes
    ----------
    views : ChunkedViews
    wanted : tuple of ndarray of int
        Positions of the sample rows of every view among its observed rows, ascending.
    drawn : ndarray of int
        Numbers of the drawn samples, ascending.
    statistics : list of ColumnStatistics
        One per view.
    drawn_rows : list of array or sparse matrix of shape (n_drawn, n_features)
        Rows of the drawn samples in every view, NaN where the view is missing.
    observed : ObservedCounts
    """

    views: ChunkedViews
    wanted: tuple[NDArray[np.intp], ...]
    drawn: NDArray[np.intp]
    statistics: list[ColumnStatistics]
    drawn_rows: list[Array]
    observed: ObservedCounts

    def read(self, positions: NDArray[np.intp], view: int) -> Any:
        """Rows of a view at some of the wanted positions; by the number of views, those of all views."""
        if view == len(self.statistics):
            return [self.read(positions, one) for one in range(view)]
        return self.statistics[view].sample[np.searchsorted(self.wanted[view], positions)]


def first_pass(
    views: ChunkedViews,
    wanted: Sequence[Sequence[NDArray[np.intp]]],
    drawn: NDArray[np.intp],
    *,
    counts: ObservedCounts | None = None,
    only_means: bool = False,
) -> FirstPass:
    """Read all rows once.

    Parameters
    ----------
    views : ChunkedViews
    wanted : sequence of sequences of ndarray of int
        Positions of the rows to collect from every view, among its observed rows.
    drawn : ndarray of int
        Numbers of the samples whose rows are collected from all views, ascending.
    counts : ObservedCounts, default=None
        Result of an earlier pass; by default no view is missing.
    only_means : bool, default=False
        Whether the means of the columns are enough.

    Returns
    -------
    FirstPass
    """
    all_rows = np.repeat(np.diff(views.starts)[:, None], views.n_views, axis=1)
    by_piece = all_rows if counts is None else counts.by_piece
    before = dict(zip(views.starts[:-1].tolist(), (np.cumsum(by_piece, axis=0) - by_piece).tolist(), strict=True))
    positions = tuple(np.unique(np.concatenate([np.arange(0), *own])) for own in wanted)
    plan = _Plan(positions, drawn, views.names, tuple(map(row_edges, views.arrays)), before, only_means)
    parts, found = sum_up(views, _read_piece, plan, _merge, "statistics")
    for name, part in zip(views.names, parts, strict=True):
        if part.statistics.n_rows and not part.varies:
            raise ValueError(f"View {name!r} is constant: all samples have the same values. Remove it.")
    statistics, drawn_rows, *_ = zip(*parts, strict=True)
    return FirstPass(views, positions, drawn, list(statistics), list(drawn_rows), found)


def observed(blocks: Sequence[Array], numbers: Any = None) -> NDArray[np.bool_]:
    """Which views are observed for which samples: those with rows that are not all NaN; shape (n_rows, n_views)."""
    return np.stack([~empty_rows(block) for block in blocks], axis=1)


def check_observed(names: Sequence[str], counts: ObservedCounts, n_clusters: int, refusal: str = "") -> None:
    """Raise an error for missing views that cannot be handled, as in memory.

    Parameters
    ----------
    names : sequence of str
    counts : ObservedCounts
    n_clusters : int
    refusal : str, default=""
        Why no view may be missing, and what to use instead; empty if views may be missing.
    """
    if counts.n_empty:
        raise no_view_at_all(counts.empty.tolist(), counts.n_empty)
    check_counts(names, counts.together, counts.n_samples, n_clusters)
    if refusal:
        n_missing = zip(names, (counts.n_samples - counts.sizes).tolist(), strict=True)
        raise ValueError(
            f"Some samples have missing views (rows of NaN, or a mask): { {name: n for name, n in n_missing if n} }. "
            f"With chunked views, {refusal}, keep only complete samples, or fit in memory on a sample of the rows and "
            f"label the others with latefusion.distributed.predict."
        )


def _read_piece(plan: _Plan, start: int, *blocks: Array) -> tuple[list[ViewPart], ObservedCounts]:
    n_rows, before = blocks[0].shape[0], plan.before[start]
    drawn = _between(plan.drawn, start, n_rows)
    parts, seen = [], np.ones((n_rows, len(blocks)), dtype=bool)
    for view, (block, name, edges) in enumerate(zip(blocks, plan.names, plan.edges, strict=True)):
        block = scipy.sparse.csr_array(block) if scipy.sparse.issparse(block) else block
        rows, statistics = block, column_statistics(block, only_means=plan.only_means)
        if not np.all(np.isfinite(statistics.means)):  # one value that is not finite is enough for that
            seen[:, view] = ~empty_rows(block)
            rows = block[seen[:, view]]
            statistics = column_statistics(rows, only_means=plan.only_means)
            if not np.all(np.isfinite(statistics.means)):
                raise _not_finite(block, seen[:, view], start, name, edges)
        n_own = rows.shape[0]
        varies = n_own > 1 and (_differs(rows[-1:], rows[:1]) or _differs(rows, rows[:1]))
        sample = rows[_between(plan.wanted[view], before[view], n_own)]
        parts.append(ViewPart(statistics._replace(sample=sample), block[drawn], rows[:1].copy(), varies))
    empty = start + np.flatnonzero(~seen.any(axis=1))
    counts = seen.astype(np.intp)
    return parts, ObservedCounts(n_rows, counts.sum(axis=0)[None], counts.T @ counts, empty[:SHOWN], len(empty))


def _between(numbers: NDArray[np.intp], first: int, size: int) -> NDArray[np.intp]:
    """The numbers in a range, counted from its beginning."""
    return numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + size)] - first


def _differs(rows: Array, first: Array) -> bool:
    """Whether any of the rows differs from the first one."""
    if scipy.sparse.issparse(rows):
        return bool(rows.shape[0] > 1 and (rows.max(axis=0) != rows.min(axis=0)).nnz) or bool((rows[:1] != first).nnz)
    return bool(np.any(rows != first))


def _merge(parts: Sequence[tuple[list[ViewPart], ObservedCounts]]) -> tuple[list[ViewPart], ObservedCounts]:
    by_view, observed = zip(*parts, strict=True)
    n_samples, counts, together, empty, n_empty = zip(*observed, strict=True)
    merged = ObservedCounts(
        sum(n_samples), np.concatenate(counts), sum(together), np.concatenate(empty)[:SHOWN], sum(n_empty)
    )
    return [_merge_view(view) for view in zip(*by_view, strict=True)], merged


def _merge_view(parts: Sequence[ViewPart]) -> ViewPart:
    observed = [part for part in parts if part.statistics.n_rows]
    first = (observed or parts)[0].first
    varies = any(part.varies or _differs(part.first, first) for part in observed)
    return ViewPart(
        merge_statistics([part.statistics for part in parts]), stack_rows([part.drawn for part in parts]), first, varies
    )


def _not_finite(block: Array, seen: NDArray[np.bool_], start: int, name: str, edges: NDArray[np.intp]) -> ValueError:
    largest = abs(block).max(axis=1)
    bad = np.flatnonzero(~np.isfinite(largest.toarray() if scipy.sparse.issparse(block) else largest) & seen)
    if not len(bad):
        return ValueError(
            f"View {name!r} has values in rows {start} to {start + block.shape[0] - 1} whose sum is too "
            f"large for a float. Divide the view by a constant, or standardise its columns."
        )
    first = start + int(bad[0])
    chunk = int(np.searchsorted(edges, first, side="right")) - 1
    return ValueError(
        f"View {name!r} has values that are NaN or infinite in {len(bad)} rows from {first} to {start + int(bad[-1])}, "
        f"the first of them in chunk {chunk}. Impute them, or remove these samples from all views. Only a row in which "
        f"all values are NaN marks a missing view."
    )
