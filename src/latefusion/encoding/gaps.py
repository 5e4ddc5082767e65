"""Imputation of single missing values (NaN) of one view.

The model is a factor analysis of the columns in units of their standard deviation, fitted to the observed values:

    z_i = m + W s_i + e_i,   s_i ~ N(0, I),   e_i ~ N(0, diag(ψ)).

A missing value gets its conditional mean given the observed values of the row, plus the mean residual of the nearest
training rows for which the column is observed. Conditional means have less variance than data. In a column that
the others do not predict, all gaps would get one value, and their rows would form a cluster of their own. Residuals of
similar rows restore part of the variance and add what depends on the other columns in a non-linear way.

Imputed values are of the same kind as the observed values of their column: within their range, equal to the smallest
one if this is frequent and more likely than the others, and one of the observed values if these are few. Otherwise
zeros of sparse views would become small numbers, and counts fractions.

The fit has three stages. (1) An EM algorithm with ``MAX_RANK`` factors is run with more values hidden: some rows get
the gaps of other rows as well, so that hidden values are missing in the same pattern as the gaps. (2) The number of
factors with the smallest error for hidden values is selected; zero factors are the column means. (3) The selected model
is fitted to all observed values.

Rows are selected along an order that depends on their values only. Hence the result does not depend on the order of
rows and columns, or on the unit of a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Largest number of factors. The cost of a step is quadratic in it.
MAX_RANK = 30
# Rows per factor at least.
ROWS_PER_FACTOR = 3
# Rows that select the number of factors, that fit the model and that donate residuals.
SELECTION_ROWS = 600
FIT_ROWS = 2000
DONOR_ROWS = 1000
# Values of all donors, which are part of the model.
DONOR_VALUES = 2**21
# Every fourth row gets the gaps of another row for the selection.
HIDDEN_ROWS = 4
# Of complete views every fifth value of these rows is hidden.
HIDDEN_VALUES = 5
# EM steps for the selection and for the fit of the selected model.
SELECTION_STEPS = 5
FIT_STEPS = 3
# Steps of the power iteration that finds initial factors.
START_STEPS = 3
# Noise variances are at least this share of the variance of a column.
SMALLEST_NOISE = 1e-6
# Nearest rows whose residuals are averaged.
N_DONORS = 5
# Donors whose distances differ by this share are equally near.
TIE = 1e-6
# The smallest value of a column is frequent if this share of the values is equal to it.
FREQUENT = 0.25
# A column has few values if there are at most so many, and each occurs as often on average.
MANY_VALUES = 32
REPEATS = 4
# Rows per block.
BLOCK_ROWS = 1024


class _Factors(NamedTuple):
    """The factor analysis of standardized columns."""

    offset: Floats  # m, shape (n_features,)
    loadings: Floats  # W, shape (n_features, n_factors)
    noise: Floats  # ψ, shape (n_features,)

    def predict(self, values: Floats, observed: Floats) -> Floats:
        """Conditional means of all values, given the observed ones; ``values`` are zero where not observed."""
        scores, _ = _scores(self, values, observed)
        means: Floats = self.offset + scores @ self.loadings.T
        return means

    def truncate(self, n_factors: int) -> _Factors:
        """The leading factors; the others become noise."""
        dropped = self.loadings[:, n_factors:]
        return _Factors(self.offset, self.loadings[:, :n_factors], self.noise + (dropped * dropped).sum(axis=1))


@dataclass(frozen=True)
class GapFilling:
    """The imputation of missing values of one view. It is a function of a row and of the fitted parameters.

    Attributes
    ----------
    means, scales : ndarray of shape (n_features,)
        Column means and standard deviations of the observed values; the scale of a constant column is one.
    lower, upper : ndarray of shape (n_features,)
        Range of the observed values.
    thresholds : ndarray of shape (n_features,)
        Values up to this one become ``lower``.
    few_valued : ndarray of int of shape (n_few_valued,)
        Columns with few different values.
    few_values : ndarray of shape (n_few_valued, n_values)
        Their values in increasing order; the largest is repeated.
    offset, loadings, noise : ndarray of shape (n_features,), (n_features, n_factors) and (n_features,)
        The factor analysis of standardized columns.
    donors : ndarray of shape (n_donors, n_features)
        Standardized training rows, zero where missing.
    donors_observed : ndarray of bool of shape (n_donors, n_features)
    empty : ndarray of bool of shape (n_features,)
        Columns without observed values. They are filled with zero.
    error : float
        Root mean square error of hidden values in units of the standard deviations of the columns, without the
        residuals; that of column means is about one.
    """

    means: Floats
    scales: Floats
    lower: Floats
    upper: Floats
    thresholds: Floats
    few_valued: NDArray[np.intp]
    few_values: Floats
    offset: Floats
    loadings: Floats
    noise: Floats
    donors: Floats
    donors_observed: NDArray[np.bool_]
    empty: NDArray[np.bool_]
    error: float

    def __call__(self, view: NDArray[Any]) -> NDArray[Any]:
        """The view with imputed values; rows without gaps and rows without any value are returned as they are.

        Parameters
        ----------
        view : ndarray of shape (n_samples, n_features)
            Of float type, finite or NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            A new array of the same float type.
        """
        filled = view.copy()
        missing = np.isnan(view)
        rows = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
        if not rows.size:
            return filled
        reference = _Donors.of(self)
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            filled[block] = np.where(missing[block], self._impute(view[block], reference), view[block])
        return filled

    def _impute(self, view: NDArray[Any], reference: _Donors) -> NDArray[Any]:
        """Imputed values of all cells of some rows."""
        known = ~np.isnan(view)
        values, observed = self._standardize(view, known), known.astype(np.float64)
        imputed = self._factors.predict(values, observed)
        imputed += reference.residuals_of(values, observed)
        imputed = (imputed * self.scales + self.means).clip(self.lower, self.upper)
        imputed = np.where(imputed <= self.thresholds, self.lower, imputed)
        imputed[:, self.few_valued] = _nearest(self.few_values, imputed[:, self.few_valued])
        return imputed.astype(view.dtype)

    def _standardize(self, view: NDArray[Any], observed: NDArray[np.bool_]) -> Floats:
        return np.where(observed, (view.astype(np.float64) - self.means) / self.scales, 0.0)

    @property
    def _factors(self) -> _Factors:
        return _Factors(self.offset, self.loadings, self.noise)


class _Donors(NamedTuple):
    """Training rows for the search of neighbours: completed rows, their squares, residuals of observed values."""

    rows: Floats
    squares: Floats
    residuals: Floats
    observed: Floats

    @classmethod
    def of(cls, filling: GapFilling) -> _Donors:
        """Donors of a fitted imputation."""
        known = filling.donors_observed
        observed = known.astype(np.float64)
        predicted = np.vstack(
            [
                filling._factors.predict(
                    filling.donors[start : start + BLOCK_ROWS], observed[start : start + BLOCK_ROWS]
                )
                for start in range(0, len(known), BLOCK_ROWS)
            ]
        )
        residuals = np.where(known, filling.donors - predicted, 0.0)
        variances = (residuals**2).sum(axis=0) / np.maximum(observed.sum(axis=0), 1.0)
        rows = np.where(known, filling.donors, predicted)
        # A completed value is uncertain. Without its variance, rows with many gaps would be near to all others.
        return cls(rows, rows * rows + np.where(known, 0.0, variances), residuals, observed)

    def residuals_of(self, values: Floats, observed: Floats) -> Floats:
        """Mean residuals of the nearest donors, by distances in the observed columns of each row.

        A training row has distance zero to itself, but no residual in the columns that it misses. So its gaps get the
        same values as those of a new sample that is equal to it.
        """
        distances = (values * values).sum(axis=1)[:, None] - 2 * values @ self.rows.T + observed @ self.squares.T
        weights = scipy.sparse.csr_array(_donor_weights(np.maximum(distances, 0.0)))
        totals = weights @ self.observed
        means: Floats = np.divide(weights @ self.residuals, totals, out=np.zeros_like(totals), where=totals > 0)
        return means


def _donor_weights(distances: Floats) -> Floats:
    """How much nearer a donor is than the first one that is not taken; ties get equal weights."""
    last = min(N_DONORS, distances.shape[1] - 1)
    limit = np.partition(distances, last, axis=1)[:, last, None]
    return np.maximum(limit * (1 + TIE) + TIE**2 - distances, 0.0)


def _nearest(candidates: Floats, values: Floats) -> Floats:
    """The nearest candidate for every value of a column; the smaller one of two that are equally near."""
    positions = np.zeros(values.shape, dtype=np.intp)
    for low, high in zip(candidates.T[:-1], candidates.T[1:], strict=True):
        positions += (values > low + (0.5 + TIE) * (high - low)) & (high > low)
    return np.take_along_axis(candidates.T, positions, axis=0)


@dataclass(frozen=True)
class SparseFilling:
    """The imputation of missing values of a sparse view: the means of their columns.

    Attributes
    ----------
    means : ndarray of shape (n_features,)
        Of all values that are not missing, zeros included.
    """

    means: Floats

    def __call__(self, view: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """The view with imputed values."""
        filled = view.copy()
        filled.data = np.where(np.isnan(view.data), self.means[view.indices].astype(view.dtype), view.data)
        return filled


@dataclass(frozen=True)
class KeptGaps:
    """No imputation: missing values stay NaN, for descriptions of the data as they are."""

    def __call__(self, view: Any) -> Any:
        """The view, unchanged."""
        return view


def fit_sparse_filling(view: scipy.sparse.csr_array) -> SparseFilling:
    """Fit the imputation of a sparse view.

    Parameters
    ----------
    view : csr_array of shape (n_samples, n_features)
        Missing values are stored as NaN.

    Returns
    -------
    SparseFilling
    """
    missing = np.isnan(view.data)
    width = view.shape[1]
    sums = np.bincount(view.indices, np.where(missing, 0.0, view.data), minlength=width)
    counts = view.shape[0] - np.bincount(view.indices[missing], minlength=width)
    return SparseFilling(sums / np.maximum(counts, 1))


def fit_gap_filling(view: NDArray[Any], *, factors: bool = True) -> GapFilling:
    """Fit the imputation of a view to its observed values.

    Parameters
    ----------
    view : ndarray of shape (n_samples, n_features)
        Of float type, with at least one value; missing values are NaN. Rows without any value are ignored.
    factors : bool, default=True
        Whether to fit the factor analysis. Without it, gaps get the mean of the nearest donors.

    Returns
    -------
    GapFilling
    """
    observed = ~np.isnan(view)
    view, observed = view[observed.any(axis=1)], observed[observed.any(axis=1)]
    counts, empty = observed.sum(axis=0), ~observed.any(axis=0)
    lower = np.where(empty, 0.0, np.min(view, axis=0, initial=np.inf, where=observed)).astype(np.float64)
    upper = np.where(empty, 0.0, np.max(view, axis=0, initial=-np.inf, where=observed)).astype(np.float64)
    means = np.sum(view, axis=0, where=observed, dtype=np.float64) / np.maximum(counts, 1)
    # Rounding errors of a mean are not the variance of a constant column.
    constant = lower >= upper
    means = np.where(constant, lower, means)
    values = np.where(observed, view - means, 0.0)
    scales = np.sqrt((values * values).sum(axis=0) / np.maximum(counts, 1))
    constant |= scales == 0
    scales = np.where(constant, 1.0, scales)
    values /= scales
    order = _order_by_values(values, observed & ~constant)
    donors = np.sort(_spread(order, max(N_DONORS + 1, min(DONOR_ROWS, DONOR_VALUES // len(means)))))
    thresholds, few, fitted, error = lower, (np.empty(0, dtype=np.intp), np.empty((0, 1))), _no_factors(len(means)), 1.0
    if factors:
        chosen = np.ix_(_spread(order, FIT_ROWS), ~constant)
        bounds = np.vstack([lower - means, upper - means])[:, ~constant] / scales[~constant]
        fitted, error = _fit_factors(values[chosen], observed[chosen], bounds)
        fitted = _with_constants(fitted, constant)
        thresholds, few = _thresholds(view, observed, lower), _few_values(view, order)
    return GapFilling(
        means, scales, lower, upper, thresholds, *few, *fitted, values[donors], observed[donors], empty, error
    )


def _order_by_values(values: Floats, observed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Rows in the order of a score that depends on their values, not on the order of rows and columns.

    Columns and signs have different weights, because rows of few different values would have equal sums otherwise.
    """
    counts = np.maximum(observed.sum(axis=1), 1)
    totals = values.sum(axis=1) / counts
    weights = 1.0 + np.mean(np.abs(values) ** 3, axis=0) + values.T @ totals / len(values)
    return np.argsort((np.abs(values) + 0.5 * values) @ weights / counts, kind="stable")


