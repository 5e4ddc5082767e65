"""Memberships: probabilities whose largest is the label, and the two numbers that make them those of repetitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from latefusion.assignment import Membership, fit_membership
from tests.properties import examples

seeds = st.integers(0, 2**32 - 1)


def planted(membership, n=4000, k=4, n_compared=5, seed=0):
    """Scores, and outcomes drawn with the memberships of the own clusters as probabilities."""
    generator = np.random.default_rng(seed)
    scores = generator.standard_normal((n, k)) * 3
    own = membership(scores).max(axis=1)
    return scores, generator.binomial(n_compared, own), np.full(n, n_compared)


@examples(100)
@given(
    seed=seeds,
    k=st.integers(1, 6),
    sharpness=st.sampled_from([1e-12, 0.1, 1.0, 1e6]),
    lapse=st.sampled_from([0.0, 0.3, 1.0]),
    decimals=st.integers(0, 2),
)
def test_the_first_largest_score_has_the_largest_membership(seed, k, sharpness, lapse, decimals):
    """Also for ties, for differences that rounding removes, and where all memberships are equal."""
    generator = np.random.default_rng(seed)
    scores = np.round(generator.standard_normal((30, k)), decimals)
    scores[::3] += 1e-13 * generator.standard_normal((10, k))
    weights = generator.choice([0.0, 0.5, 1.0], 30)
    for found in (Membership(sharpness, lapse)(scores), Membership(sharpness, lapse)(scores, weights)):
        np.testing.assert_array_equal(np.argmax(found, axis=1), np.argmax(scores, axis=1))
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
        assert found.min() >= 0


def test_the_formula():
    scores = np.random.default_rng(0).standard_normal((20, 3))
    shares = softmax(2.5 * scores, axis=1)
    np.testing.assert_allclose(Membership(2.5, 0.2)(scores), 0.8 * shares + 0.2 / 3)
    weights = np.linspace(0, 1, 20)
    expected = 0.8 * weights[:, None] * shares + (1 - 0.8 * weights[:, None]) / 3
    np.testing.assert_allclose(Membership(2.5, 0.2)(scores, weights), expected)
    np.testing.assert_allclose(Membership(2.5, 0.2, 0.5)(scores, weights**2), expected)


def test_a_cluster_that_is_impossible_has_the_share_of_the_lapse():
    found = Membership(1.0, 0.3)(np.array([[0.0, -np.inf, -1.0]]))
    assert found[0, 1] == pytest.approx(0.1)


def test_names_of_clusters_and_a_constant_do_not_matter():
    scores = np.random.default_rng(1).standard_normal((20, 4))
    order = [2, 0, 3, 1]
    expected = Membership(2.0, 0.1)(scores)
    np.testing.assert_allclose(Membership(2.0, 0.1)(scores[:, order]), expected[:, order])
    np.testing.assert_allclose(Membership(2.0, 0.1)(scores + 7.0), expected)


def test_a_sample_of_which_less_is_known_is_less_certain():
    scores = np.random.default_rng(2).standard_normal((20, 4))
    own = [Membership(2.0, 0.1)(scores, np.full(20, weight)).max(axis=1) for weight in (0.0, 0.3, 0.9, 1.0)]
    assert np.all(np.diff(own, axis=0) > 0)
    np.testing.assert_allclose(own[0], 0.25)


@pytest.mark.parametrize("discount", [0.0, 0.5, 1.0])
def test_a_sample_of_which_nothing_is_known_has_equal_memberships(discount):
    found = Membership(2.0, 0.1, discount)(np.array([[3.0, 1.0, 0.0]]), np.zeros(1))
    np.testing.assert_allclose(found, 1 / 3)


@pytest.mark.parametrize(("sharpness", "lapse"), [(0.3, 0.0), (1.0, 0.2), (3.0, 0.6)])
def test_planted_numbers_are_found_again(sharpness, lapse):
    truth = Membership(sharpness, lapse)
    scores, kept, compared = planted(truth)
    found = fit_membership(scores, kept, compared)
    assert found.lapse == pytest.approx(lapse, abs=0.04)
    assert np.mean(np.abs(found(scores) - truth(scores))) < 0.01


def test_no_other_numbers_have_a_larger_likelihood():
    scores, kept, compared = planted(Membership(0.8, 0.25), n=500)

    def likelihood(membership):
        own = membership(scores).max(axis=1)
        return kept @ np.log(own) + (compared - kept) @ np.log1p(-own)

    found = fit_membership(scores, kept, compared)
    near = [Membership(found.sharpness * a, found.lapse + b) for a in (0.9, 1.0, 1.1) for b in (-0.03, 0.0, 0.03)]
    assert max(map(likelihood, near)) <= likelihood(found) + 1e-3


def test_weights_of_samples_are_not_taken_for_instability():
    truth, generator = Membership(1.0, 0.1), np.random.default_rng(3)
    scores = 3 * generator.standard_normal((4000, 3))
    weights = generator.uniform(0.3, 1.0, 4000)
    kept = generator.binomial(4, truth(scores, weights).max(axis=1))
    found = fit_membership(scores, kept, np.full(4000, 4), weights)
    assert found.lapse == pytest.approx(0.1, abs=0.04)
    assert found.discount == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("discount", [0.0, 0.5])
def test_missing_views_count_as_much_as_repetitions_show(discount):
    truth, generator = Membership(1.0, 0.1, discount), np.random.default_rng(4)
    scores = 3 * generator.standard_normal((4000, 3))
    weights = generator.choice([0.4, 0.8, 1.0], 4000)
    kept = generator.binomial(4, truth(scores, weights).max(axis=1))
    found = fit_membership(scores, kept, np.full(4000, 4), weights)
    assert found.discount == pytest.approx(discount, abs=0.1)
    np.testing.assert_allclose(found(scores, weights), truth(scores, weights), atol=0.05)


def test_complete_samples_do_not_determine_how_much_missing_views_count():
    scores, kept, compared = planted(Membership(1.0, 0.2), n=500)
    assert fit_membership(scores, kept, compared, np.ones(500)).discount == 1.0


def test_the_unit_of_scores_does_not_matter():
    scores, kept, compared = planted(Membership(1.0, 0.2), n=500)
    expected = fit_membership(scores, kept, compared)(scores)
    found = fit_membership(1e-6 * scores, kept, compared)(1e-6 * scores)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_the_order_of_samples_and_clusters_does_not_matter():
    scores, kept, compared = planted(Membership(1.0, 0.2), n=500)
    order = np.random.default_rng(0).permutation(500)
    expected = fit_membership(scores, kept, compared)
    for found in (
        fit_membership(scores[order], kept[order], compared[order]),
        fit_membership(scores[:, ::-1], kept, compared),
    ):
        np.testing.assert_allclose((found.sharpness, found.lapse), (expected.sharpness, expected.lapse), rtol=1e-2)


def test_samples_that_are_always_kept_have_memberships_near_one():
    scores = np.random.default_rng(0).standard_normal((300, 3))
    membership = fit_membership(scores, np.full(300, 6), np.full(300, 6))
    assert np.median(membership(scores).max(axis=1)) > 0.99


@pytest.mark.parametrize("k", [2, 5])
def test_labels_that_are_drawn_have_equal_memberships(k):
    generator = np.random.default_rng(0)
    scores = generator.standard_normal((2000, k))
    own = fit_membership(scores, generator.binomial(6, 1 / k, 2000), np.full(2000, 6))(scores).max(axis=1)
    np.testing.assert_allclose(own, 1 / k, atol=0.05)


def test_samples_that_were_not_compared_are_not_used():
    scores, kept, compared = planted(Membership(1.0, 0.2), n=500)
    more = np.concatenate([scores, np.full((50, 4), 9.0)])
    found = fit_membership(more, np.append(kept, np.zeros(50)), np.append(compared, np.zeros(50)))
    expected = fit_membership(scores, kept, compared)
    assert found == expected


def test_one_cluster_is_certain():
    membership = fit_membership(np.zeros((5, 1)), np.full(5, 2), np.full(5, 2))
    np.testing.assert_array_equal(membership(np.zeros((5, 1))), 1.0)
