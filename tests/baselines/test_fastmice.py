from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.assignment import assign_by_kmeans
from latefusion.baselines.fastmice import Draw, FastEnsembleClustering, base_graph, draw_group, solve_fastmice
from latefusion.baselines.support import anchor_search
from latefusion.baselines.support.anchor_search import AnchorGroups, anchor_affinity, search_groups
from latefusion.baselines.support.bipartite_cut import connected_parts, transfer_cut
from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel


def golden_graph(problem, expected, base):
    """The graph of a base clustering from the stored representatives, and its search results by view."""
    views = expected[f"b{base}_views"]
    n_neighbors = -(-5 // len(views))
    found = {}
    for view in views:
        prefix = f"b{base}_v{view + 1}"
        near = search_groups(
            problem[f"X{view + 1}"][:, expected[f"{prefix}_features"]],
            expected[f"{prefix}_reps"],
            AnchorGroups(expected[f"{prefix}_rep_cluster"], expected[f"{prefix}_rep_centres"]),
            n_neighbors,
        )
        found[prefix] = near, anchor_affinity(near, len(expected[f"{prefix}_reps"]))
    return found, scipy.sparse.hstack([affinity for _, affinity in found.values()], format="csr")


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["synth", "digits"])
@pytest.mark.parametrize("base", [1, 2, 3, 4])
def test_golden_base_clusterings(golden, name, base):
    problem, expected = golden(f"problem_{name}"), golden(f"fastmice_{name}")
    found, graph = golden_graph(problem, expected, base)
    for prefix, (near, _) in found.items():
        shape = near.indices.shape
        order = np.argsort(near.indices, axis=1)
        known = expected[f"{prefix}_knn_index"].reshape(shape)
        known_order = np.argsort(known, axis=1)
        np.testing.assert_array_equal(
            np.take_along_axis(near.indices, order, axis=1), np.take_along_axis(known, known_order, axis=1)
        )
        distances = expected[f"{prefix}_knn_dist"].reshape(shape)
        # The square root of a rounded zero is 1e-8 times the size of the rows.
        np.testing.assert_allclose(
            np.take_along_axis(np.sqrt(near.squared), order, axis=1),
            np.take_along_axis(distances, known_order, axis=1),
            atol=1e-6,
        )
    np.testing.assert_allclose(graph.toarray(), expected[f"b{base}_B"], atol=1e-8)
    embedding = transfer_cut(graph, int(expected[f"b{base}_K"])).embedding
    # The authors divide rows by their norm plus 1e-10.
    known = unit(expected[f"b{base}_embedding"])
    np.testing.assert_allclose(embedding @ embedding.T, known @ known.T, atol=1e-8)


@pytest.mark.parametrize("name", ["synth", "digits"])
@pytest.mark.parametrize("ensemble", ["", "m20_"])
def test_golden_consensus(golden, name, ensemble):
    problem, expected = golden(f"problem_{name}"), golden(f"fastmice_{name}")
    result, _ = solve_fastmice(expected[f"{ensemble}base_labels"] - 1, int(problem["k"]))
    known = unit(expected[f"{ensemble}consensus_embedding"])
    np.testing.assert_allclose(result.consensus @ result.consensus.T, known @ known.T, atol=1e-8)
    labels, _ = assign_by_kmeans(result.consensus, int(problem["k"]), random_state=0)
    assert adjusted_rand_score(labels, expected[f"{ensemble}labels"]) > 0.9


def test_draws_are_within_their_limits_and_reach_them():
    generator = np.random.RandomState(0)
    widths, is_whole = [10, 1, 7], [False, False, True]
    draws = [draw_group(widths, is_whole, 3, generator) for _ in range(500)]
    assert {draw.n_clusters for draw in draws} == {3, 4, 5, 6}
    assert {tuple(draw.views) for draw in draws} == {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)}
    assert {len(draw.features[0]) for draw in draws} == set(range(3, 9))
    assert {len(draw.features[1]) for draw in draws} == {1}
    for draw in draws:
        assert len(set(draw.features[0])) == len(draw.features[0])
        np.testing.assert_array_equal(draw.features[2], np.arange(7))
    assert {feature for draw in draws for feature in draw.features[0]} == set(range(10))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_graph_of_several_views_has_their_share_of_anchors_and_neighbors(seed, metric):
    views = make_views(60, 3, n_views=3, n_features=[5, 8, 11], random_state=seed).views.arrays
    draw = Draw(3, np.array([0, 2]), [np.arange(3), np.arange(2), np.arange(4, 11)])
    graph = base_graph(views, draw, 25, 5, np.random.RandomState(seed), metric)
    assert graph.shape == (60, 2 * 13)
    for block in (graph[:, :13], graph[:, 13:]):
        assert np.all(np.diff(block.tocsr().indptr) == 3)
        np.testing.assert_allclose(np.linalg.norm(block.toarray(), axis=1), 1.0)
    narrow = base_graph(views, draw, 2, 5, np.random.RandomState(seed), metric)
    assert narrow.shape == (60, 2)


