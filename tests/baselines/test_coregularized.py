from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.coregularized import (
    CentroidCoregularizedSpectral,
    CoregularizedSpectral,
    _centroid,
    _pulled_embedding,
    centroid_objective,
    pairwise_objective,
    solve_centroid,
    solve_pairwise,
)
from latefusion.baselines.support.graphs import normalized_affinities
from latefusion.datasets import make_views
from latefusion.metrics import clustering_accuracy

LAMBDAS = [1, 2, 3]


def raw_kernels(problem):
    views = [problem[f"X{view + 1}"] for view in range(len(problem["sigma"]))]
    return [
        np.exp(-cdist(view, view, "sqeuclidean") / (2 * sigma**2))
        for view, sigma in zip(views, problem["sigma"], strict=True)
    ]


def affinities_of(problem):
    kernels = raw_kernels(problem)
    return normalized_affinities(kernels, [str(view) for view in range(len(kernels))])


def random_isometry(generator, n_rows, n_columns):
    return np.linalg.qr(generator.standard_normal((n_rows, n_columns)))[0]


def projector_gap(left, right):
    return np.abs(left @ left.T - right @ right.T).max()


@pytest.mark.parametrize("index", LAMBDAS)
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_pairwise(golden, name, index):
    problem, expected = golden(f"problem_{name}"), golden(f"crsc_pairwise_{name}")
    result, embeddings = solve_pairwise(
        affinities_of(problem),
        int(problem["k"]),
        regularization=float(expected["lambdas"][index - 1]),
        max_iter=int(expected["numiter"]),
        tol=0.0,
    )
    for embedding, golden_embedding in zip(embeddings, expected[f"l{index}_U"], strict=True):
        assert projector_gap(embedding, golden_embedding) < 1e-8
    assert np.all(np.diff(result.objective) >= -1e-10)


@pytest.mark.parametrize("index", LAMBDAS)
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_centroid(golden, name, index):
    problem, expected = golden(f"problem_{name}"), golden(f"crsc_centroid_{name}")
    result, embeddings = solve_centroid(
        affinities_of(problem),
        int(problem["k"]),
        regularization=float(expected["lambdas"][index - 1]),
        max_iter=int(expected["numiter"]),
        tol=0.0,
    )
    assert projector_gap(result.consensus, expected[f"l{index}_F"]) < 1e-8
    for embedding, golden_embedding in zip(embeddings, expected[f"l{index}_U"], strict=True):
        assert projector_gap(embedding, golden_embedding) < 1e-8
    assert np.all(np.diff(result.objective) >= -1e-10)
    rows = result.consensus / np.linalg.norm(result.consensus, axis=1, keepdims=True)
    found = KMeans(int(problem["k"]), n_init=200, random_state=1).fit(rows)
    assert found.inertia_ <= expected[f"l{index}_inertia"] * (1 + 1e-6)


