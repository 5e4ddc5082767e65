"""Blocks that are filled in: exactly where views share all, with nothing where they share nothing."""

import numpy as np
import pytest

from latefusion.partitions.imputation import LEARNING_SAMPLES, Fill, fit_factor_model, patterns, sum_patterns

OWNERS = np.repeat([0, 1, 2], [4, 5, 6])


def fit(rows, mask, owners, n_components, **options):
    return fit_factor_model(sum_patterns(rows, mask, owners), owners, n_components, **options)


@pytest.fixture
def generator(seed):
    return np.random.default_rng(seed)


@pytest.fixture
def mask(generator):
    return some_holes(generator, 200)


def some_holes(generator, n_samples):
    mask = generator.random((n_samples, 3)) > 0.4
    mask[~mask.any(axis=1), 1] = True
    return mask


def rows_of(generator, n_samples, noise=0.0):
    scores = generator.standard_normal((n_samples, 2))
    loadings = np.random.default_rng(7).standard_normal((2, 15))
    return scores @ loadings + noise * generator.standard_normal((n_samples, 15))


def test_patterns_part_the_samples(mask):
    groups = list(patterns(mask))
    assert np.sort(np.concatenate([samples for samples, _ in groups])).tolist() == list(range(200))
    for samples, present in groups:
        assert (mask[samples] == present).all()


def test_rows_of_low_rank_come_back(generator, mask):
    rows = rows_of(generator, 200)
    model = fit(np.where(mask[:, OWNERS], rows, np.nan_to_num(np.inf)), mask, OWNERS, 2)
    new, holes = rows_of(generator, 30), some_holes(generator, 30)
    for whole, present in ((rows, mask), (new, holes)):
        filled = model.impute(np.where(present[:, OWNERS], whole, 0.0), present)
        np.testing.assert_allclose(filled, whole, atol=0.02 * np.abs(rows).max())
        np.testing.assert_array_equal(filled[present[:, OWNERS]], whole[present[:, OWNERS]])


def test_noise_makes_it_worse_but_not_useless(generator, mask):
    rows = rows_of(generator, 200, noise=0.3)
    filled = fit(rows, mask, OWNERS, 2).impute(rows, mask)
    absent = ~mask[:, OWNERS]
    assert np.mean((filled - rows)[absent] ** 2) < 0.25 * np.mean(rows[absent] ** 2)


def test_a_view_of_noise_fills_in_nothing(generator):
    rows = np.concatenate([rows_of(generator, 400, noise=0.1)[:, :9], generator.standard_normal((400, 6))], axis=1)
    mask = np.ones((400, 3), dtype=bool)
    mask[:100, :2] = False
    model = fit(rows, mask, OWNERS, 2)
    filled = model.impute(rows, mask)
    assert np.mean(filled[:100, :9] ** 2) < 0.1 * np.mean(rows[:, :9] ** 2)


def test_units_do_not_matter(generator, mask):
    rows = rows_of(generator, 200, noise=0.1)
    factors = np.array([1.0, 1e-3, 1e4])[OWNERS]
    plain = fit(rows, mask, OWNERS, 2).impute(rows, mask)
    scaled = fit(rows * factors, mask, OWNERS, 2, scales=1 / factors).impute(rows * factors, mask)
    np.testing.assert_allclose(scaled, plain * factors, rtol=1e-6)


def test_columns_that_do_not_score_are_filled_in_from_those_that_do(generator, mask):
    rows = rows_of(generator, 200)
    scoring = np.ones(15, dtype=bool)
    scoring[[3, 8]] = False
    garbage = rows.copy()
    model = fit(rows, mask, OWNERS, 2, scoring=scoring)
    garbage[:, ~scoring] = 99.0
    filled, other = model.impute(rows, mask), model.impute(garbage, mask)
    absent = ~mask[:, OWNERS]
    np.testing.assert_array_equal(filled[absent], other[absent])
    np.testing.assert_allclose(filled[:, 3], rows[:, 3], atol=0.02 * np.abs(rows).max())


def test_samples_without_any_block_teach_nothing(generator, mask):
    rows = rows_of(generator, 200, noise=0.3)
    learnt = fit(rows, mask, OWNERS, 2)
    unknown = np.zeros((60, 3), dtype=bool)
    more = fit(np.concatenate([rows, np.ones((60, 15))]), np.concatenate([mask, unknown]), OWNERS, 2)
    np.testing.assert_array_equal(more.loadings, learnt.loadings)
    np.testing.assert_array_equal(more.noise, learnt.noise)


def test_a_column_without_scale_stays_zero(generator, mask):
    rows = rows_of(generator, 200) * (np.arange(15) != 5)
    scales = (np.arange(15) != 5).astype(float)
    filled = fit(rows, mask, OWNERS, 2, scales=scales).impute(np.where(mask[:, OWNERS], rows, 0.0), mask)
    assert np.isfinite(filled).all()
    assert not filled[:, 5].any()


def test_many_samples_are_learnt_from_some(generator):
    n_samples = LEARNING_SAMPLES + 3000
    rows, mask = rows_of(generator, n_samples), some_holes(generator, n_samples)
    mask[200:, 2] = False  # a rare view is not lost among the many
    mask[~mask.any(axis=1), 0] = True
    filled = fit(rows, mask, OWNERS, 2).impute(rows, mask)
    np.testing.assert_allclose(filled, rows, atol=0.05 * np.abs(rows).max())


def test_rescaling_undoes_the_shorter_sum_of_similarities(generator, mask):
    rows = np.where(mask[:, OWNERS], rows_of(generator, 200), 0.0)
    similarity = sum(rows[:, view == OWNERS] @ rows[:, view == OWNERS].T for view in range(3))
    roots = np.sqrt(mask.mean(axis=1))
    scaled = Fill(np.ones(15, dtype=bool))(rows, mask)
    np.testing.assert_allclose(scaled @ scaled.T, similarity / roots[:, None] / roots, atol=1e-10)
