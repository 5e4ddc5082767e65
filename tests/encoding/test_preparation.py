"""What a view is taken for, and what its scaling promises."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from latefusion.arrays import to_numpy
from latefusion.encoding import column_statistics, fit_preparation
from latefusion.encoding.preparation import DIRECTED, UNEQUAL_SPREADS, describe_view, has_entries

RNG = np.random.default_rng(0)
EXAMPLES = {
    "counts": RNG.poisson(0.4, (60, 12)).astype(float),
    "distribution": RNG.dirichlet(np.ones(8), 60),
    "abundances": RNG.negative_binomial(1, 1 / 31, (60, 12)) * RNG.integers(1, 9, (60, 1)) * 1.0,
    "intensities": RNG.random((60, 12)) + 5,
    "measurements": RNG.normal(size=(60, 5)) * [1, 10, 100, 1e3, 1e4],
    "coordinates": RNG.normal(size=(60, 5)),
}
KINDS = list(EXAMPLES)
CONTAINERS = [np.asarray, sp.csr_array, sp.csr_matrix]


def fitted(view):
    return fit_preparation(column_statistics(view))


def kind_of(view):
    return describe_view(column_statistics(view))


def dense(view):
    return view.toarray() if sp.issparse(view) else view


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kinds_are_recognised_in_every_container(kind, container, dtype):
    assert kind_of(container(EXAMPLES[kind].astype(dtype))) == kind


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_and_dense_views_get_the_same_distances(kind):
    view = EXAMPLES[kind]
    prepared, sparse = fitted(view)(view), fitted(sp.csr_array(view))(sp.csr_array(view))
    assert sp.issparse(sparse)
    np.testing.assert_allclose(euclidean_distances(sparse), euclidean_distances(prepared), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_float_type_and_the_input_are_kept(kind, dtype, container):
    view = container(EXAMPLES[kind].astype(dtype))
    before = view.copy()
    assert fitted(view)(view).dtype == dtype
    np.testing.assert_array_equal(dense(view), dense(before))


@pytest.mark.parametrize(
    ("view", "kind"),
    [
        ((RNG.random((50, 20)) < 0.2) * 1.0, "counts"),
        ((RNG.random((50, 20)) < 0.2) * RNG.random((50, 20)), "distribution"),  # like grey values on black
        ((RNG.random((50, 20)) < 0.2) * 100.0, "distribution"),  # whole numbers, too large for counts
        (RNG.random((50, 20)) + 10, "intensities"),  # sums vary little, but by as much as those of independent columns
        (np.round(1000 * RNG.dirichlet(np.ones(20), 50)), "distribution"),  # the same sum up to rounding
        (np.log(RNG.lognormal(1, 1, (50, 400)) * 1000), "intensities"),  # like the logarithms of gene expression
        (RNG.poisson(30, (50, 20)) * 1.0, "intensities"),  # whole numbers without long tails, like grey values
        (RNG.integers(1, 3, (50, 20)) * 1.0, "intensities"),  # two values, coded as 1 and 2
        (RNG.negative_binomial(1, 1 / np.array([9, 99, 99999]), (50, 3)) * 1.0, "measurements"),  # units differ
        (RNG.random((50, 20)) ** 4 * RNG.exponential(size=(50, 1)), "coordinates"),  # sums are not
        (np.tile([[0.3, 0.7], [0.5, 0.5]], (25, 1)), "coordinates"),  # one number per sample
        ((RNG.random((50, 2)) < 0.3) * RNG.random((50, 2)), "coordinates"),
        ((RNG.random((50, 1)) < 0.3) * 1.0, "coordinates"),
        (np.c_[RNG.random((50, 1)), np.zeros((50, 9))], "coordinates"),  # all but one column are empty
        (-EXAMPLES["distribution"], "coordinates"),
        (np.zeros((5, 3)), "coordinates"),
    ],
)
def test_borderline_views(view, kind):
    assert kind_of(view) == kind
    assert kind_of(sp.csr_array(view)) == kind


def test_the_sum_of_the_rows_of_abundances_does_not_matter():
    view = EXAMPLES["abundances"]
    deeper = view * RNG.integers(1, 9, (60, 1))
    np.testing.assert_allclose(fitted(view)(deeper), fitted(view)(view), atol=1e-9)


def test_intensities_are_scaled_to_the_median_of_the_sums():
    view = EXAMPLES["intensities"]
    scaled = fitted(view)(view)
    np.testing.assert_allclose(scaled.sum(axis=1), np.median(view.sum(axis=1)))
    np.testing.assert_allclose(scaled / scaled[:, :1], view / view[:, :1])


def test_logarithms_of_abundances_have_unit_variance():
    view = EXAMPLES["abundances"]
    sums = view.sum(axis=1, keepdims=True)
    reference = StandardScaler(with_mean=False).fit_transform(np.log1p(view / sums * np.median(sums)))
    np.testing.assert_allclose(fitted(view)(view), reference, atol=1e-9)


def test_sums_that_tell_samples_apart_are_no_distribution():
    warm = RNG.integers(2, size=(50, 1)) * 10.0
    temperatures = 290 + warm + RNG.normal(size=(50, 4))
    assert kind_of(temperatures) == "coordinates"
    distances = euclidean_distances(fitted(temperatures)(temperatures))
    same = warm == warm.T
    assert distances[same].max() < distances[~same].min()


def test_a_constant_column_changes_nothing():
    for kind in ("measurements", "coordinates"):
        view = EXAMPLES[kind]
        more = np.column_stack([view, np.full(60, 0.1)])
        assert kind_of(more) == kind
        assert kind_of(sp.csr_array(more)) == kind
        scaled = fitted(more)(more)
        np.testing.assert_allclose(scaled[:, :-1], fitted(view)(view))
        assert np.ptp(scaled[:, -1]) == 0


@pytest.mark.parametrize("container", CONTAINERS)
def test_counts_are_weighed_by_tf_idf_of_their_logarithms(container):
    view = EXAMPLES["counts"]
    reference = TfidfTransformer().fit_transform(sp.csr_array(np.log1p(view))).toarray()
    np.testing.assert_allclose(dense(fitted(container(view))(container(view))), reference, atol=1e-12)


def test_distances_of_distributions_are_hellinger_distances():
    p = EXAMPLES["distribution"]
    prepared = fitted(7 * p)(7 * p)
    coefficients = np.sqrt(p[:, None, :] * p[None, :, :]).sum(axis=2)
    np.testing.assert_allclose(euclidean_distances(prepared, squared=True), 2 - 2 * coefficients, atol=1e-12)


def test_measurements_are_standardised():
    view = EXAMPLES["measurements"]
    np.testing.assert_allclose(fitted(view)(view), StandardScaler().fit_transform(view), atol=1e-12)


def test_coordinates_stay_as_they_are():
    view = EXAMPLES["coordinates"]
    assert fitted(view)(view) is view


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_new_samples_are_scaled_like_the_training_samples(kind, container):
    view = container(EXAMPLES[kind])
    preparation = fitted(view)
    np.testing.assert_array_equal(dense(preparation(view[10:20])), dense(preparation(view))[10:20])


@pytest.mark.parametrize("kind", ["counts", "distribution"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_new_samples_may_be_negative(kind, container):
    preparation = fitted(EXAMPLES[kind])
    new = container(-EXAMPLES[kind][:5])
    np.testing.assert_allclose(dense(preparation(new)), -preparation(EXAMPLES[kind][:5]), atol=1e-12)


@pytest.mark.parametrize("kind", ["distribution", "measurements"])
@pytest.mark.parametrize("factor", [1e-100, 1e145])
def test_the_unit_does_not_matter(kind, factor):
    view = EXAMPLES[kind]
    assert kind_of(view * factor) == kind
    np.testing.assert_allclose(fitted(view * factor)(view * factor), fitted(view)(view), atol=1e-9)


def test_the_unit_of_coordinates_does_not_change_what_they_are():
    for factor in (1e-100, 1e150):
        assert kind_of(EXAMPLES["coordinates"] * factor) == "coordinates"


@pytest.mark.parametrize("kind", KINDS)
def test_an_outlier_gives_finite_values(kind):
    view = EXAMPLES[kind].copy()
    view[3, 2] = 1e12
    assert np.isfinite(fitted(view)(view)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_empty_rows_give_finite_values(kind, container):
    view = EXAMPLES[kind].copy()
    view[::3] = 0
    assert np.isfinite(dense(fitted(container(view))(container(view)))).all()


def test_subnormal_columns_count_as_constant():
    view = EXAMPLES["measurements"].astype(np.float32)
    more = np.column_stack([view, view[:, 0] * np.float32(1e-42)])
    scaled = fitted(more)(more)
    np.testing.assert_allclose(scaled[:, :-1], fitted(view)(view))
    assert not scaled[:, -1].any()


@pytest.mark.parametrize(("factor", "kind"), [(0.95, "coordinates"), (1.05, "measurements")])
@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_columns_are_unequal_by_the_root_mean_square_of_their_spreads_over_the_geometric_mean(factor, kind, unit):
    """Of two spreads 1 and r that is ((r + 1/r) / 2)^{1/2}; squares of huge ones must not overflow."""
    level = (factor * UNEQUAL_SPREADS) ** 2
    ratio = level + np.sqrt(level**2 - 1)
    column = np.tile([-1.0, 1.0], 20)
    assert kind_of(unit * np.c_[column, ratio * column[::-1]]) == kind


def test_a_row_without_anything_stays_without():
    view = EXAMPLES["distribution"].copy()
    view[3] = 0.0
    prepared = fitted(EXAMPLES["distribution"])(view)
    assert not prepared[3].any()
    np.testing.assert_allclose(np.sum(np.delete(prepared, 3, axis=0) ** 2, axis=1), 1)


@pytest.mark.parametrize("kind", DIRECTED)
@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_of_zeros_are_found_scaled_or_not(kind, container):
    view = EXAMPLES[kind].copy()
    view[[3, 7]] = 0.0
    preparation = fitted(container(EXAMPLES[kind]))
    expected = (view != 0).any(axis=1)
    np.testing.assert_array_equal(has_entries(container(view)), expected)
    np.testing.assert_array_equal(has_entries(preparation(container(view))), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_statistics_of_a_scaled_view_follow_from_those_of_the_view(kind, container):
    """Of all rows where the scaling is linear; otherwise of the sample rows, which here are all rows."""
    view = container(EXAMPLES[kind])
    raw = column_statistics(view)
    preparation = fit_preparation(raw)
    found, expected = preparation.statistics(raw), column_statistics(preparation(view))
    np.testing.assert_allclose(found.means, expected.means, atol=1e-12)
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-9)
    assert found.mean_squared_distance == pytest.approx(euclidean_distances(preparation(view), squared=True).mean())


def test_a_view_is_described_by_all_rows_even_if_the_sample_rows_are_empty():
    view = np.vstack([np.zeros((20, 4)), EXAMPLES["measurements"][:, :4]])
    assert describe_view(column_statistics(view, view[:20])) == "measurements"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scaling_is_the_same_in_every_array_library(kind, dtype, xp):
    view = EXAMPLES[kind].astype(dtype)
    there = xp.asarray(view)
    found, expected = fitted(there), fitted(view)
    assert found.kind == kind
    scaled = found(there)
    assert scaled.dtype == there.dtype
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(to_numpy(scaled), expected(view), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(to_numpy(expected(there)), expected(view), rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(has_entries(there), has_entries(view))
