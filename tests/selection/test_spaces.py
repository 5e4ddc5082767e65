"""Which samples, similarities and eigenvectors candidates are fused from."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection import spaces
from latefusion.selection.spaces import (
    draw_search_samples,
    fit_spaces,
    fit_views,
    number_of_vectors,
    search_samples,
    shared_components,
)


@pytest.fixture(scope="module")
def selected():
    views = lf.datasets.make_views(120, 3, missing=0.3, random_state=0).views
    return lf.LateFusionClustering(3, random_state=0).fit(views)._state


def test_few_samples_are_all_used():
    np.testing.assert_array_equal(draw_search_samples(50, 3, np.random.default_rng(0)), np.arange(50))


def test_samples_are_drawn_once_and_in_order(monkeypatch):
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 40)
    found = draw_search_samples(100, 3, np.random.default_rng(0))
    assert len(found) == 40
    assert np.all(np.diff(found) > 0)
    # Many clusters need more samples.
    assert len(draw_search_samples(100, 6, np.random.default_rng(0))) == 60


def test_a_rare_view_has_enough_samples(selected, monkeypatch):
    """Of samples drawn at random, too few have a view that most samples lack."""
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 30)
    mask = np.ones((120, 2), dtype=bool)
    mask[35:, 1] = False
    views = lf.Views([np.random.default_rng(0).normal(size=(120, 4)) for _ in range(2)], mask=mask)
    sources = lf.LateFusionClustering(3, random_state=0).fit(views)._state.sources
    chosen = search_samples(sources, 3, seed=0)
    assert np.count_nonzero(mask[chosen, 1]) >= 30
    assert np.all(np.diff(chosen) > 0)


def test_many_clusters_have_fewer_vectors_each():
    assert number_of_vectors(3, 1000) == 12
    assert number_of_vectors(60, 1000) == 160
    assert number_of_vectors(100, 1000) == 200
    assert number_of_vectors(10, 25) == 25


def test_the_first_number_of_shared_components_is_the_number_of_clusters():
    assert shared_components(6) == [6, 3, 12]
    assert shared_components(1) == [1, 1, 2]


def test_there_is_a_space_for_every_imputation(selected):
    found = fit_spaces(selected.sources, 3, selected.options)
    assert list(found) == [3, 2, 6]
    for space in found.values():
        for vectors in space.partitions.vectors:
            assert np.isfinite(vectors).all()


def test_partitions_of_views_serve_fewer_clusters(selected):
    """Eigenvectors for more clusters begin with those for fewer."""
    more = fit_views(selected.sources, 5, selected.options)
    fewer = fit_spaces(selected.sources, 3, selected.options, fitted=more)
    assert {space.n_clusters for space in fewer.values()} == {3}
    assert fewer[3].partitions.keys[: len(more.partitions.keys)] == more.partitions.keys
