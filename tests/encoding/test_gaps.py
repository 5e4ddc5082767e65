"""What the imputation of single missing values promises."""

from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse

from latefusion.encoding import gaps
from latefusion.encoding.gaps import GapFilling, KeptGaps, fit_gap_filling, fit_sparse_filling


def low_rank(n_rows=120, n_columns=30, rank=3, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_columns))
    return signal + noise * rng.normal(size=signal.shape) + 5


def with_gaps(view, rate=0.2, seed=1):
    missing = np.random.default_rng(seed).random(view.shape) < rate
    missing[missing.all(axis=1), 0] = False
    return np.where(missing, np.nan, view).astype(view.dtype)


def with_blocks(view, width, seed=1):
    """Half of the rows lose a block of adjacent columns."""
    rng, view = np.random.default_rng(seed), view.copy()
    for row in rng.permutation(len(view))[::2]:
        start = rng.integers(0, view.shape[1] - width + 1)
        view[row, start : start + width] = np.nan
    return view


def filled(view):
    return fit_gap_filling(view)(view)


def error(result, truth, gappy):
    """Root mean square error of the imputed values in units of the standard deviations."""
    return np.sqrt(np.mean((((result - truth) / truth.std(axis=0))[np.isnan(gappy)]) ** 2))


def mean_filled(view):
    return np.where(np.isnan(view), np.nanmean(view, axis=0), view)


EXAMPLES = {
    "correlated": with_gaps(low_rank(noise=0.5)),
    "blocks": with_blocks(low_rank(noise=0.5), 12),
    "independent": with_gaps(np.random.default_rng(2).normal(size=(90, 8))),
    "wide": with_gaps(low_rank(25, 80, noise=0.3)),
    "whole numbers": with_gaps(np.random.default_rng(3).poisson(2.0, (100, 6)).astype(float)),
    "three columns": with_gaps(low_rank(60, 3, 1, 0.2)),
}
every_example = pytest.mark.parametrize("name", EXAMPLES)


@every_example
def test_observed_values_are_kept_and_gaps_are_filled(name):
    view = EXAMPLES[name]
    result = filled(view)
    assert np.isfinite(result).all()
    observed = ~np.isnan(view)
    np.testing.assert_array_equal(result[observed], view[observed])


@every_example
def test_a_row_is_imputed_without_looking_at_the_other_rows(name):
    """So that training samples get the same rows again in predict, in any company."""
    view = EXAMPLES[name]
    filling = fit_gap_filling(view)
    together = filling(view)
    np.testing.assert_array_equal(filling(view), together)
    alone = np.vstack([filling(view[i : i + 1]) for i in range(len(view))])
    np.testing.assert_allclose(alone, together, rtol=1e-8, atol=1e-10)


@every_example
def test_the_input_is_not_changed(name):
    view = EXAMPLES[name].copy()
    filled(view)
    np.testing.assert_array_equal(view, EXAMPLES[name])


@every_example
def test_permuted_rows_and_columns_give_the_permuted_result(name):
    view = EXAMPLES[name]
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(view.shape[0]), rng.permutation(view.shape[1])
    result = filled(np.ascontiguousarray(view[np.ix_(rows, columns)]))
    np.testing.assert_allclose(result, filled(view)[np.ix_(rows, columns)], rtol=1e-8, atol=1e-8)