def test_objective_is_zero_where_all_clusterings_agree_and_grows_with_disagreement(seed):
    labels = np.arange(60) % 3
    agreed = np.stack([labels, (labels + 1) % 3, labels], axis=1)
    assert solve_fastmice(agreed, 3)[0].objective[0] == pytest.approx(0.0, abs=1e-12)
    finer = np.concatenate([agreed, (np.arange(60) % 6)[:, None]], axis=1)
    assert solve_fastmice(finer, 3)[0].objective[0] == pytest.approx(0.0, abs=1e-12)
    generator = np.random.default_rng(seed)
    values = []
    for n_moved in (5, 15, 60):
        moved = np.tile(labels[:, None], 8)
        for clustering in moved.T:
            clustering[generator.choice(60, n_moved, replace=False)] = generator.integers(0, 3, n_moved)
        values.append(solve_fastmice(moved, 3)[0].objective[0])
    assert 0 < values[0] < values[1] < values[2] < 3


def test_names_of_base_clusters_and_the_order_of_clusterings_do_not_matter(seed):
    generator = np.random.default_rng(seed)
    labelings = np.stack([generator.integers(0, size, 50) for size in (3, 4, 5, 3)], axis=1)
    renamed = np.stack([generator.permutation(6)[column] for column in labelings[:, ::-1].T], axis=1)
    one, other = (solve_fastmice(given, 3)[0].consensus for given in (labelings, renamed))
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-10)


def test_order_of_samples_and_views_gives_the_same_bits(seed):
    views = make_views(70, 3, n_views=3, n_features=[5, 8, 5], noise=2.5, random_state=seed).views.arrays
    model = FastEnsembleClustering(3, n_anchors=30, random_state=0).fit(views)
    rows, order = np.random.default_rng(seed).permutation(70), [2, 0, 1]
    again = FastEnsembleClustering(3, n_anchors=30, random_state=0).fit([views[p][rows] for p in order])
    np.testing.assert_array_equal(again.base_labels_, model.base_labels_[rows])
    np.testing.assert_array_equal(again.consensus_, model.consensus_[rows])
    np.testing.assert_array_equal(again.labels_, model.labels_[rows])


def test_base_clusterings_differ_between_seeds_and_within_a_fit(seed):
    views = make_views(60, 3, noise=2.0, random_state=seed).views
    model = FastEnsembleClustering(3, n_clusterings=6, random_state=0).fit(views)
    assert model.base_labels_.shape == (60, 6)
    counts = [len(set(column)) for column in model.base_labels_.T]
    assert all(3 <= count <= 6 for count in counts)
    assert len({tuple(column) for column in model.base_labels_.T}) == 6
    other = FastEnsembleClustering(3, n_clusterings=6, random_state=1).fit(views)
    assert np.any(other.base_labels_ != model.base_labels_)
    # A base clustering has a seed of its own, so the first ones do not depend on their number.
    more = FastEnsembleClustering(3, n_clusterings=8, random_state=0).fit(views)
    np.testing.assert_array_equal(more.base_labels_[:, :6], model.base_labels_)


def test_approximate_search_gives_the_clusters_of_the_exact_one(seed, monkeypatch):
    data = make_views(600, 4, n_views=2, n_features=[10, 12], noise=0.8, random_state=seed)
    options = {"n_clusterings": 8, "n_anchors": 150, "random_state": 0}
    exact = FastEnsembleClustering(4, **options).fit(data.views)
    monkeypatch.setattr(anchor_search, "EXACT_PAIRS", 0)
    grouped = FastEnsembleClustering(4, **options).fit(data.views)
    for model in (exact, grouped):
        assert adjusted_rand_score(data.target, model.labels_) > 0.95
    assert np.any(exact.base_labels_ != grouped.base_labels_)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def sparse_texts(seed):
    """Views with many zeros and values without ties, one row of them without any entry."""
    generator = np.random.default_rng(seed)
    target = np.arange(90) % 3
    rates = generator.gamma(0.5, size=(3, 40))
    views = []
    for _ in range(2):
        counts = generator.poisson(4 * rates[target])
        views.append(counts * generator.uniform(0.9, 1.1, counts.shape))
    views[0][7] = 0.0
    return views, target


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_views_give_the_graphs_and_clusters_of_dense_ones(seed, metric):
    views, target = sparse_texts(seed)
    sparse = [scipy.sparse.csr_array(views[0]), scipy.sparse.csr_array(views[1])]
    draw = Draw(4, np.array([0, 1]), [np.arange(0, 40, 2), np.arange(5, 30)])
    graphs = [base_graph(given, draw, 40, 5, np.random.RandomState(0), metric) for given in (views, sparse)]
    # In the cosine metric a row of zeros is equally far from all anchors.
    dense, found = (np.delete(graph.toarray(), 7, axis=0) for graph in graphs)
    np.testing.assert_allclose(found, dense, atol=1e-6)
    labels = [FastEnsembleClustering(3, metric=metric, random_state=0).fit_predict(given) for given in (views, sparse)]
    assert adjusted_rand_score(*labels) == 1.0
    assert adjusted_rand_score(target, labels[0]) > 0.9


