"""Which similarities are fused with what factor: shares of views, trust in them, plans."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import latefusion as lf
from latefusion.partitions.sources import feature_source, joint_source
from latefusion.selection.candidates import SIMILARITY_SETS, WEIGHTINGS, fit_space, keys_of_set, similarity_names
from latefusion.similarities import GraphSimilarity, KernelSimilarity

N, K = 90, 3
RNG = np.random.default_rng(0)
DATA = lf.datasets.make_views(N, K, n_views=3, n_features=6, noise=1.3, random_state=0).views.arrays
NOISE = RNG.standard_normal((N, 6))
SIMILARITIES = {
    "graph 5": GraphSimilarity(5),
    "graph 10": GraphSimilarity(10),
    "graph 20": GraphSimilarity(20),
    "kernel": KernelSimilarity(),
}
CHOICES = list(product(SIMILARITY_SETS, WEIGHTINGS))


def space_of(views, *, joint=True, n_components=12, n_clusters=K):
    sources = [feature_source(view, SIMILARITIES) for view in views]
    space = fit_space(sources, keys_of_set(sources), n_components, n_clusters)
    if not joint:
        return space
    return space.with_joint(joint_source(sources, SIMILARITIES, space.shares), list(SIMILARITIES), n_components)


def consensus(space, plan, regularization=1.0):
    [fused] = space.fuse(plan, [regularization], max_iter=1000, tol=1e-12)
    return space.partitions.times(fused.coefficients)


@pytest.fixture(scope="module")
def plain():
    return space_of(DATA)


@pytest.fixture(scope="module")
def noisy():
    return space_of([*DATA, NOISE])


def test_a_view_without_the_similarities_of_a_kind_takes_part_with_what_it_has():
    whole = feature_source(DATA[0], SIMILARITIES)
    only = feature_source(DATA[0], {"given": KernelSimilarity("linear")})
    for similarity, names in SIMILARITY_SETS.items():
        assert similarity_names(whole.similarities, similarity) == list(names)
        assert similarity_names(only.similarities, similarity) == ["given"]


def test_different_views_do_not_overlap_and_count_one_each(plain):
    np.testing.assert_array_equal(plain.overlap, np.eye(3))
    np.testing.assert_array_equal(plain.shares, np.ones(3))


def test_views_with_the_same_information_share_one_count():
    space = space_of([DATA[0], DATA[1], 7 * DATA[0] - 3, DATA[0]])
    same = np.array([1, 0, 1, 1])
    np.testing.assert_allclose(space.overlap, np.outer(same, same) + np.diag(1 - same), atol=1e-8)
    np.testing.assert_allclose(space.shares, [1 / 3, 1, 1 / 3, 1 / 3], atol=1e-8)


def test_trust_is_one_on_average_and_smaller_for_noise(noisy):
    for similarity in SIMILARITY_SETS:
        trust = noisy.trust(similarity)
        assert np.average(trust, weights=noisy.shares) == pytest.approx(1, rel=1e-2)
        assert 0 < trust[3] < 0.5 * trust[:3].min()


def test_a_copy_of_a_noise_view_is_no_witness_for_it(noisy):
    twice = space_of([*DATA, NOISE, NOISE])
    np.testing.assert_allclose(twice.trust("both"), noisy.trust("both")[[0, 1, 2, 3, 3]], rtol=1e-6)


def test_a_single_view_is_trusted():
    space = space_of(DATA[:1], joint=False)
    np.testing.assert_allclose(space.trust("both"), [1.0])
    assert space.plan("both", "equal") == pytest.approx(space.plan("both", "agreement"))


def test_as_many_clusters_as_samples_leave_no_trust_to_choose_by():
    space = space_of([view[:6] for view in DATA], n_components=6, n_clusters=6)
    np.testing.assert_array_equal(space.trust("graph"), np.ones(3))


@pytest.mark.parametrize("similarity", SIMILARITY_SETS)
def test_the_similarities_of_a_view_share_its_weight(plain, similarity):
    plan = plain.plan(similarity, "equal")
    assert {key.view for key in plan} == {0, 1, 2}
    for view in range(3):
        factors = [factor for key, factor in plan.items() if key.view == view]
        assert len(factors) == len(SIMILARITY_SETS[similarity])
        assert sum(factor**2 for factor in factors) == pytest.approx(1)


@pytest.mark.parametrize("similarity", SIMILARITY_SETS)
def test_by_agreement_all_views_together_are_one_more(noisy, similarity):
    plan = noisy.plan(similarity, "agreement")
    trust = noisy.trust(similarity)
    for view, expected in enumerate([*trust**2, 1.0]):
        assert sum(factor**2 for key, factor in plan.items() if key.view == view) == pytest.approx(expected)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_consensus_is_orthonormal_and_finds_planted_clusters(plain, choice):
    F = consensus(plain, plain.plan(*choice))
    np.testing.assert_allclose(F.T @ F, np.eye(K), atol=1e-8)
    target = lf.datasets.make_views(N, K, n_views=3, n_features=6, noise=1.3, random_state=0).target
    indicator = np.eye(K)[target] / np.sqrt(np.bincount(target))
    centered = indicator - indicator.mean(axis=0)
    explained = np.linalg.norm(F.T @ centered) ** 2 / np.linalg.norm(centered) ** 2
    assert explained > 0.7


def test_a_view_given_twice_changes_nothing_where_views_count_alike():
    once, twice = space_of(DATA, joint=False), space_of([*DATA, DATA[0]], joint=False)
    for similarity in SIMILARITY_SETS:
        F, G = (consensus(one, one.plan(similarity, "equal")) for one in (once, twice))
        np.testing.assert_allclose(G @ G.T, F @ F.T, atol=1e-5)


def test_few_samples_and_many_give_the_same_way_of_fusing(plain):
    narrow = space_of([view[:30] for view in DATA])
    np.testing.assert_array_equal(narrow.span.rows, narrow.partitions.basis())
    wide = replace(plain, partitions=plain.partitions.restricted(plain.partitions.keys[:2]))
    assert wide.span.rows is None  # more samples than eigenvectors
    for one in (narrow, wide):
        basis = one.partitions.basis()
        np.testing.assert_allclose(one.span.products, basis.T @ basis, atol=1e-10)
