from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.opmc import OnePassFactorization, factorize_centers, solve_opmc, start_labels
from latefusion.baselines.support.shifted_rows import side_by_side, standardized_view, without_shift
from latefusion.datasets import make_views
from latefusion.kernels import linear_kernel


def features(problem):
    return [problem[f"X{view + 1}"] for view in range(sum(name.startswith("X") for name in problem))]


def rows_of(views):
    return side_by_side([without_shift(view) for view in views])


def overlapping(seed, n_samples=80):
    return make_views(n_samples, 3, n_views=3, n_features=[5, 2, 9], noise=2.5, random_state=seed).views.arrays


@pytest.mark.parametrize("name", ["synth", "digits"])
@pytest.mark.parametrize("start", [1, 2, 3])
def test_golden(golden, name, start):
    """The recorded objective is that before an update: its first value depends on random factors."""
    problem, expected = golden(f"problem_{name}"), golden(f"opmc_{name}")
    views, k = features(problem), int(problem["k"])
    labels = expected[f"s{start}_labels0"] - 1
    result, centers = solve_opmc(rows_of(views), labels, k, n_views=len(views))
    # The authors stop by the change of a value that is one round older.
    assert result.converged
    assert result.n_iter == len(expected[f"s{start}_obj"]) - 1
    np.testing.assert_allclose(result.objective, expected[f"s{start}_obj"][1:], rtol=1e-10)
    np.testing.assert_array_equal(result.labels, expected[f"s{start}_labels"] - 1)
    if start == 1:
        blocks = np.split(centers, np.cumsum([view.shape[1] for view in views])[:-1], axis=1)
        for view, block in enumerate(blocks):
            published = expected["s1_C"][view] @ expected[f"s1_W{view + 1}"]
            np.testing.assert_allclose(block, published, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_published_updates_of_the_factors_are_rounds_of_k_means(seed):
    """Also for a view with fewer columns than clusters."""
    views, k = overlapping(seed), 4
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, k, 80)
    bases = [generator.random((k, view.shape[1])) for view in views]
    coefficients = [generator.random((k, k)) for _ in views]
    ours, _ = solve_opmc(rows_of(views), labels, k, n_views=3, max_iter=5, tol=0.0)
    objective = []
    for _ in range(5):
        members = np.eye(k)[labels]
        for view, matrix in enumerate(views):
            left, _, right = np.linalg.svd(coefficients[view].T @ members.T @ matrix, full_matrices=False)
            bases[view] = left @ right
            coefficients[view] = np.linalg.solve(members.T @ members, members.T @ matrix @ bases[view].T)
        centers = [coefficient @ basis for coefficient, basis in zip(coefficients, bases, strict=True)]
        distances = sum(
            np.sum((matrix[:, None] - center) ** 2, axis=2) for matrix, center in zip(views, centers, strict=True)
        )
        labels = distances.argmin(axis=1)
        objective.append(distances.min(axis=1).sum() / 3)
    np.testing.assert_allclose(ours.objective, objective[: ours.n_iter], rtol=1e-10)
    np.testing.assert_array_equal(ours.labels, labels)


def test_objective_never_rises_and_belongs_to_the_labels(seed):
    rows = rows_of(overlapping(seed))
    labels = np.random.default_rng(seed).integers(0, 6, 80)
    result, centers = solve_opmc(rows, labels, 6, n_views=3, tol=0.0)
    assert result.converged
    assert np.all(np.diff(result.objective) <= 1e-12 * result.objective[0])
    # A fixed point: the centres of the labels are those that the labels were assigned to.
    assert result.objective[-1] == pytest.approx(np.sum((rows.matrix - centers[result.labels]) ** 2) / 3, rel=1e-10)
    reference = KMeans(6, init=centers, n_init=1, tol=0).fit(rows.matrix)
    np.testing.assert_array_equal(reference.labels_, result.labels)


