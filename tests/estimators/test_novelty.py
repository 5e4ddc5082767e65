"""Novelty: small among training samples, large far away from all, and the same whichever views others lack."""

import numpy as np
import pytest

from latefusion.datasets import make_views
from latefusion.estimators import novelty as room
from latefusion.types import Views

VIEWS = make_views(200, 3, n_views=2, n_features=[6, 40], random_state=0).views


@pytest.fixture
def novelty():
    return room.fit_novelty(VIEWS, [None, None])


def test_one_product_for_all_views_gives_what_views_one_by_one_give(novelty):
    observed = np.ones((200, 2), dtype=bool)
    observed[0, 1] = False
    np.testing.assert_allclose(novelty(VIEWS, observed)[1:], novelty(VIEWS)[1:])


def test_blocks_change_nothing(novelty, monkeypatch):
    whole = novelty(VIEWS)
    monkeypatch.setattr(room, "BLOCK_ENTRIES", 7 * 200)
    np.testing.assert_allclose(novelty(VIEWS), whole)


def test_most_training_samples_are_not_novel_and_far_ones_are(novelty):
    assert np.mean(novelty(VIEWS) > 1) <= 0.02
    assert novelty(Views([view + 50 for view in VIEWS.arrays])).min() > 2


def test_a_sample_without_any_view_is_not_novel(novelty):
    observed = np.ones((200, 2), dtype=bool)
    observed[3] = False
    assert novelty(VIEWS, observed)[3] == 0


def test_training_novelty_is_not_computed_for_many_samples(novelty, monkeypatch):
    np.testing.assert_array_equal(room.training_novelty(novelty, VIEWS), novelty(VIEWS))
    monkeypatch.setattr(room, "LARGEST_TRAINING", 199)
    assert room.training_novelty(novelty, VIEWS) is None
