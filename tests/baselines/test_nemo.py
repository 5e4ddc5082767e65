"""NEMO: golden graphs of complete and incomplete views, and averages over common views."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.nemo import NeighborhoodClustering, average_graphs, relative_similarities
from latefusion.baselines.support.scaled_affinity import scaled_affinity, view_distances
from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel
from latefusion.types import Views

PROBLEMS = pytest.mark.parametrize("name", ["synth", "digits"])
CASES = pytest.mark.parametrize(("case", "n_neighbors"), [("S", None), ("S_partial", None), ("S_k15", 15)])


def problem_views(problem, expected, case):
    arrays = [problem[f"X{view + 1}"] for view in range(len(problem["sigma"]))]
    return Views(arrays, mask=expected["mask"].T.astype(bool) if case == "S_partial" else None)


def as_dense(graph):
    return graph.toarray() if scipy.sparse.issparse(graph) else graph


@PROBLEMS
@CASES
def test_golden(golden, name, case, n_neighbors):
    problem, expected = golden(f"problem_{name}"), golden(f"nemo_{name}")
    model = NeighborhoodClustering(
        int(problem["k"]), standardize=False, n_neighbors=n_neighbors, assign_labels="published"
    ).fit(problem_views(problem, expected, case))
    graph = as_dense(model.graph_)
    np.testing.assert_allclose(graph[:, expected["columns"]], expected[case], atol=1e-10)
    np.testing.assert_allclose(graph.sum(axis=1), expected[f"{case}_rowsum"], atol=1e-10)
    assert np.linalg.norm(graph) == pytest.approx(float(expected[f"{case}_fro"]), abs=1e-10)
    suffix = {"S": "", "S_partial": "_partial"}.get(case)
    if suffix is not None:
        assert adjusted_rand_score(model.labels_, expected[f"labels{suffix}"]) > 0.99
        assert model.estimate_n_clusters()[0] == int(expected[f"k_estimate{suffix}"])


def test_golden_labels_of_the_default_rule_are_similar(golden):
    problem, expected = golden("problem_synth"), golden("nemo_synth")
    model = NeighborhoodClustering(3, standardize=False, random_state=0)
    assert adjusted_rand_score(model.fit_predict(problem_views(problem, expected, "S")), expected["labels"]) > 0.9


def test_rows_hold_relative_similarities(seed):
    view = np.random.default_rng(seed).standard_normal((30, 4))
    affinity = scaled_affinity(view_distances(view, "features", standardize=False, distance="sqeuclidean"), 6, 0.5)
    observed = np.zeros(40, dtype=bool)
    observed[np.random.default_rng(seed).permutation(40)[:30]] = True
    graph = relative_similarities(affinity, observed, 6)
    assert graph.sum() == pytest.approx(60.0)
    np.testing.assert_allclose(graph.toarray(), graph.toarray().T, atol=1e-15)
    assert not graph.toarray()[~observed].any()
    nearest = np.argsort(-affinity, axis=1)[:, :6]
    expected = np.zeros((30, 30))
    np.put_along_axis(expected, nearest, np.take_along_axis(affinity, nearest, axis=1), axis=1)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(graph.toarray()[np.ix_(observed, observed)], expected + expected.T, atol=1e-14)


def random_graphs(mask, generator):
    graphs = []
    for observed in mask.T:
        weights = generator.random((len(mask), len(mask))) * np.outer(observed, observed)
        graphs.append(scipy.sparse.csr_array(weights * (weights > 0.6) + (weights * (weights > 0.6)).T))
    return graphs


def test_means_are_over_common_views_and_pairs_without_any_get_the_mean_pair(seed):
    generator = np.random.default_rng(seed)
    mask = generator.random((25, 3)) > 0.5
    mask[~mask.any(axis=1), 0] = True
    graphs = random_graphs(mask, generator)
    expected = np.full((25, 25), np.nan)
    for i in range(25):
        for j in range(25):
            common = np.flatnonzero(mask[i] & mask[j])
            if len(common):
                expected[i, j] = np.mean([graphs[view].toarray()[i, j] for view in common])
    assert np.isnan(expected).any()
    expected[np.isnan(expected)] = np.nanmean(expected[np.tril_indices(25, -1)])
    np.testing.assert_allclose(average_graphs(graphs, mask), expected, atol=1e-12)


def test_the_mean_stays_sparse_where_all_pairs_have_a_common_view(seed, monkeypatch):
    monkeypatch.setattr("latefusion.baselines.nemo.COUNTED_PAIRS", 17)
    generator = np.random.default_rng(seed)
    mask = np.ones((25, 3), dtype=bool)
    mask[generator.random(25) > 0.5, 2] = False
    graphs = random_graphs(mask, generator)
    found = average_graphs(graphs, mask)
    assert scipy.sparse.issparse(found)
    counts = mask.astype(int) @ mask.T
    np.testing.assert_allclose(found.toarray(), sum(graph.toarray() for graph in graphs) / counts, atol=1e-14)


def test_values_of_missing_views_are_not_read(seed):
    data = make_views(60, 3, missing=0.3, random_state=seed)
    spoilt = [np.where(own[:, None], view, 1e6) for view, own in zip(data.views.arrays, data.views.mask.T, strict=True)]
    first = NeighborhoodClustering(3, random_state=0).fit(data.views)
    second = NeighborhoodClustering(3, random_state=0).fit(Views(spoilt, mask=data.views.mask))
    np.testing.assert_array_equal(as_dense(first.graph_), as_dense(second.graph_))


def test_incomplete_kernels(seed):
    complete = make_views(60, 3, noise=0.5, random_state=seed)
    mask = make_views(60, 3, missing=0.3, random_state=seed).views.mask
    kernels = [gaussian_kernel(view) for view in complete.views.arrays]
    model = NeighborhoodClustering(3, similarity="precomputed", random_state=0).fit(Views(kernels, mask=mask))
    assert adjusted_rand_score(model.labels_, complete.target) > 0.8


def test_samples_of_two_disjoint_studies_are_clustered_together(seed):
    data = make_views(120, 3, n_views=3, noise=0.5, random_state=seed)
    mask = np.ones((120, 3), dtype=bool)
    mask[:40, 1] = mask[40:80, 0] = False
    model = NeighborhoodClustering(3, random_state=0).fit(Views(data.views.arrays, mask=mask))
    assert adjusted_rand_score(model.labels_, data.target) > 0.9
    list_of_neighbors = np.rint(mask.sum(axis=0) / 6)
    np.testing.assert_array_equal(model.n_neighbors_, list_of_neighbors)


def test_every_view_twice_is_every_view_once(seed):
    arrays = make_views(60, 3, noise=2.0, random_state=seed).views.arrays
    once = NeighborhoodClustering(3, random_state=0).fit(arrays)
    twice = NeighborhoodClustering(3, random_state=0).fit([*arrays, *arrays])
    np.testing.assert_allclose(twice.graph_.toarray(), once.graph_.toarray(), atol=1e-12)
    assert adjusted_rand_score(once.labels_, twice.labels_) == 1.0


def test_the_objective_is_the_sum_of_the_smallest_eigenvalues(seed):
    model = NeighborhoodClustering(3, random_state=0).fit(make_views(40, 3, random_state=seed).views)
    graph = model.graph_.toarray()
    degrees = graph.sum(axis=1)
    laplacian = np.eye(40) - graph / np.sqrt(np.outer(degrees, degrees))
    assert model.objective_[0] == pytest.approx(np.linalg.eigvalsh(laplacian)[:3].sum(), abs=1e-9)


@pytest.mark.filterwarnings("ignore:Only 2 of the 20 samples")
def test_a_view_of_two_samples_is_refused_by_name():
    data = make_views(20, 2, n_views=2, random_state=0)
    mask = np.ones((20, 2), dtype=bool)
    mask[2:, 1] = False
    with pytest.raises(ValueError, match=r"View 'second' is observed for 2 sample.*at least 3. Remove the view"):
        NeighborhoodClustering(2).fit(Views(data.views.arrays, names=["first", "second"], mask=mask))