def _spread(order: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """At most ``size`` rows at equal steps along an order."""
    return order if len(order) <= size else order[np.arange(size) * len(order) // size]


def _thresholds(view: NDArray[Any], observed: NDArray[np.bool_], lower: Floats) -> Floats:
    """Half of the way from a frequent smallest value to the mean of the others, where both are equally likely."""
    counts = observed.sum(axis=0)
    above = observed & (view > lower)
    n_above = above.sum(axis=0)
    middle = np.sum(view - lower, axis=0, where=above, dtype=np.float64) / np.maximum(n_above, 1) * (0.5 + TIE)
    return lower + np.where(counts - n_above >= FREQUENT * counts, middle, 0.0)


def _few_values(view: NDArray[Any], order: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
    """Columns with few different values, and these values."""
    columns, values = [], []
    some = view[_spread(order, SELECTION_ROWS)]  # most columns of measurements need no look at all rows
    for column in range(view.shape[1]):
        found = _distinct(some[:, column])
        if found is not None:
            found = _distinct(view[:, column])
        if found is not None:
            columns.append(column)
            values.append(found)
    size = max((len(found) for found in values), default=1)
    padded = [np.pad(found, (0, size - len(found)), mode="edge") for found in values]
    return np.array(columns, dtype=np.intp), np.array(padded, dtype=np.float64).reshape(len(columns), size)


def _distinct(column: NDArray[Any]) -> NDArray[Any] | None:
    """The different values of a column, if there are few of them."""
    column = column[~np.isnan(column)]
    found = np.unique(column)
    return found if 0 < len(found) <= min(MANY_VALUES, len(column) // REPEATS) else None


def _with_constants(factors: _Factors, constant: NDArray[np.bool_]) -> _Factors:
    """The factor analysis of all columns from that of the columns that are not constant."""
    everything = _no_factors(len(constant), factors.loadings.shape[1])
    for whole, part in zip(everything, factors, strict=True):
        whole[~constant] = part
    return everything


def _no_factors(n_columns: int, n_factors: int = 0) -> _Factors:
    """The model in which columns are independent."""
    return _Factors(np.zeros(n_columns), np.zeros((n_columns, n_factors)), np.ones(n_columns))


def _fit_factors(values: Floats, known: NDArray[np.bool_], bounds: Floats) -> tuple[_Factors, float]:
    """The factor analysis with the number of factors that predicts hidden values best, and its error for them."""
    n_rows, n_columns = values.shape
    no_factors = _no_factors(n_columns)
    part = _spread(np.arange(n_rows), SELECTION_ROWS)
    max_rank = min(MAX_RANK, n_columns - 1, len(part) // ROWS_PER_FACTOR)
    hidden = _hidden_values(values[part], known[part])
    if max_rank < 1 or not hidden.any():
        return no_factors, 1.0
    observed = (known[part] & ~hidden).astype(np.float64)
    shown = values[part] * observed
    largest = _initial_factors(shown, observed, max_rank)
    for _ in range(SELECTION_STEPS):
        largest = _em_step(largest, shown, observed)
    largest = _principal(largest)
    rows = hidden.any(axis=1)
    truth, best, smallest = values[part][hidden], no_factors, np.inf
    for rank in _ranks(max_rank):
        candidate = largest.truncate(rank) if rank else no_factors
        predicted = np.clip(candidate.predict(shown[rows], observed[rows]), *bounds)[hidden[rows]]
        error = float(np.mean((predicted - truth) ** 2))
        if error < smallest:
            best, smallest = candidate, error
    if best is not no_factors:
        for _ in range(FIT_STEPS):
            best = _em_step(best, values, known.astype(np.float64))
    return best, float(np.sqrt(smallest))


def _ranks(largest: int) -> list[int]:
    """Numbers of factors to compare: small ones all, larger ones in steps of about a third."""
    ranks = [0]
    while ranks[-1] < largest:
        ranks.append(min(largest, max(ranks[-1] + 1, ranks[-1] * 4 // 3)))
    return ranks


def _hidden_values(values: Floats, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Values to hide: some rows get the gaps of other rows. Each keeps at least one value."""
    receivers = np.arange(0, len(known), HIDDEN_ROWS)
    with_gaps = np.flatnonzero(~known.all(axis=1))
    if with_gaps.size:
        gaps = ~known[with_gaps[(np.arange(len(receivers)) * 7 + 3) % len(with_gaps)]]
    else:
        columns = np.argsort(np.argsort((values**3).sum(axis=0), kind="stable"))
        gaps = (columns + np.arange(len(receivers))[:, None]) % HIDDEN_VALUES == 0
    hidden = np.zeros_like(known)
    hidden[receivers] = known[receivers] & gaps
    hidden[(known & ~hidden).sum(axis=1) == 0] = False
    return hidden


def _initial_factors(values: Floats, observed: Floats, rank: int) -> _Factors:
    """Leading principal components, while missing values are replaced by their projections."""
    n_rows, n_columns = values.shape
    if n_columns <= n_rows:
        basis = scipy.linalg.eigh(values.T @ values, subset_by_index=(n_columns - rank, n_columns - 1))[1]
    else:
        basis = values.T @ scipy.linalg.eigh(values @ values.T, subset_by_index=(n_rows - rank, n_rows - 1))[1]
        basis = np.linalg.qr(basis)[0]
    filled = values
    for _ in range(START_STEPS):
        scores = filled @ basis
        filled = np.where(observed > 0, values, scores @ basis.T)
        basis = np.linalg.qr(filled.T @ scores)[0]
    scores = filled @ basis
    variances, rotation = np.linalg.eigh(scores.T @ scores / n_rows)
    total = float((filled * filled).sum()) / n_rows
    noise = max((total - variances.sum()) / (n_columns - rank), 1e-3)
    loadings = basis @ rotation * np.sqrt(np.maximum(variances - noise, 1e-3 * noise))
    return _Factors(np.zeros(n_columns), loadings, np.full(n_columns, noise))


def _scores(factors: _Factors, values: Floats, observed: Floats, *, covariances: bool = False) -> tuple[Any, Any]:
    """Conditional means (and covariances) of the factor scores, given the observed values."""
    loadings, rank = factors.loadings, factors.loadings.shape[1]
    upper = np.triu_indices(rank)
    scaled = loadings / factors.noise[:, None]
    precisions = _symmetric(observed @ (scaled[:, upper[0]] * loadings[:, upper[1]]), rank)
    precisions[:, range(rank), range(rank)] += 1.0
    targets = ((values - factors.offset) * observed @ scaled)[:, :, None]
    if not covariances:
        return np.linalg.solve(precisions, targets)[:, :, 0], None
    inverse = np.linalg.inv(precisions)
    return (inverse @ targets)[:, :, 0], inverse


def _em_step(factors: _Factors, values: Floats, observed: Floats) -> _Factors:
    """One EM step. Loadings have a standard normal prior, which matters for columns with few values."""
    rank = factors.loadings.shape[1]
    scores, covariances = _scores(factors, values, observed, covariances=True)
    upper = np.triu_indices(rank)
    moments = covariances[:, upper[0], upper[1]] + scores[:, upper[0]] * scores[:, upper[1]]
    counts = np.maximum(observed.sum(axis=0), 1.0)
    # One regression on scores and a constant for every column, over the rows in which it is observed.
    products = np.empty((len(counts), rank + 1, rank + 1))
    products[:, :rank, :rank] = _symmetric(observed.T @ moments, rank)
    products[:, range(rank), range(rank)] += factors.noise[:, None]
    products[:, rank, :rank] = products[:, :rank, rank] = observed.T @ scores
    products[:, rank, rank] = counts
    targets = np.hstack([values.T @ scores, values.sum(axis=0)[:, None]])
    solution = np.linalg.solve(products, targets[:, :, None])[:, :, 0]
    residual = (values * values).sum(axis=0) - (solution * targets).sum(axis=1)
    noise = np.maximum(residual / counts, SMALLEST_NOISE)
    return _Factors(solution[:, rank], solution[:, :rank], noise)


def _principal(factors: _Factors) -> _Factors:
    """The same model with factors in the order of their information."""
    scaled = factors.loadings / factors.noise[:, None]
    rotation = np.linalg.eigh(scaled.T @ factors.loadings)[1][:, ::-1]
    return factors._replace(loadings=factors.loadings @ rotation)


def _symmetric(upper_parts: Floats, size: int) -> Floats:
    """Symmetric matrices from their upper triangles."""
    rows, columns = np.triu_indices(size)
    matrices = np.empty((len(upper_parts), size, size))
    matrices[:, rows, columns] = upper_parts
    matrices[:, columns, rows] = upper_parts
    return matrices
