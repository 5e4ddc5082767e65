"""LF-MVC-LAM: neighborhoods, as fractions and counts."""

import numpy as np
import pytest
from sklearn.base import clone

import latefusion as lf


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_from_golden_kernels(golden, problem):
    data, reference = golden(f"problem_{problem}"), golden(f"lfmvc_lam_fixed_{problem}")
    for t, fraction in enumerate(reference["taus"], start=1):
        model = lf.LocalAlignmentClustering(
            int(data["k"]),
            regularization=4.0,
            neighborhood=float(fraction),
            similarity=lf.PrecomputedSimilarity(standardize=False),
            random_state=0,
        ).fit(list(data["K"]))
        assert model.objective_[-1] >= 0.98 * reference[f"t{t}_l3_obj"].ravel()[-1]
        np.testing.assert_array_equal(model.neighbor_counts_[:-1], reference[f"t{t}_counts"])
        np.testing.assert_array_equal(model.neighbor_counts_[-1], reference[f"t{t}_counts0"].ravel())


def test_counts_add_up_and_fraction_equals_count():
    data = lf.datasets.make_views(50, 3, random_state=0)
    fraction = lf.LocalAlignmentClustering(3, neighborhood=0.3, random_state=0).fit(data.views)
    count = lf.LocalAlignmentClustering(3, neighborhood=15, random_state=0).fit(data.views)
    np.testing.assert_array_equal(fraction.neighbor_counts_, count.neighbor_counts_)
    np.testing.assert_array_equal(fraction.neighbor_counts_.sum(axis=1), 50 * 15)
    np.testing.assert_array_equal(fraction.labels_, count.labels_)


def test_full_neighborhoods_are_global_alignment():
    data = lf.datasets.make_views(60, 3, random_state=0)
    local = lf.LocalAlignmentClustering(3, neighborhood=1.0, random_state=0).fit(data.views)
    overall = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    np.testing.assert_array_equal(local.neighbor_counts_, 59)
    np.testing.assert_allclose(local.consensus_, overall.consensus_, atol=1e-10)
    np.testing.assert_allclose(local.objective_, overall.objective_ * 59 / 60, rtol=1e-10)


@pytest.mark.parametrize("neighborhood", [0, 0.0, 1.5, -3, "all"])
def test_bad_neighborhoods_are_refused(neighborhood):
    data = lf.datasets.make_views(30, 3, random_state=0)
    with pytest.raises(ValueError, match="neighborhood"):
        lf.LocalAlignmentClustering(3, neighborhood=neighborhood).fit(data.views)


TAUS, LAMBDAS = [0.1, 0.3, 20], [0.5, 4.0]
KINDS = {
    "kernels": {},
    "graphs": {"similarity": "graph"},
    "kernel and graph": {"similarity": ["kernel", "graph", lf.KernelSimilarity(method="factor")]},
    "factors": {"similarity": lf.KernelSimilarity("linear", method="factor")},
    "sampled counts": {"similarity": lf.KernelSimilarity(method="factor"), "count_samples": 40},
    "anchors": {"similarity": lf.GraphSimilarity(method="anchors", n_anchors=30)},
    "mixture without kernels": {
        "similarity": ["graph", lf.GraphSimilarity(method="anchors"), lf.KernelSimilarity("linear", method="factor")],
    },
    "sampled counts of a mixture": {
        "similarity": ["graph", lf.GraphSimilarity(method="anchors"), lf.KernelSimilarity(method="factor")],
        "count_samples": 40,
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_path_over_neighborhoods_is_that_of_separate_fits(kind):
    data = lf.datasets.make_views(120, 3, noise=1.5, random_state=0)
    model = lf.LocalAlignmentClustering(3, random_state=0, **KINDS[kind])
    paths = model.neighborhood_path(data.views, TAUS, LAMBDAS)
    assert list(paths) == TAUS
    assert not hasattr(model, "labels_")
    for tau, path in paths.items():
        for value, point in zip(LAMBDAS, path, strict=True):
            alone = clone(model).set_params(neighborhood=tau, regularization=value).fit(data.views)
            np.testing.assert_array_equal(point.labels, alone.labels_)
            np.testing.assert_allclose(point.objective, alone.objective_, rtol=1e-12)
            np.testing.assert_allclose(point.weights, alone.view_weights_, rtol=1e-12)
            np.testing.assert_allclose(point.consensus, alone.consensus_, atol=1e-12)
    assert paths[0.1][0].objective[-1] != paths[0.3][0].objective[-1]


def test_the_path_over_neighborhoods_computes_similarities_once():
    data = lf.datasets.make_views(60, 3, random_state=0)
    calls = []

    def kernel(left, right):
        calls.append(left.shape)
        return left @ right.T

    paths = lf.LocalAlignmentClustering(3, kernel=kernel).neighborhood_path(data.views, TAUS)
    assert len(calls) == 3
    assert [len(path) for path in paths.values()] == [1, 1, 1]
    assert paths[0.3][0].regularization == 1.0


@pytest.mark.parametrize("neighborhoods", [[], [0.3, 0.3], [0], [1.5], [-0.1], [True], ["all"], [0.2, None]])
def test_bad_paths_are_refused(neighborhoods):
    data = lf.datasets.make_views(30, 3, random_state=0)
    with pytest.raises(ValueError, match="neighborhoods must be"):
        lf.LocalAlignmentClustering(3).neighborhood_path(data.views, neighborhoods)
    with pytest.raises(ValueError, match="regularizations must be"):
        lf.LocalAlignmentClustering(3).neighborhood_path(data.views, [0.3], [-1.0])


@pytest.mark.parametrize("kind", ["labels", "memberships", "repeated samples"])
def test_samples_that_coincide_in_a_view_get_their_rows_back(kind):
    """In a view of labels all samples of a cluster coincide, and neighborhoods end among them."""
    data = lf.datasets.make_views(200, 4, random_state=0)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(200) < 0.3, rng.integers(4, size=200), data.target)
    views = list(data.views.arrays)
    similarity = "auto"
    if kind == "repeated samples":
        views = [np.concatenate([one[:150], one[:50]]) for one in views]
    else:
        last = noisy if kind == "labels" else np.eye(4)[noisy]
        similarity = ["auto"] * len(views) + [lf.GivenPartition(kind)]
        views.append(last)
    model = lf.LocalAlignmentClustering(4, similarity=similarity, random_state=0).fit(views)
    np.testing.assert_allclose(model.transform(views), model.consensus_, atol=1e-9)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