@every_example
def test_units_and_origins_of_columns_do_not_matter(name):
    view = EXAMPLES[name]
    rng = np.random.default_rng(6)
    units, origins = 10.0 ** rng.uniform(-3, 3, view.shape[1]), rng.normal(size=view.shape[1])
    np.testing.assert_allclose(filled(view * units) / units, filled(view), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(filled(view + origins) - origins, filled(view), rtol=1e-8, atol=1e-8)


@every_example
def test_imputed_values_are_in_the_observed_range_of_their_column(name):
    view = EXAMPLES[name]
    filling = fit_gap_filling(view)
    far = np.where(np.isnan(view), np.nan, 100 * view)
    for result in (filling(view), np.where(np.isnan(view), filling(far), view)):
        assert (result >= np.nanmin(view, axis=0)).all()
        assert (result <= np.nanmax(view, axis=0)).all()


def test_columns_of_few_values_get_one_of_them():
    rng = np.random.default_rng(0)
    view = np.column_stack(
        [rng.poisson(2.0, (200, 3)), rng.integers(0, 2, (200, 3)) * 0.7, low_rank(200, 4, noise=1.0)]
    )
    gappy = with_gaps(view)
    result = filled(gappy)
    for column in range(6):
        assert set(result[:, column]) <= set(gappy[~np.isnan(gappy[:, column]), column])
    missing = np.isnan(gappy[:, 7])
    assert not set(result[missing, 7]) <= set(gappy[~missing, 7])


def test_a_sparse_view_stays_sparse():
    rng = np.random.default_rng(0)
    view = np.where(rng.random((150, 40)) < 0.2, rng.gamma(2.0, size=(150, 40)), 0.0)
    gappy = with_gaps(view, 0.3)
    missing = np.isnan(gappy)
    assert np.mean(filled(gappy)[missing] == 0) > 0.7


def test_a_frequent_smallest_value_is_imputed_where_it_is_likely():
    """Two groups of rows: most columns are zero in one of them and positive in the other."""
    rng = np.random.default_rng(0)
    view = np.where(np.repeat([[False], [True]], 100, axis=0), rng.uniform(1, 2, (200, 12)), 0.0)
    gappy = with_gaps(view)
    result = filled(gappy)
    np.testing.assert_array_equal(result == 0, view == 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_without_gaps_are_returned_bit_for_bit(dtype):
    view = EXAMPLES["correlated"].astype(dtype)
    filling = fit_gap_filling(view)
    complete = low_rank(noise=1.0, seed=8).astype(dtype)
    result = filling(complete)
    assert result.dtype == dtype
    assert result is not complete
    np.testing.assert_array_equal(result, complete)


def test_float32_stays_float32_and_agrees_with_float64():
    view = EXAMPLES["correlated"]
    result = filled(view.astype(np.float32))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, filled(view), atol=1e-3)


def test_the_range_of_float32_columns_is_exact():
    view = with_gaps((low_rank(noise=0.3) * 1e-3).astype(np.float32), 0.4)
    result = filled(view)
    assert (result >= np.nanmin(view, axis=0)).all()
    assert (result <= np.nanmax(view, axis=0)).all()


@pytest.mark.parametrize("shape", [(120, 30), (30, 120)])
@pytest.mark.parametrize("damage", [with_gaps, lambda view: with_blocks(view, 10)], ids=["at random", "blocks"])
def test_a_matrix_of_low_rank_is_recovered(shape, damage):
    view = low_rank(*shape, rank=2)
    gappy = damage(view)
    # Extreme values are out of the observed range of their column.
    inside = (view >= np.nanmin(gappy, axis=0)) & (view <= np.nanmax(gappy, axis=0))
    difference = np.abs(filled(gappy) - view)[inside & np.isnan(gappy)] / view.std()
    assert np.sqrt(np.mean(difference**2)) < 0.02


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.4])
def test_correlated_columns_are_imputed_better_than_by_means(rate):
    view = low_rank(noise=0.7)
    gappy = with_gaps(view, rate)
    assert error(filled(gappy), view, gappy) < 0.6 * error(mean_filled(gappy), view, gappy)


def test_the_number_of_factors_follows_the_data():
    ranks = {}
    for rank in (1, 4):
        view = low_rank(200, 40, rank, noise=0.3, seed=3)
        ranks[rank] = fit_gap_filling(with_gaps(view)).loadings.shape[1]
    assert ranks[1] < ranks[4]
    assert abs(ranks[4] - 4) <= 2
    independent = np.random.default_rng(1).normal(size=(300, 60))
    assert fit_gap_filling(with_gaps(independent)).loadings.shape[1] <= 1


def test_the_error_of_hidden_values_predicts_the_error_of_gaps():
    view = low_rank(300, 40, noise=0.7)
    gappy = with_gaps(view)
    filling = fit_gap_filling(gappy)
    standardized = np.nan_to_num((gappy - filling.means) / filling.scales)
    predicted = filling._factors.predict(standardized, (~np.isnan(gappy)).astype(float))
    found = error(predicted * filling.scales + filling.means, view, gappy)
    assert found == pytest.approx(filling.error, rel=0.1)


def test_gaps_of_a_column_that_nothing_predicts_get_different_values():
    """With one value for all of them, their rows would be a cluster of their own."""
    view = np.random.default_rng(0).normal(size=(300, 4))
    gappy = with_gaps(view, 0.3)
    result = filled(gappy)
    for column in range(4):
        assert result[np.isnan(gappy[:, column]), column].std() > 0.3


def test_what_is_no_linear_function_of_other_columns_is_taken_from_similar_rows():
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 600)
    view = np.column_stack([np.cos(angles), np.sin(angles), np.cos(2 * angles), np.sin(2 * angles)])
    gappy = view.copy()
    gappy[::3, 2] = np.nan
    assert error(filled(gappy), view, gappy) < 0.25
    assert error(mean_filled(gappy), view, gappy) > 0.9


def test_new_samples_are_imputed_as_well_as_training_samples():
    view = low_rank(400, 30, noise=0.5)
    gappy = with_gaps(view)
    filling = fit_gap_filling(gappy[:200])
    old, new = (error(filling(gappy[part]), view[part], gappy[part]) for part in (slice(200), slice(200, None)))
    assert new < 1.2 * old


def test_a_fit_to_complete_rows_fills_gaps_of_new_samples():
    view = low_rank(300, 30, noise=0.5)
    filling = fit_gap_filling(view[:200])
    gappy = with_gaps(view[200:])
    assert error(filling(gappy), view[200:], gappy) < 0.6 * error(mean_filled(gappy), view[200:], gappy)


