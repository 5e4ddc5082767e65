"""The test of independence between views, and views that it sets aside."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from latefusion.selection.dependence import (
    FEWEST_SAMPLES,
    RELATED,
    _centered,
    _Moments,
    unrelated_views,
    view_dependence,
)

DATA = lf.datasets.make_views(120, 3, n_views=2, n_features=[30, 20], random_state=0)
VIEWS = DATA.views.arrays


def noise(seed, n_samples=120, n_features=2):
    return np.random.default_rng(seed).standard_normal((n_samples, n_features))


def test_moments_are_those_of_all_permutations():
    """Mean and variance of the closed form, against many permutations."""
    generator = np.random.default_rng(0)
    points = [generator.standard_normal((40, 2)), generator.exponential(size=(40, 1)), generator.random((40, 3))]
    kernels = np.stack([one @ one.T for one in points])
    moments = _Moments.of(kernels, np.ones(40, dtype=bool))
    first, second = (_centered(one) for one in (kernels[0], kernels[1] + kernels[2]))
    drawn = np.array([np.sum(first * second[np.ix_(o, o)]) for o in (generator.permutation(40) for _ in range(20_000))])
    expected = (np.sum(first * second) - drawn.mean()) / drawn.std()
    assert moments.standardized(0, [1, 2]) == pytest.approx(expected, abs=0.05)


def test_views_of_the_same_clusters_are_related_and_noise_is_not():
    found = view_dependence([*VIEWS, noise(0)])
    assert found[0, 1] > 5 * RELATED / 2
    assert np.all(found[2, :2] < RELATED)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(unrelated_views(found), [False, False, True])


def test_a_mask_of_all_samples_changes_nothing():
    views = [*VIEWS, noise(0)]
    mask = np.ones((121, 3), dtype=bool)
    mask[-1] = [True, False, False]  # one more sample, which has one view only
    with_one_more = view_dependence([np.vstack([views[0], views[0][:1]]), *views[1:]], mask)
    np.testing.assert_allclose(with_one_more[1, 2], view_dependence(views)[1, 2], rtol=1e-6)
    np.testing.assert_allclose(with_one_more, view_dependence(views), rtol=0.1, atol=0.5)


def test_rows_in_another_order_make_a_view_unrelated():
    third = lf.datasets.make_views(120, 3, n_views=3, n_features=20, random_state=0).views.arrays
    shuffled = third[2][np.random.default_rng(0).permutation(120)]
    assert not unrelated_views(view_dependence(third)).any()
    np.testing.assert_array_equal(unrelated_views(view_dependence([*third[:2], shuffled])), [False, False, True])


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3, 30]), st.booleans())
def test_independent_views_rarely_seem_related(seed, n_features, is_binary):
    """At most a few per cent of the pairs exceed the bound for kernels of rank one; here, none exceeds twice of it."""
    own = noise(seed, n_features=n_features)
    found = view_dependence([VIEWS[0], (own > 0).astype(float) if is_binary else own])
    assert found[0, 1] < 2 * RELATED


@pytest.mark.parametrize("seed", range(5))
def test_views_that_show_different_clusters_are_related(seed):
    """In pairs their relation is weak: what one cluster is in a view, the others are not in another."""
    views = lf.datasets.make_views(300, 5, n_views=4, complementary=True, random_state=seed).views.arrays
    found = view_dependence([*views, noise(seed, 300)])
    np.testing.assert_array_equal(unrelated_views(found), [False] * 4 + [True])
    assert np.all(np.diagonal(found)[:4] > found[:4, :4][~np.eye(4, dtype=bool)].reshape(4, 3).min(axis=1))


def test_dependence_on_two_equal_views_together_is_that_on_one_of_them():
    found = view_dependence([VIEWS[0], VIEWS[1], VIEWS[1]])
    assert found[0, 0] == pytest.approx(found[0, 1])


def test_few_views_of_noise_seem_related():
    """The limits are for about two per cent; a single draw above them is no fault."""
    views = lf.datasets.make_views(120, 3, n_views=3, random_state=0).views.arrays
    named = 0
    for seed in range(40):
        nearly_empty = (np.random.default_rng(seed).random((120, 300)) < 0.01).astype(float)
        named += bool(unrelated_views(view_dependence([*views, nearly_empty]))[3])
    assert named >= 37


def test_of_two_views_neither_is_set_aside():
    assert not unrelated_views(view_dependence([VIEWS[0], noise(0)])).any()


def test_nothing_is_set_aside_if_no_views_are_related():
    assert not unrelated_views(view_dependence([noise(0), noise(1), noise(2)])).any()


def test_neither_order_units_nor_container_matter():
    reference = view_dependence([*VIEWS, noise(0)])
    order = np.random.default_rng(1).permutation(120)
    np.testing.assert_allclose(view_dependence([one[order] for one in (*VIEWS, noise(0))]), reference)
    np.testing.assert_allclose(view_dependence([1e6 * VIEWS[0], sp.csr_array(VIEWS[1]), noise(0)]), reference)


def test_a_constant_view_is_unrelated():
    found = view_dependence([*VIEWS, np.ones((120, 1))])
    np.testing.assert_array_equal(unrelated_views(found), [False, False, True])


def test_views_are_compared_on_common_samples():
    mask = np.ones((120, 2), dtype=bool)
    mask[:30, 0] = mask[90:, 1] = False
    seen = [view[own] for view, own in zip(VIEWS, mask.T, strict=True)]
    complete = [view[30:90] for view in VIEWS]
    # The widths of the kernels are those of all samples of a view, so that only the order of magnitude is equal.
    assert view_dependence(seen, mask)[0, 1] == pytest.approx(view_dependence(complete)[0, 1], rel=0.1)


def test_views_with_too_few_common_samples_are_not_judged():
    mask = np.ones((120, 3), dtype=bool)
    mask[FEWEST_SAMPLES - 1 :, 2] = False
    views = [*VIEWS, noise(0)[: FEWEST_SAMPLES - 1]]
    found = view_dependence(views, mask)
    assert np.isnan(found[2]).all()
    assert not unrelated_views(found).any()


@pytest.mark.parametrize("n_features", [1, 2, 30])
@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_an_unrelated_view_changes_no_label(n_features, n_clusters):
    views = dict(DATA.views.items())
    expected = lf.LateFusionClustering(n_clusters, random_state=0).fit(views)
    with pytest.warns(UserWarning, match="View 'noise' is statistically unrelated to all other views"):
        model = lf.LateFusionClustering(n_clusters, random_state=0).fit(views | {"noise": noise(1, 120, n_features)})
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.unrelated_views_ == ["noise"]
    assert expected.unrelated_views_ == []
    assert model.view_weights_[2] < 1e-12
    np.testing.assert_allclose(model.view_weights_[:2], expected.view_weights_, atol=1e-5)  # the solver stops at 1e-6


def test_verdicts_advise_to_remove_an_unrelated_view():
    with pytest.warns(UserWarning, match="unrelated"):
        model = lf.LateFusionClustering(3, random_state=0).fit({**dict(DATA.views.items()), "noise": noise(1)})
    *related, verdict = model.leave_one_view_out()
    assert verdict.unrelated
    assert verdict.advice == "remove"
    assert verdict.changed == 0
    assert str(verdict).endswith("It is statistically unrelated to all other views and has no weight. Remove it.")
    assert not any(one.unrelated for one in related)


def test_verdicts_where_one_view_with_a_weight_is_left():
    """Without either of two related views, the other one and a view without weight remain; warnings are errors here."""
    views = {**dict(DATA.views.items()), "noise": noise(1)}
    for weighting in ("equal", "agreement"):
        with pytest.warns(UserWarning, match="unrelated"):
            model = lf.LateFusionClustering(3, random_state=0).fit(views)
        candidate = model._state.candidate._replace(weighting=weighting)
        model._state = replace(model._state, candidate=candidate)
        first, second, third = model.leave_one_view_out()
        assert max(first.changed, second.changed) < 0.5
        assert third.changed < 0.1


def test_a_shuffled_view_is_reported():
    """The most common cause: tables that were sorted differently."""
    data = lf.datasets.make_views(120, 3, n_views=3, n_features=20, random_state=0)
    views = dict(data.views.items())
    views["view_1"] = views["view_1"][np.random.default_rng(0).permutation(120)]
    with pytest.warns(UserWarning, match="'view_1' .* same samples in the same order"):
        lf.LateFusionClustering(3, random_state=0).fit(views)