def test_neighbors_are_doubled_while_there_are_more_components_than_clusters():
    """Four groups of ten samples that are far apart."""
    view = np.repeat([[0.0], [10.0], [100.0], [110.0]], 10, axis=0) + np.random.default_rng(0).random((40, 1))
    draw = Draw(2, np.array([0]), [np.arange(1)])
    graph = base_graph([view], draw, 40, 3, np.random.RandomState(0))
    assert set(np.diff(graph.indptr)) == {12}
    n_parts, parts = connected_parts(graph)
    assert n_parts == 2
    np.testing.assert_array_equal(parts, np.repeat([0, 1], 20))
    # Eight times as many neighbours do not join groups that are larger than that.
    apart = base_graph([view], draw._replace(n_clusters=1), 40, 1, np.random.RandomState(0))
    assert set(np.diff(apart.indptr)) == {8}
    assert connected_parts(apart)[0] >= 4


def test_more_agreed_parts_than_clusters_warn():
    view = np.repeat(1000.0 * np.arange(5)[:, None], 60, axis=0) + np.random.default_rng(0).random((300, 1))
    with pytest.warns(ConvergenceWarning, match=r"agree on 5 parts, more than n_clusters=2.*Raise n_clusters to 5"):
        model = FastEnsembleClustering(2, n_neighbors=1, random_state=0).fit([view])
    assert set(model.labels_) == {0, 1}
    for group in model.labels_.reshape(5, 60):
        assert len(set(group)) == 1


def test_cosine_ignores_the_length_of_samples(seed):
    generator = np.random.default_rng(seed)
    views = make_views(60, 3, n_features=[6, 6], n_views=2, random_state=seed).views.arrays
    scaled = [generator.choice([0.25, 1.0, 8.0], size=(60, 1)) * view for view in views]
    graphs = []
    for given in (views, scaled):
        draw = Draw(3, np.array([0, 1]), [np.arange(6), np.arange(6)])
        graphs.append(base_graph(given, draw, 60, 5, np.random.RandomState(0), "cosine").toarray())
    np.testing.assert_allclose(graphs[0], graphs[1], atol=1e-10)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("factor", [2.0**-400, 2.0**300])
def test_the_unit_of_a_view_does_not_matter(seed, metric, factor):
    views = make_views(60, 3, n_views=2, n_features=[6, 8], random_state=seed).views.arrays
    draw = Draw(3, np.array([0, 1]), [np.arange(6), np.arange(8)])
    graphs = [
        base_graph(given, draw, 30, 5, np.random.RandomState(0), metric).toarray()
        for given in (views, [factor * view for view in views])
    ]
    np.testing.assert_allclose(graphs[1], graphs[0], atol=1e-12)


def test_all_components_of_a_kernel_are_used(seed):
    data = make_views(60, 3, n_views=2, noise=1.0, random_state=seed)
    kernels = [gaussian_kernel(view) for view in data.views.arrays]
    model = FastEnsembleClustering(3, similarity="precomputed", random_state=0).fit(kernels)
    assert adjusted_rand_score(data.target, model.labels_) > 0.9


def test_coinciding_samples_stay_together_and_clusters_are_never_too_many():
    base = np.random.default_rng(0).standard_normal((4, 5))
    view = np.repeat(base, 6, axis=0)
    model = FastEnsembleClustering(4, random_state=0).fit([view, view])
    assert adjusted_rand_score(np.arange(24) // 6, model.labels_) == 1.0


def test_a_view_with_one_column_and_constant_columns(seed):
    target = np.repeat(np.arange(3), 20)
    generator = np.random.default_rng(seed)
    single = 10.0 * target[:, None] + generator.standard_normal((60, 1))
    padded = np.concatenate([single, np.full((60, 2), 3.0)], axis=1)
    model = FastEnsembleClustering(3, random_state=0).fit([single, padded])
    assert adjusted_rand_score(target, model.labels_) > 0.9
