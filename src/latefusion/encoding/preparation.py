"""The kind of numbers in a view, and the scaling that is applied before distances between its rows are computed.

The kind follows from column statistics and sample rows, without labels:

=============== ============================================================== ========================================
kind            how it is recognised                                           how it is scaled
=============== ============================================================== ========================================
counts          no negative values, most are zero, the rest are small whole    log(1 + x), columns weighted by inverse
                numbers: words of a document, presence of a feature            frequency (idf), rows to unit length
distribution    no negative values, and most are zero or all rows have the     rows to sum 1, then roots: Euclidean
                same sum: histograms, compositions, grey values on black       distance becomes Hellinger distance
abundances      whole numbers without negative values, most are not zero, in   rows to the same sum, log(1 + x),
                many columns with long tails: reads per gene, individuals per  columns to unit variance
                species
intensities     no negative values, sums of rows vary little: logarithms of    rows to the same sum; columns to unit
                gene expression, grey values of photographs                    variance if deviations differ widely
measurements    columns whose deviations differ widely: different units        columns to unit variance
coordinates     everything else: embeddings, pixels, one unit for all columns  as they are
=============== ============================================================== ========================================

The scaling is fitted to the training samples and applied to new samples. Rows of the first four kinds are scaled to the
same length or sum, so that only their directions are compared; a row of zeros has no direction.

For independent columns, the variance of the row sum is the sum of the variances of the columns. All rows have the same
sum if it is far below. Without such a constraint, sums of many columns vary by a few percent, too: these are
intensities, and their square roots have no meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from latefusion.arrays import beside, is_device_array, median, namespace, numpy_dtype, on_host, to_numpy, unit_rows
from latefusion.encoding.column_statistics import ColumnStatistics, column_statistics
from latefusion.encoding.coordinates import multiplied
from latefusion.types import Array

# Views with a smaller share of non-zero entries count as sparse in the table above.
SPARSE_SHARE = 0.5
# The typical non-zero entry of a table of counts is at most this.
SMALL_COUNT = 2
# Row sums whose variance is at most this share of the sum of the variances of the columns count as equal.
EQUAL_SUMS = 0.01
# Row sums that vary by at most this share of their mean are those of intensities.
SIMILAR_SUMS = 0.1
# Unless they carry this share of the variance: then row sums separate the samples, as for temperatures.
LEVEL_SHARE = 0.5
# Abundances have columns with at least this skewness: 2 for an exponential distribution, 0 for a symmetric one.
LONG_TAIL = 1.0
# The sum of abundances is over at least this many columns. If one column is nearly all of the sum, units differ.
LEAST_PARTS = 5.0
# Rows that the skewness is computed from.
SKEWNESS_ROWS = 2000
# Kinds whose rows are compared by their directions.
DIRECTED = ("counts", "distribution", "abundances", "intensities")
# If the root mean square of the standard deviations over their geometric mean is larger, the units differ.
UNEQUAL_SPREADS = 3.0


@dataclass(frozen=True)
class Preparation:
    """The scaling of one view.

    Attributes
    ----------
    kind : {"counts", "distribution", "abundances", "intensities", "measurements", "coordinates"}
    weights : ndarray of shape (n_features,) or None
        Factor per column: inverse document frequency of counts, inverse standard deviation of measurements, of the
        logarithms of abundances, and of intensities in different units.
    shift : ndarray of shape (n_features,) or None
        Column means of measurements.
    row_sum : float or None
        The sum that rows of abundances and intensities are scaled to: the median of the training rows.
    """

    kind: str
    weights: NDArray[Any] | None = None
    shift: NDArray[Any] | None = None
    row_sum: float | None = None

    def __call__(self, view: Array, diagonal: NDArray[Any] | None = None) -> Array:
        """The scaled view; sparse views stay sparse."""
        if self.kind == "counts":
            return _unit_rows(_times(_signed("log1p", view), self.weights))
        if self.kind == "distribution":
            return _signed("sqrt", _to_unit_sum(view))
        if self.row_sum is not None:
            scaled = multiplied(_to_unit_sum(view), self.row_sum)
            scaled = _signed("log1p", scaled) if self.kind == "abundances" else scaled
            return scaled if self.weights is None else _times(scaled, self.weights)
        if self.kind == "measurements":
            return _times(view if self.shift is None else view - beside(self.shift, view), self.weights)
        return view

    def statistics(self, raw: ColumnStatistics) -> ColumnStatistics:
        """Column statistics of the scaled view from those of the view.

        The other kinds are not linear functions of the view; their statistics are those of the sample rows.

        Parameters
        ----------
        raw : ColumnStatistics

        Returns
        -------
        ColumnStatistics
        """
        if self.kind in DIRECTED:
            return column_statistics(self(raw.sample))
        if self.weights is None:
            return raw
        weights, shift = self.weights.astype(np.float64), 0.0 if self.shift is None else self.shift
        return raw._replace(
            means=(raw.means - shift) * weights, variances=raw.variances * weights**2, sample=self(raw.sample)
        )


def fit_preparation(statistics: ColumnStatistics) -> Preparation:
    """The scaling of a view, from statistics of its training samples.

    Parameters
    ----------
    statistics : ColumnStatistics

    Returns
    -------
    Preparation
    """
    kind, dtype = describe_view(statistics), numpy_dtype(statistics.sample)
    if kind == "counts":
        weights = np.log((1 + statistics.n_rows) / (1 + statistics.n_nonzero)) + 1
        return Preparation(kind, weights.astype(dtype))
    if kind in ("abundances", "intensities"):
        scaling = Preparation(kind, row_sum=median(_row_sums(statistics.sample)))
        deviations = column_statistics(scaling(statistics.sample)).deviations
        if kind == "abundances" or _units_differ(deviations):
            scaling = replace(scaling, weights=_inverse(deviations).astype(dtype))
        return scaling
    if kind == "measurements":
        sparse = scipy.sparse.issparse(statistics.sample)
        weights = _inverse(statistics.deviations).astype(dtype)
        return Preparation(kind, weights, None if sparse else statistics.means.astype(dtype))
    return Preparation(kind)


def describe_view(statistics: ColumnStatistics) -> str:
    """The kind of numbers in a view, as in the table above.

    Parameters
    ----------
    statistics : ColumnStatistics

    Returns
    -------
    str
    """
    sample, deviations = statistics.sample, statistics.deviations
    deviations = deviations[deviations > 0]
    entries = sample.data if scipy.sparse.issparse(sample) else sample
    # Two columns scaled by the row sum leave one number per sample, which is a coordinate.
    if deviations.size > 2 and _is_nonnegative(entries):
        xp = namespace(entries)
        sparse = statistics.n_nonzero.sum() < SPARSE_SHARE * statistics.n_rows * sample.shape[1]
        whole = bool(xp.all(entries == xp.round(entries)))
        if sparse and whole and median(entries[entries != 0]) <= SMALL_COUNT:
            return "counts"
        sums, variance = _row_sums(sample), np.sum(deviations**2)
        mean, deviation, variance_of_sums = (float(one(sums)) for one in (xp.mean, xp.std, xp.var))
        if sparse or variance_of_sums < EQUAL_SUMS * variance:
            return "distribution"
        if whole and _n_parts(statistics.means) >= LEAST_PARTS and _skewness(sample) > LONG_TAIL:
            return "abundances"
        if deviation < SIMILAR_SUMS * mean and variance_of_sums < LEVEL_SHARE * variance * sample.shape[1]:
            return "intensities"
    return "measurements" if _units_differ(deviations) else "coordinates"


def has_entries(view: Array) -> NDArray[np.bool_]:
    """Which rows of a view have non-zero entries."""
    if is_device_array(view):
        return to_numpy(namespace(view).any(view != 0, axis=1))
    found: NDArray[np.bool_] = np.asarray((view != 0).sum(axis=1)).ravel() > 0
    return found


def _is_nonnegative(entries: Array) -> bool:
    """Whether some entries are positive and none is negative."""
    if 0 in entries.shape:
        return False
    xp = namespace(entries)
    return bool(xp.min(entries) >= 0) and bool(xp.max(entries) > 0)


def _row_sums(view: Array) -> Array:
    """Sums of the rows in double precision, on the device of the view."""
    if is_device_array(view):
        xp = namespace(view)
        return xp.astype(xp.sum(view, axis=1), xp.float64)
    return np.asarray(view.sum(axis=1), dtype=np.float64).ravel()


def _n_parts(means: NDArray[np.float64]) -> float:
    """Over how many columns the sum of a row is spread: their number if all have the same mean."""
    shares = means / means.sum()
    return float(1 / np.sum(shares**2))


def _skewness(sample: Array) -> float:
    """Median of the skewness of the columns."""
    rows = on_host(sample[:: -(-sample.shape[0] // SKEWNESS_ROWS), :])
    rows = (rows.toarray() if scipy.sparse.issparse(rows) else rows).astype(np.float64)
    rows = rows - rows.mean(axis=0)
    deviations = np.sqrt(np.mean(rows**2, axis=0))
    varying = deviations > 0
    return float(np.median(np.mean((rows[:, varying] / deviations[varying]) ** 3, axis=0)))


def _units_differ(deviations: NDArray[np.float64]) -> bool:
    """Whether the standard deviations of columns differ so widely that the columns have different units."""
    varying = deviations[deviations > 0]
    return bool(varying.size and _root_mean_square(varying) > UNEQUAL_SPREADS * np.exp(np.mean(np.log(varying))))


def _root_mean_square(values: NDArray[Any]) -> float:
    largest = float(values.max())  # divide by it first, so that squares do not overflow
    return largest * float(np.sqrt(np.mean((values / largest) ** 2)))


def _signed(function: str, view: Array) -> Array:
    """The function of the absolute values, times the signs: new samples may have negative values."""
    if scipy.sparse.issparse(view):
        result = view.copy()
        result.data = _signed(function, view.data)
        return result
    xp = namespace(view)
    return xp.sign(view) * getattr(xp, function)(xp.abs(view))


def _to_unit_sum(view: Array) -> Array:
    if scipy.sparse.issparse(view):
        return normalize(view, norm="l1")
    # scikit-learn would treat small sums of dense rows as zero.
    xp = namespace(view)
    sums = xp.sum(xp.abs(view), axis=1, keepdims=True)
    return view / xp.where(sums > 0, sums, xp.ones_like(sums))


def _unit_rows(view: Array) -> Array:
    return unit_rows(view, xp=namespace(view)) if is_device_array(view) else normalize(view)


def _inverse(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """One over the deviations of columns that vary, zero for the others."""
    return np.where(deviations > 0, 1.0 / np.where(deviations > 0, deviations, 1.0), 0.0)


def _times(view: Array, weights: NDArray[Any] | None) -> Array:
    if scipy.sparse.issparse(view):
        return (view @ scipy.sparse.diags_array(weights)).tocsr()
    return view * beside(weights, view)
