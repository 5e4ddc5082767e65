import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import latefusion as lf
from latefusion.interpretation.effects import LEAST_SPREAD, model_effects, strongest_features, view_effects
from latefusion.interpretation.gather import ViewData, gather


def view_of(array, observed=None):
    observed = np.ones(array.shape[0], dtype=bool) if observed is None else observed
    return ViewData("v", "features", array, [f"c{i}" for i in range(array.shape[1])], observed)


def effects_of(array, labels, observed=None, n_clusters=3):
    return view_effects(view_of(array, observed), labels, n_clusters)


def reference(array, labels, cluster):
    inside, outside = array[labels == cluster], array[labels != cluster]
    variance = (len(inside) * inside.var(axis=0) + len(outside) * outside.var(axis=0)) / len(array)
    return (inside.mean(axis=0) - outside.mean(axis=0)) / np.sqrt(variance)


@pytest.fixture
def numbers():
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 200)
    return generator.standard_normal((200, 6)) + np.outer(labels, np.arange(6)) + 100.0, labels


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_effects_are_standardised_mean_differences(numbers, form):
    array, labels = numbers
    found = effects_of(form(array), labels)
    for cluster in range(3):
        np.testing.assert_allclose(found.effect[cluster], reference(array, labels, cluster), rtol=1e-10)
        np.testing.assert_allclose(found.inside[cluster], array[labels == cluster].mean(axis=0))
        np.testing.assert_allclose(found.outside[cluster], array[labels != cluster].mean(axis=0))


def test_dense_and_sparse_views_have_the_same_effects_and_tests():
    rng = np.random.default_rng(0)
    array, labels = rng.poisson(0.3, (120, 15)).astype(float), rng.integers(0, 3, 120)
    array[rng.random(array.shape) < 0.05] = np.nan
    dense, sparse = effects_of(array, labels), effects_of(sp.csr_array(array), labels)
    for name in ("effect", "inside", "outside"):
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sparse.tests, dense.tests, rtol=1e-12)


def test_blocks_change_nothing(numbers, monkeypatch):
    array, labels = numbers
    whole = effects_of(array, labels)
    monkeypatch.setattr("latefusion.interpretation.column_blocks.BLOCK_ENTRIES", 450)
    parts = effects_of(array, labels)
    np.testing.assert_array_equal(parts.effect, whole.effect)
    np.testing.assert_array_equal(parts.tests, whole.tests)
    assert parts.names == whole.names == [f"c{i}" for i in range(6)]


def test_units_and_origin_of_a_feature_do_not_matter(numbers):
    array, labels = numbers
    effects = effects_of(array, labels).effect
    np.testing.assert_allclose(effects_of(1e5 * array - 3e7, labels).effect, effects, rtol=1e-5)
    np.testing.assert_allclose(effects_of(-array, labels).effect, -effects)


def test_missing_samples_take_no_part(numbers):
    array, labels = numbers
    observed = np.arange(200) % 3 > 0
    spoiled = effects_of(np.where(observed[:, None], array, 1e6), labels, observed)
    kept = effects_of(array[observed], labels[observed])
    np.testing.assert_allclose(spoiled.effect, kept.effect)
    np.testing.assert_allclose(spoiled.tests, kept.tests)


def test_missing_values_take_no_part(numbers):
    array, labels = numbers
    known = np.random.default_rng(1).random(200) < 0.7
    gaps = array.copy()
    gaps[~known, 2] = np.nan
    found, kept = effects_of(gaps, labels), effects_of(array[known], labels[known])
    np.testing.assert_allclose(found.effect[:, 2], kept.effect[:, 2])
    np.testing.assert_allclose(found.tests.p[:, 2], kept.tests.p[:, 2])
    np.testing.assert_array_equal(found.effect[:, 1], effects_of(array, labels).effect[:, 1])


def test_a_constant_feature_has_no_effect(numbers):
    array, labels = numbers
    assert (effects_of(np.full_like(array, 0.1), labels).effect == 0).all()


def test_a_feature_that_separates_a_cluster_completely_has_a_large_finite_effect():
    labels = np.repeat([0, 1], 10)
    found = effects_of(labels[:, None] * 3.0, labels, n_clusters=2)
    assert found.effect[1, 0] == pytest.approx(2 / LEAST_SPREAD)


