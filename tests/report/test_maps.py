import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from latefusion.interpretation.gather import gather
from latefusion.interpretation.shown_values import Unit
from latefusion.report import maps
from latefusion.report.colors import ColorColumn
from latefusion.report.maps import draw, draw_map, matching_colors, pack, quantize


def numbers(packed, kind):
    return np.frombuffer(base64.b64decode(packed), dtype=kind)


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
    assert draw_map(clusters[0], "tsne").method.startswith("t-SNE. ")
    assert draw_map(clusters[0], "pca").method.startswith("PCA")
    assert draw_map(clusters[0][:, :2]).method.startswith("Both components of the partition")


def test_two_components_are_not_a_circle():
    """Lengths of rows are shown: samples that differ only in them are apart."""
    generator = np.random.default_rng(0)
    rows = np.column_stack([generator.uniform(1, 3, 80), generator.choice([-1, 1], 80) + generator.normal(0, 0.1, 80)])
    positions = draw_map(rows).positions
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    np.testing.assert_allclose(distances, np.linalg.norm(rows[:, None] - rows, axis=2), atol=1e-12)


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


@pytest.fixture
def drawing(gathered):
    return draw(gathered, "pca")


def test_labels_confidence_and_own_clusters_travel(gathered, drawing):
    data = drawing.data
    np.testing.assert_array_equal(numbers(data["labels"], "<u2"), gathered.labels)
    np.testing.assert_allclose(numbers(data["confidence"], "u1") / 255, gathered.confidence, atol=0.5 / 255 + 1e-9)
    for sent, view in zip(data["views"], gathered.views, strict=True):
        np.testing.assert_array_equal(numbers(sent["own"], "u1").astype(int) - 1, view.labels)
    assert numbers(data["positions"], "<u2").shape == (180,)


def test_subsets_are_those_of_the_samples(gathered, monkeypatch):
    monkeypatch.setattr(maps, "MOST_SAMPLES", 50)
    monkeypatch.setattr(maps, "MOST_VIEW_SAMPLES", 20)
    named = replace(gathered, ids=[f"s{i}" for i in range(90)])
    drawing = draw(named, "pca")
    rows = numbers(drawing.data["rows"], "<u4")
    assert (drawing.n_samples, drawing.n_view_samples, len(rows)) == (50, 20, 50)
    assert drawing.data["ids"] == [f"s{i}" for i in rows]
    np.testing.assert_array_equal(numbers(drawing.data["labels"], "<u2"), gathered.labels[rows])
    assert numbers(drawing.data["small"], "<u4").max() < 50
    assert len(numbers(drawing.data["views"][0]["positions"], "<u2")) == 40


def test_many_own_clusters_need_two_bytes(gathered):
    view = replace(gathered.views[0], labels=np.arange(90) + 300, label_names=[str(i) for i in range(400)])
    sent = draw(replace(gathered, views=[view]), "pca").data["views"][0]
    assert sent["wide"]
    np.testing.assert_array_equal(numbers(sent["own"], "<u2") - 1, view.labels)


def test_maps_of_incomplete_views_know_which_samples_are_observed(gathered):
    seen = np.arange(90) >= 9
    sent = draw(replace(gathered, views=[replace(gathered.views[0], observed=seen)]), "pca").data["views"][0]
    np.testing.assert_array_equal(numbers(sent["seen"], "u1"), seen)


def test_without_a_consensus_there_are_no_maps(gathered):
    assert draw(replace(gathered, consensus=None)) is None


def test_labelings_share_the_large_map(agreed, labelings):
    drawing = draw(gather(agreed, labelings), "pca")
    assert {view["positions"] for view in drawing.data["views"]} == {drawing.data["positions"]}
    assert drawing.view_method == ""


def test_labelings_take_the_colours_of_the_clusters_they_are_most_like(agreed, labelings):
    found = gather(agreed, labelings)
    for view in found.views:
        colors = matching_colors(view.labels, len(view.label_names), found)
        assert len(set(colors)) == len(view.label_names)
    text = found.views[0]
    painted = np.array(matching_colors(text.labels, 3, found))[text.labels]
    assert np.mean(painted == found.labels) > 0.95
    assert sorted(matching_colors(np.arange(90) % 5, 5, found)) == [0, 1, 2, 3, 4]


def test_long_identifiers_lose_their_middle(gathered):
    ids = draw(replace(gathered, ids=["start" + "x" * 500 + "end", *["short"] * 89]), "pca").data["ids"]
    assert len(ids[0]) <= 64
    assert (ids[0][:5], ids[0][-3:], ids[1]) == ("start", "end", "short")


def test_novelty_is_sent_in_hundredths(gathered):
    novelty = np.linspace(0, 3, 90)
    novelty[-1] = 1e9
    assert draw(replace(gathered, novelty=None), "pca").data["novelty"] is None
    sent = numbers(draw(replace(gathered, novelty=novelty), "pca").data["novelty"], "<u2") / 100
    np.testing.assert_allclose(sent[:-1], novelty[:-1], atol=0.005 + 1e-9)
    assert sent[-1] == 655


def test_a_hundred_thousand_samples_stay_small(gathered):
    """Fifty views, long names: what grows with the samples stays below fifteen million bytes."""
    generator = np.random.default_rng(0)
    n_samples = 100_000
    labels = generator.integers(0, 3, n_samples)
    view = replace(
        gathered.views[0],
        array=None,
        kind="similarities",
        labels=labels,
        observed=np.ones(n_samples, dtype=bool),
        rows=generator.standard_normal((n_samples, 2)).astype(np.float32),
    )
    large = replace(
        gathered,
        labels=labels,
        confidence=generator.random(n_samples),
        novelty=generator.random(n_samples),
        consensus=generator.standard_normal((n_samples, 2)),
        ids=[f"AAACCTGAGAAACCAT{i:06d}-1" for i in range(n_samples)],
        views=[replace(view, name=f"view {i}") for i in range(50)],
    )
    drawing = draw(large, "pca")
    assert len(json.dumps(drawing.data)) < 14.5e6
    assert drawing.n_samples == n_samples


def test_columns_are_sent_as_they_are(gathered):
    values = np.linspace(-3, 3, 90)
    values[4] = np.nan
    codes = np.where(np.arange(90) < 10, -1, gathered.labels)
    columns = [
        ColorColumn("annotation", "purity", "number", values, unit=Unit("number", "%")),
        ColorColumn("view_0", "type", "category", codes, ("a", "b", "c")),
    ]
    drawing = draw(gathered, "pca", columns)
    purity, kind = drawing.data["columns"]
    np.testing.assert_array_equal(numbers(purity["values"], "<f4"), values.astype(np.float32))
    assert purity["low"] < purity["high"]
    assert (purity["unit"], purity["ends"][0][:2]) == ("%", "\u2264\u00a0")
    np.testing.assert_array_equal(numbers(kind["values"], "u1"), codes + 1)
    assert kind["paint"] == [0, 1, 2]  # the categories are the clusters
    assert drawing.groups == [("annotation", [(0, "purity")]), ("view_0", [(1, "type")])]


def test_values_of_columns_are_limited(gathered, monkeypatch):
    monkeypatch.setattr(maps, "MOST_COLOR_VALUES", 200)
    columns = [ColorColumn("v", str(one), "number", np.arange(90.0)) for one in range(5)]
    drawing = draw(gathered, "pca", columns)
    assert [one["name"] for one in drawing.data["columns"]] == [one.name for one in drawing.columns] == ["0", "1"]