def test_constant_columns_get_their_value():
    view = low_rank(noise=0.5)
    view[:, 4] = 0.1
    assert (filled(with_gaps(view))[:, 4] == 0.1).all()


def test_a_column_with_one_value_gets_this_value():
    view = with_gaps(low_rank(noise=0.5))
    view[:, 4] = np.nan
    view[7, 4] = 3.25
    assert (filled(view)[:, 4] == 3.25).all()


def test_a_column_without_values_becomes_zero_and_is_flagged():
    view = with_gaps(low_rank(noise=0.5))
    view[:, 4] = np.nan
    filling = fit_gap_filling(view)
    assert filling.empty.tolist() == [column == 4 for column in range(view.shape[1])]
    assert (filling(view)[:, 4] == 0).all()
    others = np.arange(view.shape[1]) != 4
    np.testing.assert_allclose(filling(view)[:, others], filled(view[:, others]), rtol=1e-8)


def test_rows_without_values_are_left_alone_and_do_not_count():
    view = with_gaps(low_rank(noise=0.5))
    more = np.vstack([np.full((3, view.shape[1]), np.nan), view])
    result = filled(more)
    assert np.isnan(result[:3]).all()
    np.testing.assert_allclose(result[3:], filled(view), rtol=1e-10)


def test_a_row_with_one_observed_value():
    view = low_rank(200, 10, rank=1, noise=0.2)
    gappy = view.copy()
    gappy[:20, 1:] = np.nan
    assert error(filled(gappy), view, gappy) < 0.6 * error(mean_filled(gappy), view, gappy)


@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (3, 50), (5, 1), (50, 1), (4, 2)])
def test_small_views(shape):
    view = np.random.default_rng(0).normal(size=shape)
    view[0, -1] = np.nan
    result = filled(view)
    assert np.isfinite(result[~np.isnan(view).all(axis=1)]).all()


def test_a_single_gap():
    view = low_rank(noise=0.1)
    gappy = view.copy()
    gappy[17, 3] = np.nan
    assert abs(filled(gappy)[17, 3] - view[17, 3]) < 0.5 * view[:, 3].std()


def test_many_rows_are_fitted_by_some_of_them(monkeypatch):
    view = low_rank(400, 20, noise=0.5)
    gappy = with_gaps(view)
    everything = error(filled(gappy), view, gappy)
    for name, size in (("SELECTION_ROWS", 80), ("FIT_ROWS", 120), ("DONOR_ROWS", 60), ("BLOCK_ROWS", 64)):
        monkeypatch.setattr(gaps, name, size)
    some = fit_gap_filling(gappy)
    assert len(some.donors) == 60
    assert error(some(gappy), view, gappy) < 1.15 * everything
    order = np.random.default_rng(4).permutation(len(view))
    np.testing.assert_allclose(filled(gappy[order]), some(gappy)[order], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n_columns", [4, 12])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ties_do_not_depend_on_the_order(n_columns, seed):
    """Rows of zeros and ones have many neighbours at the same distance."""
    rng = np.random.default_rng(seed)
    group = rng.random(200) < 0.5
    view = np.where(rng.random((200, n_columns)) < 0.8, group[:, None], ~group[:, None]).astype(float)
    view = with_gaps(view, 0.2)
    rows, columns = rng.permutation(200), rng.permutation(n_columns)
    result = filled(np.ascontiguousarray(view[np.ix_(rows, columns)]))
    np.testing.assert_allclose(result, filled(view)[np.ix_(rows, columns)], rtol=1e-8, atol=1e-8)


def test_all_fields_are_finite_arrays_and_numbers():
    filling = fit_gap_filling(EXAMPLES["correlated"])
    for field in fields(GapFilling):
        value = getattr(filling, field.name)
        assert isinstance(value, (np.ndarray, float))
        assert np.isfinite(value).all()


def test_gaps_of_a_sparse_view_get_the_mean_of_their_column():
    dense = np.array([[0.0, 4.0], [np.nan, 2.0], [3.0, np.nan], [0.0, 0.0]])
    filling = fit_sparse_filling(scipy.sparse.csr_array(dense))
    np.testing.assert_allclose(filling.means, [1.0, 2.0])
    np.testing.assert_allclose(filling(scipy.sparse.csr_array(dense)).toarray(), [[0, 4], [1, 2], [3, 2], [0, 0]])


def test_without_factors_gaps_get_values_of_the_nearest_rows():
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    view = rng.normal(0, 0.1, (60, 4)) + 10 * group[:, None]
    filling = fit_gap_filling(view, factors=False)
    assert filling.loadings.shape == (4, 0)
    new = np.array([[0.0, 0.0, np.nan, 0.0], [10.0, np.nan, 10.0, 10.0]])
    np.testing.assert_allclose(filling(new), [[0, 0, 0, 0], [10, 10, 10, 10]], atol=0.3)


def test_gaps_can_be_kept():
    view = with_gaps(low_rank(10, 4))
    assert KeptGaps()(view) is view