@pytest.mark.parametrize(
    ("options", "file", "key"),
    [
        ({"labels_from": "first"}, "crsc_pairwise", "l2_metrics"),
        ({"labels_from": "all"}, "crsc_pairwise", "l2_concat_metrics"),
        ({"form": "centroid"}, "crsc_centroid", "l2_metrics"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_labels(golden, name, options, file, key):
    problem, expected = golden(f"problem_{name}"), golden(f"{file}_{name}")
    model = CoregularizedSpectral(
        int(problem["k"]),
        similarity="precomputed",
        regularization=0.05,
        max_iter=int(expected["numiter"]),
        tol=0.0,
        n_init=50,
        random_state=0,
        **options,
    ).fit(raw_kernels(problem))
    assert clustering_accuracy(problem["y"], model.labels_) == pytest.approx(expected[key][0], abs=0.02)


def test_pulled_embedding_is_the_best_isometry(seed):
    generator = np.random.default_rng(seed)
    matrix = generator.random((20, 20))
    matrix = matrix + matrix.T
    others = np.stack([random_isometry(generator, 20, 3) for _ in range(2)])
    full = matrix + 0.4 * sum(other @ other.T for other in others)
    found = _pulled_embedding(matrix, others, 0.4)
    best = np.trace(found.T @ full @ found)
    assert best == pytest.approx(np.linalg.eigvalsh(full)[-3:].sum())
    for _ in range(30):
        other = random_isometry(generator, 20, 3)
        assert np.trace(other.T @ full @ other) <= best + 1e-12


def test_many_vectors_take_another_solver_to_the_same_result(seed, monkeypatch):
    generator = np.random.default_rng(seed)
    matrix = generator.random((40, 40))
    matrix = matrix + matrix.T
    others = random_isometry(generator, 40, 4)[None]
    formed = _pulled_embedding(matrix, others, 0.3)
    monkeypatch.setattr("latefusion.baselines.coregularized.MANY_VECTORS_FRACTION", 1.0)
    assert projector_gap(formed, _pulled_embedding(matrix, others, 0.3)) < 1e-10


def test_centroid_is_the_best_common_embedding(seed):
    generator = np.random.default_rng(seed)
    embeddings = np.stack([random_isometry(generator, 25, 3) for _ in range(4)])
    common = _centroid(embeddings)
    np.testing.assert_allclose(common.T @ common, np.eye(3), atol=1e-12)
    nothing = [np.zeros((25, 25))] * 4
    best = centroid_objective(nothing, embeddings, common, 1.0)
    for _ in range(30):
        assert centroid_objective(nothing, embeddings, random_isometry(generator, 25, 3), 1.0) <= best + 1e-12


@pytest.mark.parametrize("solve", [solve_pairwise, solve_centroid])
def test_objective_never_falls_and_matches_the_result(seed, solve):
    data = make_views(60, n_views=3, random_state=seed)
    kernels = [np.exp(-cdist(view, view, "sqeuclidean") / 20) for view in data.views.arrays]
    affinities = normalized_affinities(kernels, data.views.names)
    result, embeddings = solve(affinities, 3, regularization=0.1, max_iter=20, tol=0.0)
    assert np.all(np.diff(result.objective) >= -1e-12)
    for embedding in embeddings:
        np.testing.assert_allclose(embedding.T @ embedding, np.eye(3), atol=1e-10)
    if result.consensus is None:
        recomputed = pairwise_objective(affinities, embeddings, 0.1)
    else:
        recomputed = centroid_objective(affinities, embeddings, result.consensus, 0.1)
    assert result.objective[-1] == pytest.approx(recomputed, rel=1e-12)


def test_without_regularisation_every_view_keeps_its_spectral_embedding(seed):
    data = make_views(60, n_views=2, random_state=seed)
    model = CoregularizedSpectral(3, regularization=0.0, random_state=0).fit(data.views)
    for view, array in enumerate(data.views.arrays):
        alone = CoregularizedSpectral(3, random_state=0).fit([array])
        assert projector_gap(model.view_embeddings_[view], alone.view_embeddings_[0]) < 1e-8


@pytest.mark.parametrize("estimator", [CoregularizedSpectral, CentroidCoregularizedSpectral])
def test_planted_clusters_are_recovered(seed, estimator):
    data = make_views(90, n_views=2, n_uninformative=1, random_state=seed)
    model = estimator(3, random_state=0).fit(data.views)
    assert adjusted_rand_score(model.labels_, data.target) > 0.9
    assert hasattr(model, "consensus_") == (model.form == "centroid")


def test_order_of_the_views_plays_no_part_once_converged(seed):
    data = make_views(90, n_views=3, random_state=seed)
    arrays = list(data.views.arrays)
    forward = CoregularizedSpectral(3, tol=1e-10, max_iter=200, random_state=0).fit(arrays)
    backward = CoregularizedSpectral(3, tol=1e-10, max_iter=200, random_state=0).fit(arrays[::-1])
    assert adjusted_rand_score(forward.labels_, backward.labels_) == 1.0
