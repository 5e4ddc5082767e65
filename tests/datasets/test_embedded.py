"""The data sets made from scikit-learn's tables."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits

from latefusion.datasets import load_breast_cancer_views, load_digits_views
from latefusion.datasets.embedded import DIGIT_VIEWS
from latefusion.metrics import clustering_accuracy
from latefusion.types import MultiViewDataset, Views

LOADERS = (load_digits_views, load_breast_cancer_views)


def describe(name, image):
    return DIGIT_VIEWS[name](np.asarray(image, dtype=float)[np.newaxis])[0]


def blank():
    return np.zeros((8, 8))


def kmeans_accuracy(array, target, n_clusters):
    labels = KMeans(n_clusters, n_init=3, random_state=0).fit_predict(array)
    return clustering_accuracy(target, labels)


@pytest.fixture(scope="module")
def digits():
    return load_digits_views()


def test_digits_have_five_views_of_all_samples(digits):
    assert digits.views.names == ("pixels", "upright", "fourier", "gradients", "strokes")
    assert len(digits.views) == 1797
    assert digits.kind == "features"
    np.testing.assert_array_equal(digits.target, load_digits().target)
    assert digits.target_names == tuple("0123456789")
    assert all(name in digits.description for name in digits.views.names)


@pytest.mark.parametrize("loader", LOADERS)
def test_every_column_varies(loader):
    for name, array in loader().views.items():
        assert np.ptp(array, axis=0).min() > 0, name


def test_breast_cancer_columns_are_standardized():
    for name, array in load_breast_cancer_views().views.items():
        np.testing.assert_allclose(array.mean(axis=0), 0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(array.std(axis=0), 1, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("loader", LOADERS)
def test_two_loads_agree_and_the_pair_is_the_same_data(loader):
    dataset = loader()
    views, target = loader(return_X_y=True)
    assert isinstance(dataset, MultiViewDataset)
    assert isinstance(views, Views)
    np.testing.assert_array_equal(target, dataset.target)
    for one, other in zip(views.arrays, dataset.views.arrays, strict=True):
        np.testing.assert_array_equal(one, other)


def test_digit_views_carry_signal_but_differ(digits):
    for name, array in digits.views.items():
        assert kmeans_accuracy(array, digits.target, 10) > 0.4, name
    spans = [np.linalg.qr(array)[0] for array in digits.views.arrays]
    for position, one in enumerate(spans):
        for other in spans[:position]:
            # No view is a linear function of another: the smallest canonical correlation is far below 1.
            assert np.linalg.svd(one.T @ other, compute_uv=False).min() < 0.9


def test_joining_the_views_beats_the_typical_view(digits):
    alone = [kmeans_accuracy(array, digits.target, 10) for array in digits.views.arrays]
    joined = np.hstack([array / np.sqrt(np.var(array, axis=0).sum()) for array in digits.views.arrays])
    assert kmeans_accuracy(joined, digits.target, 10) > np.median(alone) + 0.02


def test_fourier_magnitudes_do_not_see_a_shift():
    generator = np.random.default_rng(0)
    image = blank()
    image[1:5, 1:5] = generator.uniform(size=(4, 4))
    moved = np.roll(image, (3, 2), axis=(0, 1))
    np.testing.assert_allclose(describe("fourier", image), describe("fourier", moved), atol=1e-12)
    assert not np.allclose(describe("gradients", image), describe("gradients", moved))


def test_gradients_of_an_edge_point_across_it():
    image = blank()
    image[:, 4:] = 1.0
    # The cell in the middle sees the edge only: everything falls into direction 0 (ink grows to the right).
    middle = describe("gradients", image).reshape(3, 3, 8)[1, 1]
    assert middle[0] > 0
    np.testing.assert_allclose(middle[1:], 0, atol=1e-12)
    turned = describe("gradients", image.T).reshape(3, 3, 8)[1, 1]
    np.testing.assert_allclose(turned, np.roll(middle, 2), atol=1e-12)


def test_gradient_histograms_keep_all_of_the_strength():
    image = np.random.default_rng(1).uniform(size=(8, 8))
    padded = np.pad(image, 1)
    strength = np.hypot(padded[2:, 1:-1] - padded[:-2, 1:-1], padded[1:-1, 2:] - padded[1:-1, :-2])
    cells = describe("gradients", image).reshape(3, 3, 8).sum(axis=-1)
    np.testing.assert_allclose(cells[0, 0], strength[:4, :4].sum())
    np.testing.assert_allclose(cells[2, 1], strength[4:, 2:6].sum())


def test_upright_digits_do_not_see_a_shift():
    image = blank()
    image[1:6, 2:5] = np.random.default_rng(2).uniform(size=(5, 3))
    moved = np.roll(image, (1, 2), axis=(0, 1))
    near, far = describe("upright", image), describe("upright", moved)
    assert np.corrcoef(near, far)[0, 1] > 0.95 > np.corrcoef(image.ravel(), moved.ravel())[0, 1]


def test_upright_takes_out_the_slant():
    slanted = np.eye(8)
    columns = np.mgrid[:8, :8][1]
    weights = describe("upright", slanted).reshape(8, 8)
    centers = (weights * columns).sum(axis=1)[1:-1] / weights.sum(axis=1)[1:-1]
    # The diagonal has become a vertical stroke: all rows have their ink in the middle.
    np.testing.assert_allclose(centers, 3.5, atol=0.3)


def test_strokes_answer_to_their_own_direction():
    upright = blank()
    upright[:, 4] = 1.0
    strength = describe("strokes", upright).reshape(6, 16).sum(axis=1)
    # Direction 0 measures across columns: a vertical line answers most there and least to the perpendicular one.
    assert strength.argmax() == 0
    assert strength.argmin() == 3
    turned = describe("strokes", upright.T).reshape(6, 16).sum(axis=1)
    np.testing.assert_allclose(turned, strength[[3, 2, 1, 0, 5, 4]], atol=1e-12)


def test_breast_cancer_views_are_the_three_summaries():
    source, raw = load_breast_cancer(), load_breast_cancer_views(scale=False)
    assert raw.views.names == ("mean", "error", "worst")
    assert raw.views.widths == (10, 10, 10)
    np.testing.assert_array_equal(np.hstack(raw.views.arrays), source.data)
    assert raw.target_names == ("malignant", "benign")
    assert "fractal dimension" in raw.description


def test_breast_cancer_is_clustered_by_its_views():
    dataset = load_breast_cancer_views()
    assert kmeans_accuracy(np.hstack(dataset.views.arrays), dataset.target, 2) > 0.85
