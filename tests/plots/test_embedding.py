import sys
from types import SimpleNamespace

import numpy as np
import pytest

from latefusion.plots.embedding import embed

ROWS = np.eye(4)[np.repeat([0, 1, 2], 20)] + 0.05 * np.random.default_rng(0).standard_normal((60, 4))


def test_principal_directions_keep_the_largest_variance():
    rows = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(embed(ROWS, "pca"), axis=0), values[:2])


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_groups_stay_groups(method):
    positions = embed(ROWS, method)
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    same = np.repeat([0, 1, 2], 20)[:, None] == np.repeat([0, 1, 2], 20)
    assert distances[same].max() < distances[~same].min()
    np.testing.assert_array_equal(positions, embed(ROWS, method))


@pytest.mark.parametrize("shape", [(2, 1), (4, 7), (30, 1)])
@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_small_and_thin_inputs(shape, method):
    assert embed(np.ones(shape), method).shape == (shape[0], 2)
    assert np.isfinite(embed(np.ones(shape), method)).all()


def test_umap_is_used_where_it_is_installed(monkeypatch):
    asked = {}

    class UMAP:
        def __init__(self, **options):
            asked.update(options)

        def fit_transform(self, rows):
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)
            return rows[:, :2]

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    assert embed(ROWS, "umap", random_state=3).shape == (60, 2)
    assert asked["random_state"] == 3
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="pip install umap-learn"):
        embed(ROWS, "umap")


def test_unknown_methods_are_named():
    with pytest.raises(ValueError, match=r"method must be one of \['tsne', 'pca', 'umap'\], got 'mds'"):
        embed(ROWS, "mds")
