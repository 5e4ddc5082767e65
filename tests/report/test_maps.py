import base64

import numpy as np
import pytest

from latefusion.report.maps import draw_map, pack, quantize


@pytest.fixture
def clusters():
    """Three directions in five dimensions, thirty rows near each."""
    generator = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 30)
    return np.eye(5)[labels] + 0.05 * generator.standard_normal((90, 5)), labels


def separation(positions, labels):
    """Smallest distance between centres over the largest mean distance to one's own."""
    centers = np.array([positions[labels == one].mean(axis=0) for one in range(3)])
    within = max(np.linalg.norm(positions[labels == one] - centers[one], axis=1).mean() for one in range(3))
    between = min(np.linalg.norm(centers[i] - centers[j]) for i in range(3) for j in range(i))
    return between / within


@pytest.mark.parametrize(("method", "most"), [("pca", 2000), ("tsne", 2000), ("tsne", 40)])
def test_clusters_stay_apart(clusters, method, most):
    found = draw_map(clusters[0], method, most=most)
    assert found.positions.shape == (90, 2)
    assert separation(found.positions, clusters[1]) > 3


def test_maps_do_not_change_from_run_to_run(clusters):
    first, second = (draw_map(clusters[0], "tsne", most=50).positions for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_lengths_of_rows_do_not_matter(clusters):
    lengths = np.random.default_rng(1).uniform(1, 9, (90, 1))
    np.testing.assert_allclose(
        np.abs(draw_map(clusters[0] * lengths, "pca").positions),
        np.abs(draw_map(clusters[0], "pca").positions),
        atol=1e-8,
    )


def test_the_reader_is_told_of_a_subset(clusters):
    assert "t-SNE of 40 random samples" in draw_map(clusters[0], "tsne", most=40).method
    assert draw_map(clusters[0], "tsne").method.startswith("t-SNE:")
    assert draw_map(clusters[0][:, :2]).method.startswith("PCA")


@pytest.mark.parametrize("shape", [(2, 1), (4, 7), (30, 1), (6, 3)])
def test_small_and_thin_inputs(shape):
    positions = draw_map(np.ones(shape)).positions
    assert positions.shape == (shape[0], 2)
    assert np.isfinite(positions).all()


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match=r"embedding must be one of .* got 'umap'"):
        draw_map(np.ones((9, 3)), "umap")


def test_quantized_positions_fill_the_range_and_keep_order():
    positions = np.random.default_rng(0).standard_normal((50, 2)) * [1, 100]
    found = quantize(positions)
    assert found.min(axis=0).tolist() == [0, 0]
    assert found.max(axis=0).tolist() == [65535, 65535]
    scaled = (positions - positions.min(axis=0)) / np.ptp(positions, axis=0)
    np.testing.assert_allclose(found / 65535, scaled, atol=1 / 65535)


def test_a_constant_direction_is_in_the_middle():
    assert set(quantize(np.array([[0.0, 3.0], [1.0, 3.0]]))[:, 1].tolist()) == {32768}


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_packed_numbers_come_back(kind):
    values = np.arange(7, dtype=kind)
    little = np.dtype(kind).newbyteorder("<")
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(pack(values)), dtype=little), values)
