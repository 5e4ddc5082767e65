"""How much every feature of a view differs between a cluster and all other samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from latefusion.encoding.codings import LevelCoding, NumberCoding
from latefusion.encoding.text_coding import TextCoding
from latefusion.interpretation.column_blocks import ColumnBlock, column_blocks
from latefusion.interpretation.gather import ModelData, ViewData
from latefusion.interpretation.shown_values import Unit, unit_of
from latefusion.interpretation.significance import Comparison, rank_test, share_test

Floats = NDArray[np.float64]

# Smallest variance of an indicator that a difference of shares is divided by.
LEAST_VARIANCE = 0.01
# Smallest standard deviation within cluster and rest that a difference is divided by, relative to that of all samples.
LEAST_SPREAD = 0.05
# A smaller standard deviation than this, relative to the mean, is rounding error.
ROUNDING = 1e-13


class Effects(NamedTuple):
    """Features of one view, compared between every cluster and all other samples.

    Attributes
    ----------
    view : str
    names : list of str
        Of the features: columns, "column: category", "column: “word”", or labels.
    kinds : list of str
        "number", "date", "duration", "category", "ordered", "word" or "label".
    units : list of Unit
        How `inside` and `outside` are written.
    effect, inside, outside : ndarray of shape (n_clusters, n_features)
        Standardised differences; means, medians (numbers of tables) or shares in the cluster and outside of it. NaN
        where no sample inside, or none outside, has a value.
    tests : Comparison or None
        AUC and p-value of shape (n_clusters, n_features), if they were asked for.
    """

    view: str
    names: list[str]
    kinds: list[str]
    units: list[Unit]
    effect: Floats
    inside: Floats
    outside: Floats
    tests: Comparison | None = None


def view_effects(view: ViewData, labels: NDArray[np.intp], n_clusters: int, *, test: bool = True) -> Effects | None:
    """Compare every feature of a view between every cluster and all other samples.

    Parameters
    ----------
    view : ViewData
    labels : ndarray of shape (n_samples,)
        Numbers of clusters from 0.
    n_clusters : int
    test : bool, default=True
        Whether to compute AUC and p-values, for which values are sorted.

    Returns
    -------
    Effects or None
        None for a view without features: similarities, or an embedding in place of labels.

    Notes
    -----
    The effect of a number is (mean inside - mean outside)/s, with s² the mean of the variances inside and outside,
    weighted by samples, and s at least 5 % of the standard deviation of all samples. The effect of a category, word or
    label is the same for its indicator, with s² at least 0.01.
    """
    groups = np.where(view.observed, labels, -1)
    if view.kind == "features":
        parts = _blocks_of_numbers(view, groups, n_clusters, test=test)
    elif view.kind == "table":
        parts = _columns_of_table(view, groups, n_clusters, test=test)
    elif view.kind == "labels" and view.labels is not None:
        parts = iter([_labels(view, groups, n_clusters, test=test)])
    else:
        return None
    found = list(parts)
    if not found:
        return None
    effect, inside, outside = (
        np.concatenate([getattr(one, name) for one in found], axis=1) for name in ("effect", "inside", "outside")
    )
    names, kinds, units = (
        [entry for one in found for entry in getattr(one, name)] for name in ("names", "kinds", "units")
    )
    tests = [one.tests for one in found if one.tests is not None]
    compared = Comparison(*(np.concatenate(arrays, axis=1) for arrays in zip(*tests, strict=True))) if test else None
    return Effects(view.name, names, kinds, units, effect, inside, outside, compared)


def model_effects(data: ModelData, *, test: bool = False) -> list[Effects]:
    """Compare the features of all views that have features.

    Parameters
    ----------
    data : ModelData
    test : bool, default=False
        Whether to compute AUC and p-values.

    Returns
    -------
    list of Effects
        In the order of the views.
    """
    found = (view_effects(view, data.labels, len(data.clusters), test=test) for view in data.views)
    return [one for one in found if one is not None]


class Place(NamedTuple):
    """A feature of a view: positions in a sequence of `Effects`, and in its features."""

    view: int
    feature: int


def strongest_features(effects: Sequence[Effects], cluster: int, most: int, least: float = 0.0) -> list[Place]:
    """The features with the largest effects of one cluster, in all views.

    Parameters
    ----------
    effects : sequence of Effects
    cluster : int
    most : int
        Number of features at most.
    least : float, default=0.0
        Smaller effects are left out, and so are features without an effect (NaN).

    Returns
    -------
    list of Place
        Largest effect first.
    """
    if not effects:
        return []
    sizes = np.concatenate([np.abs(one.effect[cluster]) for one in effects])
    views = np.repeat(np.arange(len(effects)), [len(one.names) for one in effects])
    starts = np.cumsum([0, *(len(one.names) for one in effects)])
    order = np.argsort(-np.nan_to_num(sizes, nan=-1.0), kind="stable")[:most]
    return [Place(int(views[one]), int(one - starts[views[one]])) for one in order if sizes[one] >= least]


def _blocks_of_numbers(view: ViewData, groups: NDArray[np.intp], n_clusters: int, *, test: bool) -> Iterator[Effects]:
    first = 0
    for block in column_blocks(view.values, groups, n_clusters):
        effect, inside, outside = mean_differences(block)
        last = first + len(effect)
        names = view.columns[first:last]
        yield Effects(
            view.name,
            names,
            ["number"] * len(names),
            [Unit()] * len(names),
            effect.T,
            inside.T,
            outside.T,
            _transposed(rank_test(block)) if test else None,
        )
        first = last


def mean_differences(block: ColumnBlock) -> tuple[Floats, Floats, Floats]:
    """Standardised mean differences of numbers.

    Parameters
    ----------
    block : ColumnBlock

    Returns
    -------
    effects, inside, outside : ndarray of shape (n_columns, n_clusters)
        NaN where no sample inside, or none outside, has a value; 0 for constant columns.
    """
    counts = block.counts
    means = block.sums(block.values) / np.maximum(counts, 1)
    deviations = block.values - means[block.columns, block.groups]
    squares = block.sums(deviations**2) + block.zeros * means**2
    n_samples = counts.sum(axis=1, keepdims=True)
    others = n_samples - counts
    compared = (counts > 0) & (others > 0)
    effects, outside = np.full_like(means, np.nan), np.full_like(means, np.nan)
    middle = (counts * means).sum(axis=1) / np.maximum(n_samples[:, 0], 1)
    total = squares.sum(axis=1) + (counts * (means - middle[:, None]) ** 2).sum(axis=1)
    for cluster in range(counts.shape[1]):
        rest = np.arange(counts.shape[1]) != cluster
        outer = (counts[:, rest] * means[:, rest]).sum(axis=1) / np.maximum(others[:, cluster], 1)
        between = (counts[:, rest] * (means[:, rest] - outer[:, None]) ** 2).sum(axis=1)
        within = np.maximum(squares.sum(axis=1) + between, LEAST_SPREAD**2 * total)
        spread = np.sqrt(within / np.maximum(n_samples[:, 0], 1))
        varies = spread > ROUNDING * np.abs(middle)
        effects[:, cluster] = np.where(varies, (means[:, cluster] - outer) / np.where(varies, spread, 1.0), 0.0)
        outside[:, cluster] = outer
    return tuple(np.where(compared, one, np.nan) for one in (effects, means, outside))  # type: ignore[return-value]


def _columns_of_table(view: ViewData, groups: NDArray[np.intp], n_clusters: int, *, test: bool) -> Iterator[Effects]:
    assert view.table is not None
    for coding in view.table.codings:
        column = view.table_columns.get(coding.name)
        if column is None:
            continue
        column = column.hidden(~view.observed)
        if isinstance(coding, NumberCoding):
            yield _numbers(view.name, coding, coding.numbers(column), groups, n_clusters, test=test)
            continue
        if isinstance(coding, LevelCoding):
            positions = coding.positions(column)
            members, known = _indicators(positions, len(coding.levels)), positions >= 0
            names, kind = [f"{coding.name}: {level}" for level in coding.levels], coding.kind
        else:
            assert isinstance(coding, TextCoding)
            known = column.values >= 0
            texts = coding.counts(column) > 0
            members = _indicators(column.values, texts.shape[0]) @ texts.astype(np.float64)
            names, kind = [f"{coding.name}: \u201c{term}\u201d" for term in coding.terms], "word"
        own = np.where(known, groups, -1)
        yield _shares(view.name, names, kind, members, own, n_clusters, test=test)


def _indicators(positions: NDArray[np.intp], width: int) -> csr_array:
    """A one per sample, in the column of its position; none for negative positions."""
    rows = np.flatnonzero(positions >= 0)
    return csr_array((np.ones(len(rows)), (rows, positions[rows])), shape=(len(positions), width))


def _numbers(
    view: str, coding: NumberCoding, values: Floats, groups: NDArray[np.intp], n_clusters: int, *, test: bool
) -> Effects:
    """Numbers, dates and durations of a table, described by medians."""
    (block,) = column_blocks(values[:, None], groups, n_clusters)
    effect, _, _ = mean_differences(block)
    inside, outside = np.full((2, n_clusters, 1), np.nan)
    for cluster in np.flatnonzero(~np.isnan(effect[0])):
        is_member = block.groups == cluster
        inside[cluster] = np.median(block.values[is_member])
        outside[cluster] = np.median(block.values[~is_member])
    tests = _transposed(rank_test(block)) if test else None
    return Effects(view, [coding.name], [coding.kind], [unit_of(coding)], effect.T, inside, outside, tests)


def _labels(view: ViewData, groups: NDArray[np.intp], n_clusters: int, *, test: bool) -> Effects:
    assert view.labels is not None
    members = _indicators(view.labels, len(view.label_names))
    own = np.where(view.labels >= 0, groups, -1)
    return _shares(view.name, list(view.label_names), "label", members, own, n_clusters, test=test)


def _shares(
    view: str,
    names: list[str],
    kind: str,
    members: csr_array,
    groups: NDArray[np.intp],
    n_clusters: int,
    *,
    test: bool,
) -> Effects:
    """Indicators, such as categories: their shares in the clusters and outside."""
    rows = np.flatnonzero(groups >= 0)
    clusters = csr_array((np.ones(len(rows)), (groups[rows], rows)), shape=(n_clusters, len(groups)))
    counts, sizes = (clusters @ members).toarray(), np.asarray(clusters.sum(axis=1)).reshape(-1, 1)
    total, n_samples = counts.sum(axis=0), float(sizes.sum())
    rest = n_samples - sizes
    inside = np.where((sizes > 0) & (rest > 0), counts / np.maximum(sizes, 1), np.nan)
    outside = np.where((sizes > 0) & (rest > 0), (total - counts) / np.maximum(rest, 1), np.nan)
    variances = (sizes * inside * (1 - inside) + rest * outside * (1 - outside)) / max(1.0, n_samples)
    # A share of one half has the standard deviation 1/2; indicators that are nearly constant are not divided by less.
    effects = (inside - outside) / np.sqrt(np.maximum(variances, LEAST_VARIANCE))
    tests = share_test(counts, sizes, total, np.array(n_samples)) if test else None
    n_names = len(names)
    return Effects(view, names, [kind] * n_names, [Unit("share")] * n_names, effects, inside, outside, tests)


def _transposed(tests: Comparison) -> Comparison:
    return Comparison(tests.auc.T, tests.p.T)