def test_empty_clusters_are_filled_and_lower_the_objective(seed):
    rows = rows_of(overlapping(seed))
    start = np.zeros(80, dtype=np.intp)
    result, _ = solve_opmc(rows, start, 5, max_iter=1)
    assert set(result.labels) == set(range(5))
    everything = np.sum((rows.matrix - rows.matrix.mean(axis=0)) ** 2)
    assert result.objective[0] < everything


def test_factors_of_centers(seed):
    for width in (2, 4, 9):
        centers = np.random.default_rng(seed).standard_normal((4, width))
        coefficients, basis = factorize_centers(centers)
        np.testing.assert_allclose(coefficients @ basis, centers, atol=1e-12)
        np.testing.assert_allclose(basis @ basis.T, np.eye(min(4, width)), atol=1e-12)


def test_starts(seed):
    data = make_views(90, 3, random_state=seed)
    rows = rows_of(data.views.arrays)
    spread = start_labels(rows, 3, "kmeans++", np.random.RandomState(seed))
    drawn = start_labels(rows, 3, "published", np.random.RandomState(seed))
    assert set(spread) == set(drawn) == {0, 1, 2}
    assert abs(adjusted_rand_score(data.target, drawn)) < 0.1
    assert adjusted_rand_score(data.target, spread) > 0.3


@pytest.mark.parametrize("start", ["kmeans++", "published"])
def test_order_of_samples_and_views_does_not_matter_where_clusters_overlap(seed, start):
    views = overlapping(seed)
    model = OnePassFactorization(5, start=start, n_init=1, random_state=0).fit(views)
    rows, order = np.random.default_rng(seed).permutation(80), [2, 0, 1]
    again = OnePassFactorization(5, start=start, n_init=1, random_state=0).fit([views[p][rows] for p in order])
    np.testing.assert_array_equal(again.labels_, model.labels_[rows])
    np.testing.assert_array_equal(again.objective_, model.objective_)
    columns = np.split(np.arange(16), [5, 7])
    np.testing.assert_array_equal(
        again.cluster_centers_, model.cluster_centers_[:, np.concatenate([columns[p] for p in order])]
    )


def test_more_starts_are_never_worse(seed):
    views = overlapping(seed)
    lowest = [
        OnePassFactorization(6, n_init=n_init, random_state=seed).fit(views).objective_[-1] for n_init in (1, 3, 10)
    ]
    assert lowest[0] >= lowest[1] >= lowest[2]


def test_scaling_by_sample_ignores_offset_and_unit_of_samples_and_by_feature_those_of_columns(seed):
    generator = np.random.default_rng(seed)
    data = make_views(60, 3, n_views=2, n_features=[8, 11], random_state=seed)
    views = data.views.arrays
    shifted = [generator.uniform(0.5, 2, (60, 1)) * view + 9 * generator.random((60, 1)) for view in views]
    widened = [generator.uniform(0.5, 2, view.shape[1]) * view + 9 * generator.random(view.shape[1]) for view in views]
    for scaling, changed in (("sample", shifted), ("feature", widened)):
        models = [OnePassFactorization(3, scaling=scaling, random_state=0).fit(one) for one in (views, changed)]
        assert adjusted_rand_score(models[0].labels_, models[1].labels_) == 1.0
        assert models[1].objective_[-1] == pytest.approx(models[0].objective_[-1], rel=1e-10)
        plain = [OnePassFactorization(3, scaling=None, random_state=0).fit(one) for one in (views, changed)]
        assert plain[1].objective_[-1] != pytest.approx(plain[0].objective_[-1], rel=0.01)


@pytest.mark.parametrize("scaling", ["sample", "feature", None])
def test_sparse_views_give_the_clusters_of_dense_ones(seed, scaling):
    generator = np.random.default_rng(seed)
    # Distances between counts are often equal, and rounding would decide.
    views = [generator.poisson(1.0, (60, width)) * generator.uniform(0.9, 1.1, (60, width)) for width in (12, 30)]
    model = OnePassFactorization(4, scaling=scaling, random_state=0)
    dense = model.fit(views)
    labels, centers = dense.labels_, dense.cluster_centers_
    for mixed in ([scipy.sparse.csr_array(view) for view in views], [views[0], scipy.sparse.csc_array(views[1])]):
        model.fit(mixed)
        np.testing.assert_array_equal(model.labels_, labels)
        np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-10)


