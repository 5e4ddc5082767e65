"""LMSC: golden runs of both signs, block updates, and starts that do not hang on rounding errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from latefusion.arrays import memory, unit_rows
from latefusion.baselines.lmsc import (
    LatentSubspaceClustering,
    express_latent,
    shrink_columns,
    solve_lmsc,
    stack_views,
    start_latent,
    update_latent,
)
from latefusion.baselines.support.low_rank_expression import Product, compress


def golden_views(problem):
    return [problem[f"X{p + 1}"] for p in range(len(problem["sigma"]))]


def random_features(seed, n_samples=24):
    generator = np.random.default_rng(seed)
    return stack_views([generator.standard_normal((n_samples, width)) for width in (5, 8)])


@pytest.mark.parametrize("problem", ["synth", "digits"])
@pytest.mark.parametrize(("sign", "kind"), [("exact", "fix"), ("published", "pub")])
def test_golden(golden, problem, sign, kind):
    reference = golden(f"lmsc_{problem}")
    features = stack_views(golden_views(golden(f"problem_{problem}")))
    for prefix, regularization in zip(["l1", "l2"], reference["lambdas"], strict=True):
        found = express_latent(
            features,
            reference["H0"],
            regularization=float(regularization),
            sylvester_sign=sign,
            max_iter=100,
            tol=1e-6,
        )
        expected = reference[f"{kind}_{prefix}_obj"]
        assert found.converged == (kind == "fix")
        assert len(found.objective) == len(expected)
        np.testing.assert_allclose(found.objective, expected, rtol=1e-4, atol=1e-8)
        if f"{kind}_{prefix}_Z" in reference:
            np.testing.assert_allclose(found.expression, reference[f"{kind}_{prefix}_Z"], atol=1e-6)


def test_golden_embedding(golden):
    reference = golden("lmsc_synth")
    features = stack_views(golden_views(golden("problem_synth")))
    found = solve_lmsc(features, reference["H0"], 3, regularization=0.1).consensus
    expected = reference["fix_l1_U"]
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-4)


def test_published_sign_ends_higher(golden):
    reference = golden("lmsc_synth")
    features = stack_views(golden_views(golden("problem_synth")))
    ends = [
        express_latent(
            features, reference["H0"], regularization=0.1, sylvester_sign=sign, max_iter=100, tol=1e-6
        ).objective[-1]
        for sign in ("exact", "published")
    ]
    assert ends[1] > 1.5 * ends[0]


def test_stacked_views_keep_all_inner_products(seed):
    views = [np.random.default_rng(seed).standard_normal((10, width)) for width in (4, 30)]
    stacked = stack_views(views)
    assert stacked.shape == (10, 10)
    scaled = np.hstack([unit_rows(view, xp=np) for view in views])
    np.testing.assert_allclose(stacked.T @ stacked, scaled @ scaled.T, atol=1e-12)


@pytest.mark.parametrize("rank", [4, 2], ids=["isometry", "partial isometry"])
def test_latent_update_solves_its_sylvester_equation(seed, rank):
    generator = np.random.default_rng(seed)
    left, _, right = np.linalg.svd(generator.standard_normal((9, 4)), full_matrices=False)
    dictionary = left[:, :rank] @ right[:rank]
    expression = compress([Product(*generator.standard_normal((2, 15, 3)))], shift=0.0)
    remainder, targets = generator.standard_normal((9, 15)), generator.standard_normal((4, 15))
    gap = np.eye(15) - expression.dense()
    expected = scipy.linalg.solve_sylvester(
        dictionary.T @ dictionary, gap @ gap.T + 0.01 * np.eye(15), dictionary.T @ remainder + targets @ gap.T
    )
    found = update_latent(dictionary, remainder, targets, expression, 0.01)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


def test_no_nearby_columns_shrink_better(seed):
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((3, 8))
    shrunk = shrink_columns(matrix, 1.2)

    def cost(candidate):
        return 1.2 * np.linalg.norm(candidate, axis=0).sum() + 0.5 * np.sum((candidate - matrix) ** 2)

    assert not shrunk.all(axis=0).all()
    for _ in range(100):
        assert cost(shrunk + 0.1 * generator.standard_normal(matrix.shape)) >= cost(shrunk)


@pytest.mark.parametrize("init", ["pca", "random"])
def test_low_rank_data_express_themselves(seed, init):
    generator = np.random.default_rng(seed)
    features = stack_views([generator.standard_normal((24, 3)) @ generator.standard_normal((3, 9)) for _ in range(2)])
    start = start_latent(features, 8, init, np.random.RandomState(seed))
    found = express_latent(features, start, regularization=1e-3, max_iter=200, tol=1e-6)
    assert found.converged
    np.testing.assert_allclose(features @ found.expression, features, atol=1e-5)
    assert np.linalg.matrix_rank(found.expression, tol=1e-4) == np.linalg.matrix_rank(features, tol=1e-8)


@pytest.mark.parametrize("init", ["pca", "random"])
def test_result_does_not_hang_on_rounding_errors(golden, init):
    features = stack_views(golden_views(golden("problem_synth")))
    start = start_latent(features, 10, init, np.random.RandomState(0))
    noise = 1.0 + 1e-13 * np.random.default_rng(0).standard_normal(start.shape)
    options = {"regularization": 0.1, "max_iter": 200, "tol": 1e-6}
    ends = [express_latent(features, one, **options).objective[-1] for one in (start, start * noise)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-8)


def test_principal_start_follows_the_order_of_samples(seed):
    features = random_features(seed)
    order = np.random.default_rng(seed).permutation(features.shape[1])
    start, permuted = (start_latent(one, 6, "pca", None) for one in (features, features[:, order]))
    np.testing.assert_allclose(np.abs(permuted), np.abs(start[:, order]), atol=1e-10)


def test_start_has_no_more_rows_than_the_data_have_directions(seed):
    features = random_features(seed)
    twice = np.vstack([features, features])
    assert start_latent(twice, 100, "pca", None).shape == (13, 24)
    assert start_latent(twice, 100, "random", np.random.RandomState(0)).shape == (24, 24)


def test_independent_subspaces_are_found(seed):
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 15)
    bases = [np.linalg.qr(generator.standard_normal((20, 2)))[0] for _ in range(3)]
    views = [
        np.stack([bases[label] @ generator.standard_normal(2) for label in truth]) @ generator.standard_normal((20, 20))
        for _ in range(2)
    ]
    model = LatentSubspaceClustering(n_clusters=3, random_state=0).fit(views)
    assert len({(a, b) for a, b in zip(truth, model.labels_, strict=True)}) == 3


def test_the_affinity_is_asked_for_before_the_first_iteration(monkeypatch):
    views = [np.random.default_rng(0).standard_normal((20, 4))] * 2
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 3 * 20 * 20 * 8)
    LatentSubspaceClustering(n_clusters=2, random_state=0).fit(views)
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 3 * 20 * 20 * 8 - 1)
    with pytest.raises(MemoryError, match=r"LatentSubspaceClustering makes .* 20 x 20 .*GlobalAlignmentClustering"):
        LatentSubspaceClustering(n_clusters=2).fit(views)
