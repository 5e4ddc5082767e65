"""Feature maps: inner products of features are the standardised kernel, exactly or nearly."""

import numpy as np
import pytest
import scipy.sparse

from latefusion.datasets import make_views
from latefusion.kernels import fit_kernel, linear_kernel, standardize_kernel
from latefusion.similarities import KernelSimilarity
from latefusion.similarities.factor import Factor, FactorExtension, fit_linear_map, fit_nystrom_map

VIEW = make_views(200, 4, n_views=1, n_features=6, random_state=0).views.arrays[0]


def test_linear_map_is_the_standardised_linear_kernel():
    expected = standardize_kernel(linear_kernel(VIEW + 100.0))[0]
    factor = Factor(VIEW + 100.0, fit_linear_map(VIEW + 100.0))
    np.testing.assert_allclose(factor.toarray(), expected, atol=1e-8)
    assert factor.feature_map.width == 6
    assert factor.shape == (200, 200)
    np.testing.assert_allclose(factor.rows(10, 20), factor.feature_map(VIEW + 100.0)[10:20])


def test_a_sample_at_the_mean_maps_to_zero():
    view = np.vstack([VIEW, VIEW.mean(axis=0)])
    features = fit_linear_map(view)(view)
    assert not features[-1].any()
    np.testing.assert_allclose(np.linalg.norm(features[:-1], axis=1), 1)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-5)])
def test_sparse_linear_map_is_the_standardised_linear_kernel(dtype, tolerance):
    dense = np.where(VIEW > 1, VIEW, 0).astype(dtype)
    sparse = scipy.sparse.csr_array(dense)
    factor = Factor(sparse, fit_linear_map(sparse))
    assert not factor.has_dense_rows
    assert factor.toarray().dtype == dtype
    expected = standardize_kernel(linear_kernel(dense.astype(np.float64)))[0]
    np.testing.assert_allclose(factor.toarray(), expected, atol=tolerance)
    extension = FactorExtension(factor.feature_map).with_columns(sparse, np.arange(7))
    np.testing.assert_allclose(extension.closeness(sparse[50:60]), expected[50:60, :7], atol=tolerance)
    assert Factor(dense, fit_linear_map(dense)).has_dense_rows


def test_a_sparse_sample_at_the_mean_maps_to_zero():
    view = scipy.sparse.csr_array(np.vstack([VIEW, VIEW.mean(axis=0)]))
    lengths = np.linalg.norm(fit_linear_map(view)(view) @ np.eye(6), axis=1)
    assert lengths[-1] == 0
    np.testing.assert_allclose(lengths[:-1], 1)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "polynomial"])
def test_nystrom_with_all_landmarks_is_the_kernel(kernel):
    fitted = fit_kernel(kernel, VIEW)
    factor = Factor(VIEW, fit_nystrom_map(VIEW, fitted, n_landmarks=200, energy=1.0))
    np.testing.assert_allclose(factor.toarray(), standardize_kernel(fitted(VIEW))[0], atol=1e-5)


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans++"])
def test_nystrom_comes_near_with_few_landmarks_and_reports_its_energy(landmarks):
    fitted = fit_kernel("gaussian", VIEW)
    exact = standardize_kernel(fitted(VIEW))[0]
    errors = []
    for n_landmarks in (10, 80):
        feature_map = fit_nystrom_map(VIEW, fitted, n_landmarks=n_landmarks, landmarks=landmarks)
        assert feature_map.width <= n_landmarks
        assert 0.9999 <= feature_map.energy <= 1 + 1e-12
        errors.append(np.abs(Factor(VIEW, feature_map).toarray() - exact).max())
    assert errors[1] < errors[0] / 2


def test_energy_sets_the_rank():
    fitted = fit_kernel("gaussian", VIEW)
    ranks = [fit_nystrom_map(VIEW, fitted, n_landmarks=100, energy=energy).width for energy in (0.5, 0.9, 0.999)]
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1]


def test_rank_can_be_capped():
    feature_map = fit_nystrom_map(VIEW, fit_kernel("gaussian", VIEW), n_landmarks=100, max_rank=7)
    assert feature_map.width == 7
    assert feature_map.energy < 0.9999


def test_sparse_views_stay_sparse():
    sparse = scipy.sparse.csr_array(np.where(VIEW > 1, VIEW, 0))
    fitted = fit_kernel("gaussian", sparse)
    feature_map = fit_nystrom_map(sparse, fitted, n_landmarks=50)
    assert scipy.sparse.issparse(feature_map.landmarks)
    dense = fit_nystrom_map(sparse.toarray(), fit_kernel("gaussian", sparse.toarray()), n_landmarks=50)
    np.testing.assert_allclose(np.abs(feature_map(sparse)), np.abs(dense(sparse.toarray())), atol=1e-6)


def test_closeness_is_the_inner_product_with_the_columns():
    feature_map = fit_linear_map(VIEW)
    columns = feature_map(VIEW[:7])
    extension = FactorExtension(feature_map, columns)
    features = extension.features(VIEW[50:60])
    np.testing.assert_allclose(extension.closeness(VIEW[50:60], features), features @ columns.T)


def test_single_precision_is_kept():
    single = VIEW.astype(np.float32)
    assert fit_linear_map(single)(single).dtype == np.float32
    assert fit_nystrom_map(single, fit_kernel("gaussian", single), n_landmarks=40)(single).dtype == np.float32


@pytest.mark.parametrize(
    ("kernel", "params", "words"),
    [
        ("gaussian", {"sigma": 1e12}, "shape \\(200, 6\\) is constant up to rounding"),
        ("polynomial", {"degree": 3000}, "shape \\(200, 6\\) has values that are NaN or infinite"),
        (lambda left, right: -left @ right.T, {}, "no positive eigenvalue"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_kernels_without_a_factor_are_refused(kernel, params, words):
    with pytest.raises(ValueError, match=words):
        fit_nystrom_map(VIEW, fit_kernel(kernel, VIEW, params), n_landmarks=50)


def test_the_unit_of_the_kernel_does_not_matter():
    """What counts as rounding error is relative to the size of the kernel."""
    sparse = scipy.sparse.csr_array(np.where(VIEW > 1, VIEW, 0))
    maps = [fit_nystrom_map(unit * sparse, fit_kernel("linear", unit * sparse), n_landmarks=50) for unit in (1.0, 1e-8)]
    large, small = (Factor(unit * sparse, one).toarray() for unit, one in zip((1.0, 1e-8), maps, strict=True))
    np.testing.assert_allclose(small, large, atol=1e-6)
    assert maps[0].captured == pytest.approx(maps[1].captured)


def test_blocks_of_similarities_change_nothing(monkeypatch):
    feature_map = fit_nystrom_map(VIEW, fit_kernel("gaussian", VIEW), n_landmarks=40)
    whole = feature_map(VIEW)
    for rows in (30, len(VIEW) - 1):  # many blocks, and two
        monkeypatch.setattr("latefusion.similarities.factor.ENTRIES_AT_A_TIME", 40 * rows)
        np.testing.assert_allclose(feature_map(VIEW), whole, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "fast"}, "method must be one of"),
        ({"landmarks": "grid"}, "landmarks must be one of"),
        ({"n_landmarks": 0}, "n_landmarks must be an integer of at least 1, got 0"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        KernelSimilarity(**options).similarity(VIEW, 3)
