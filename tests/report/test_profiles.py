from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from latefusion.report.gather import ViewData, gather
from latefusion.report.profiles import LEAST_EFFECT, cluster_traits, effect_sizes


def view_of(array, observed=None):
    observed = np.ones(array.shape[0], dtype=bool) if observed is None else observed
    return ViewData("v", "features", array, [f"c{i}" for i in range(array.shape[1])], observed)


def dense_reference(array, labels, cluster):
    inside, outside = array[labels == cluster], array[labels != cluster]
    variance = (len(inside) * inside.var(axis=0) + len(outside) * outside.var(axis=0)) / len(array)
    return (inside.mean(axis=0) - outside.mean(axis=0)) / np.sqrt(variance)


@pytest.fixture
def numbers():
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 200)
    return generator.standard_normal((200, 6)) + np.outer(labels, np.arange(6)) + 100.0, labels


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_effects_are_standardised_mean_differences(numbers, form):
    array, labels = numbers
    effects, inside, outside = effect_sizes(view_of(form(array)), labels, 3)
    for cluster in range(3):
        np.testing.assert_allclose(effects[cluster], dense_reference(array, labels, cluster), rtol=1e-6)
        np.testing.assert_allclose(inside[cluster], array[labels == cluster].mean(axis=0))
        np.testing.assert_allclose(outside[cluster], array[labels != cluster].mean(axis=0))


def test_blocks_change_nothing(numbers, monkeypatch):
    array, labels = numbers
    whole = effect_sizes(view_of(array), labels, 3)[0]
    monkeypatch.setattr("latefusion.report.profiles.BLOCK_ENTRIES", 13)
    np.testing.assert_allclose(effect_sizes(view_of(array), labels, 3)[0], whole)


def test_units_and_origin_of_a_feature_do_not_matter(numbers):
    array, labels = numbers
    effects = effect_sizes(view_of(array), labels, 3)[0]
    np.testing.assert_allclose(effect_sizes(view_of(1e5 * array - 3e7), labels, 3)[0], effects, rtol=1e-5)
    np.testing.assert_allclose(effect_sizes(view_of(-array), labels, 3)[0], -effects)


def test_missing_samples_take_no_part(numbers):
    array, labels = numbers
    observed = np.arange(200) % 3 > 0
    spoiled = np.where(observed[:, None], array, 1e6)
    np.testing.assert_allclose(
        effect_sizes(view_of(spoiled, observed), labels, 3)[0],
        effect_sizes(view_of(array[observed]), labels[observed], 3)[0],
    )


def test_a_constant_feature_has_no_effect(numbers):
    array, labels = numbers
    effects = effect_sizes(view_of(np.full_like(array, 0.1)), labels, 3)[0]
    assert (effects == 0).all()


def test_the_feature_that_makes_the_cluster_is_named_first(gathered):
    marked = np.random.default_rng(0).standard_normal((90, 4))
    marked[:, 2] -= 5.0 * (gathered.labels == 1)
    views = [replace(gathered.views[0], array=marked), *gathered.views[1:]]
    first = cluster_traits(replace(gathered, views=views))[1][0]
    assert (first.view, first.feature) == ("view_0", "column 2")
    assert first.effect < -2
    assert first.inside < first.outside


def test_small_effects_are_left_out(gathered):
    noise = np.random.default_rng(0).standard_normal((90, 4)) * [1, 1e-3, 10, 1e4]
    noise[:, 3] += 1e5 * (gathered.labels == 1)
    views = [replace(view, array=noise) for view in gathered.views]
    found = cluster_traits(replace(gathered, views=views))
    effects = np.array([trait.effect for traits in found for trait in traits])
    assert len(found[1]) >= len(views)
    assert len(effects) < 3 * len(views) * noise.shape[1]
    assert np.all(np.abs(effects) >= LEAST_EFFECT)


def test_labels_are_described_by_shares(agreed, labelings):
    found = gather(agreed, labelings)
    described = cluster_traits(found)
    assert all(len(traits) > 0 for traits in described)
    for cluster, traits in enumerate(described):
        members = found.labels == cluster
        for trait in traits:
            view = next(view for view in found.views if view.name == trait.view)
            known = members & view.observed
            share = np.mean([view.label_names[code] == trait.feature for code in view.labels[known]])
            assert trait.effect == pytest.approx(share)


def test_kernels_have_no_features(gathered):
    views = [replace(view, kind="similarities") for view in gathered.views]
    assert cluster_traits(replace(gathered, views=views)) == [[], [], []]