def test_kernels_are_not_scaled(seed):
    views = overlapping(seed)
    kernel = linear_kernel(views[2])
    model = OnePassFactorization(3, similarity=["auto", "precomputed"], random_state=0).fit([views[0], kernel])
    plain = OnePassFactorization(3, similarity=["auto", "precomputed"], scaling="feature", random_state=0)
    plain.fit([views[0], kernel])
    # Rows of a standardised kernel have unit length: what is left within clusters is at most one per sample.
    assert model.cluster_centers_.shape[1] == 5 + np.linalg.matrix_rank(kernel)
    for one in (model, plain):
        assert np.all(np.linalg.norm(one.cluster_centers_[:, 5:], axis=1) <= 1.0 + 1e-12)


@pytest.mark.parametrize("scaling", ["sample", "feature", None])
def test_a_large_offset_of_a_view_does_not_matter(seed, scaling):
    data = make_views(60, 3, n_views=2, n_features=[8, 2], random_state=seed)
    views = data.views.arrays
    model = OnePassFactorization(3, scaling=scaling, random_state=0).fit([view + 1e9 for view in views])
    reference = OnePassFactorization(3, scaling=scaling, random_state=0).fit(views)
    assert adjusted_rand_score(reference.labels_, model.labels_) == 1.0
    # The rows of a view that is not standardised keep their offset.
    narrow = model.cluster_centers_[:, 8:] - (0.0 if scaling == "feature" else 1e9)
    np.testing.assert_allclose(np.sort(narrow, axis=0), np.sort(reference.cluster_centers_[:, 8:], axis=0), atol=1e-5)


def test_narrow_views_are_used_as_they_are():
    view = np.repeat([[0.0, 0.1], [0.0, 5.0], [0.0, 9.0]], 5, axis=0)
    model = OnePassFactorization(3, random_state=0).fit([view])
    assert adjusted_rand_score(np.arange(15) // 5, model.labels_) == 1.0
    np.testing.assert_allclose(np.sort(model.cluster_centers_, axis=0), [[0.0, 0.1], [0.0, 5.0], [0.0, 9.0]])


def test_coinciding_samples_and_constant_columns():
    base = np.random.default_rng(0).standard_normal((4, 6))
    base[:, 2] = 7.0
    view = np.repeat(base, 5, axis=0)
    model = OnePassFactorization(4, scaling="feature", random_state=0).fit([view])
    assert adjusted_rand_score(np.arange(20) // 5, model.labels_) == 1.0
    assert model.objective_[-1] == pytest.approx(0.0, abs=1e-10)
    assert model.converged_
    more = OnePassFactorization(7, random_state=0).fit([view])
    assert set(more.labels_) == set(range(7))


def test_the_cap_warns():
    with pytest.warns(ConvergenceWarning, match="OnePassFactorization did not converge in 1 iterations"):
        OnePassFactorization(6, start="published", max_iter=1, random_state=0).fit(overlapping(0))


def test_standardised_views_count_by_their_columns(seed):
    """A squared distance between standardised samples grows with the number of columns, so wide views decide."""
    generator = np.random.default_rng(seed)
    narrow, wide = np.repeat(np.arange(2), 30), np.tile(np.arange(2), 30)
    views = [
        4.0 * generator.standard_normal((2, 5))[narrow] + generator.standard_normal((60, 5)),
        4.0 * generator.standard_normal((2, 80))[wide] + generator.standard_normal((60, 80)),
    ]
    labels = OnePassFactorization(2, random_state=0).fit_predict(views)
    assert adjusted_rand_score(labels, wide) == 1.0
    assert standardized_view(views[0], "sample").squared_norms() == pytest.approx(4.0)
    assert standardized_view(views[1], "sample").squared_norms() == pytest.approx(79.0)


def test_documentation_says_that_it_is_k_means():
    assert "k-means on the standardised views" in OnePassFactorization.__doc__