def test_clusters_without_samples_have_no_effects(numbers):
    array, labels = numbers
    found = effects_of(array, np.where(labels == 1, 0, labels))
    assert np.isnan(found.effect[1]).all()
    assert np.isnan(found.tests.p[1]).all()
    assert not np.isnan(found.effect[[0, 2]]).any()


def test_order_of_samples_and_numbers_of_clusters_do_not_matter(numbers):
    array, labels = numbers
    found = effects_of(array, labels)
    order = np.random.default_rng(0).permutation(len(labels))
    shuffled = effects_of(array[order], labels[order])
    renamed = effects_of(array, np.array([2, 0, 1])[labels])
    np.testing.assert_allclose(shuffled.effect, found.effect, rtol=1e-10)
    np.testing.assert_allclose(shuffled.tests, found.tests, rtol=1e-12)
    np.testing.assert_allclose(renamed.effect[[2, 0, 1]], found.effect, rtol=1e-10)
    np.testing.assert_allclose(renamed.tests.p[[2, 0, 1]], found.tests.p, rtol=1e-10)


def test_tests_can_be_left_out(numbers):
    array, labels = numbers
    assert view_effects(view_of(array), labels, 3, test=False).tests is None


def test_every_kind_of_column_has_its_kind_and_units():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    table = pd.DataFrame(
        {
            "spend": [f"{value:.2f} kg" for value in group * 100 + rng.normal(50, 5, 80)],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(group * 365 + rng.integers(0, 30, 80), "D"),
            "wait": pd.to_timedelta(group * 3600 + rng.integers(0, 60, 80), "s"),
            "region": np.where(group, "north", "south"),
            "size": pd.Categorical(np.where(group, "large", "small"), ["small", "large"], ordered=True),
            "note": [f"{'fast and good' if one else 'slow and bad'} order {row}" for row, one in enumerate(group)],
        }
    )
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"t": table})
    data = gather(model, {"t": table}, single_views=False)
    found = view_effects(data.views[0], data.labels, 2)
    kinds = {name.partition(":")[0]: kind for name, kind in zip(found.names, found.kinds, strict=True)}
    assert kinds == {
        "spend": "number", "since": "date", "wait": "duration", "region": "category", "size": "ordered", "note": "word"
    }  # fmt: skip
    at = found.names.index("since")
    other = found.units[at](found.inside[data.labels[-1], at])
    assert other == str(table["since"][group == 1].quantile(interpolation="lower").date())
    assert found.units[found.names.index("region: north")](0.25) == "25%"


def test_values_in_only_some_clusters():
    """A category is compared among the samples whose category is known."""
    table = pd.DataFrame({"word": ["a", "b", None, "a"] * 10, "x": np.sqrt(np.arange(40.0))})
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"t": table})
    data = gather(model, {"t": table}, single_views=False)
    found = view_effects(data.views[0], data.labels, 2)
    at = found.names.index("word: a")
    mine = table["word"][data.labels == 0].dropna()
    assert found.inside[0, at] == pytest.approx(np.mean(mine == "a"))


def test_similarities_have_no_features():
    kernel = ViewData("k", "similarities", np.eye(4), [], np.ones(4, dtype=bool))
    assert view_effects(kernel, np.array([0, 0, 1, 1]), 2) is None


def test_the_largest_effects_of_all_views_are_found(gathered):
    effects = model_effects(gathered)
    assert [one.view for one in effects] == [view.name for view in gathered.views]
    for cluster in range(3):
        found = strongest_features(effects, cluster, 5)
        sizes = [abs(effects[one.view].effect[cluster, one.feature]) for one in found]
        every = np.sort(np.abs(np.concatenate([one.effect[cluster] for one in effects])))[::-1]
        np.testing.assert_array_equal(sizes, every[:5])
        assert strongest_features(effects, cluster, 5, every[1]) == found[:2]
    assert strongest_features([], 0, 5) == []


def test_features_without_an_effect_are_left_out(gathered):
    first, *others = model_effects(gathered)
    effect = first.effect.copy()
    effect[0] = np.nan
    found = strongest_features([first._replace(effect=effect), *others], 0, 100)
    assert {one.view for one in found} == {1}
