"""The first pass: what must be known of all rows before anything is fitted, and the rows that are looked at closely.

Which rows these are is drawn beforehand, so that one pass brings all of them: landmarks and anchors, rows that tell
distances, those on which the starts of k-means compete, those whose neighbourhoods are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import row_blocks
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.passes import sum_up
from latefusion.types import Array

# Rows that are summed up at a time.
SUM_ROWS = 2**12


class ColumnSums(NamedTuple):
    """Sums over the rows of one view, or of a part of it.

    Attributes
    ----------
    n_rows : int
    totals : ndarray of shape (n_features,)
        In double precision.
    scatter : ndarray of shape (n_features,)
        Sums of squared distances from the mean; zero unless asked for.
    present : ndarray of shape (n_features,)
        Numbers of values that are not zero; zero unless asked for.
    sample : array or sparse matrix of shape (n_wanted, n_features)
        The wanted rows.
    first : array or sparse matrix of shape (1, n_features)
        The first row.
    varies : bool
        Whether another row differs from it.
    """

    n_rows: int
    totals: NDArray[np.float64]
    scatter: NDArray[np.float64]
    present: NDArray[np.float64]
    sample: Array
    first: Array
    varies: bool

    @property
    def mean(self) -> NDArray[np.float64]:
        """Means of the columns."""
        return self.totals / self.n_rows


@dataclass(frozen=True)
class SurveyPlan:
    """What the pass is to bring.

    Attributes
    ----------
    wanted : ndarray of int
        Numbers of rows, ascending.
    names : tuple of str
    edges : tuple of ndarray of int
        First row of every chunk of every view, for errors.
    spreads : bool
        Whether scatter and present are needed.
    """

    wanted: NDArray[np.intp]
    names: tuple[str, ...]
    edges: tuple[NDArray[np.intp], ...]
    spreads: bool


@dataclass(frozen=True)
class Survey:
    """What the first pass brought.

    Attributes
    ----------
    wanted : ndarray of int
    views : list of ColumnSums
    """

    wanted: NDArray[np.intp]
    views: list[ColumnSums]

    @property
    def n_samples(self) -> int:
        """Number of all rows."""
        return self.views[0].n_rows

    def positions(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where some of the wanted rows are in the sample."""
        return np.searchsorted(self.wanted, rows)

    def take(self, view: int, rows: NDArray[np.intp]) -> Array:
        """Some of the wanted rows of a view."""
        return self.views[view].sample[self.positions(rows)]


def survey(views: ChunkedViews, wanted: Sequence[NDArray[np.intp]], *, spreads: bool = False) -> Survey:
    """Look at all rows once.

    Parameters
    ----------
    views : ChunkedViews
    wanted : sequence of ndarray of int
        Numbers of the rows to bring.
    spreads : bool, default=False
        Whether the spread of the columns, and how many of their values are not zero, are needed as well.

    Returns
    -------
    Survey
    """
    rows = np.unique(np.concatenate([np.arange(1), *wanted]))
    edges = tuple(np.concatenate([[0], np.cumsum(array.chunks[0])[:-1]]) for array in views.arrays)
    found = sum_up(views, _look, SurveyPlan(rows, views.names, edges, spreads), _together, "survey")
    for name, sums in zip(views.names, found, strict=True):
        if not sums.varies:
            raise ValueError(
                f"View {name!r} is constant: all samples have the same values, so it cannot separate any. Drop it."
            )
    return Survey(rows, found)


def _look(plan: SurveyPlan, start: int, *blocks: Array) -> list[ColumnSums]:
    rows = plan.wanted[np.searchsorted(plan.wanted, start) : np.searchsorted(plan.wanted, start + blocks[0].shape[0])]
    found = []
    for block, name, edges in zip(blocks, plan.names, plan.edges, strict=True):
        block = scipy.sparse.csr_array(block) if scipy.sparse.issparse(block) else block
        totals = np.zeros(block.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, with the place
            for part in row_blocks(block.shape[0], SUM_ROWS):
                totals += np.asarray(block[part].sum(axis=0, dtype=np.float64)).ravel()
        if not np.all(np.isfinite(totals)):  # one value that is not finite is enough for that
            raise _not_finite(block, start, name, edges)
        scatter, present = _spreads(block, totals / block.shape[0]) if plan.spreads else (0 * totals, 0 * totals)
        varies = _differs(block[-1:], block[:1]) or _differs(block, block[:1])
        sample = block[rows - start]
        found.append(ColumnSums(block.shape[0], totals, scatter, present, sample, block[:1].copy(), varies))
    return found


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


def _together(parts: Sequence[list[ColumnSums]]) -> list[ColumnSums]:
    return [_add(view) for view in zip(*parts, strict=True)]


def _add(parts: Sequence[ColumnSums]) -> ColumnSums:
    n_rows = sum(part.n_rows for part in parts)
    totals = np.sum([part.totals for part in parts], axis=0)
    # Of every part its own scatter, and that of its mean about the mean of all.
    between = sum(part.n_rows * (part.mean - totals / n_rows) ** 2 for part in parts)
    scatter = np.sum([part.scatter for part in parts], axis=0) + between
    first = parts[0].first
    samples = [part.sample for part in parts]
    sample = scipy.sparse.vstack(samples, format="csr") if scipy.sparse.issparse(first) else np.concatenate(samples)
    varies = any(part.varies or _differs(part.first, first) for part in parts)
    return ColumnSums(n_rows, totals, scatter, np.sum([part.present for part in parts], axis=0), sample, first, varies)


def _not_finite(block: Array, start: int, name: str, edges: NDArray[np.intp]) -> ValueError:
    if scipy.sparse.issparse(block):
        entries = block.tocoo()
        bad = entries.coords[0][~np.isfinite(entries.data)]
    else:
        bad = np.nonzero(~np.isfinite(block))[0]
    if not len(bad):
        return ValueError(
            f"View {name!r} has values in rows {start} to {start + block.shape[0] - 1} that are too large to be summed "
            f"up. Divide it by a constant, or standardise its columns."
        )
    first = start + int(bad.min())
    chunk = int(np.searchsorted(edges, first, side="right")) - 1
    return ValueError(
        f"View {name!r} has {len(bad)} values that are NaN or infinite in rows {first} to {start + int(bad.max())}, "
        f"the first of them in chunk {chunk}. Fill them in, or remove these samples from all views."
    )
