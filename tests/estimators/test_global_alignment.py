"""LF-MVC-GAM from stored kernels: the whole way, not only the solver."""

import numpy as np
import pytest

import latefusion as lf


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_from_golden_kernels(golden, problem):
    # Base partitions are recomputed, so their signs differ: the objective may not fall short by more than 2 %.
    data, reference = golden(f"problem_{problem}"), golden(f"lfmvc_gam_fixed_{problem}")
    for index, regularization in enumerate(reference["lambdas"], start=1):
        model = lf.GlobalAlignmentClustering(
            int(data["k"]),
            regularization=regularization,
            similarity=lf.PrecomputedSimilarity(standardize=False),
            n_init=50,
            random_state=0,
        ).fit(list(data["K"]))
        assert model.objective_[-1] >= 0.98 * reference[f"l{index}_obj"].ravel()[-1]
        accuracy = lf.metrics.clustering_accuracy(data["y"], model.labels_)
        assert accuracy >= reference[f"l{index}_metrics"].ravel()[0] - 0.02


def test_align_start_needs_fewer_iterations_than_identity(golden):
    data = golden("problem_synth")
    runs = {
        init: lf.GlobalAlignmentClustering(
            3,
            regularization=0.25,
            similarity=lf.PrecomputedSimilarity(standardize=False),
            init=init,
            max_iter=200,
            random_state=0,
        ).fit(list(data["K"]))
        for init in ("align", "identity")
    }
    assert runs["align"].n_iter_ < runs["identity"].n_iter_
    assert runs["align"].objective_[-1] >= runs["identity"].objective_[-1] * (1 - 1e-3)


def test_kernel_parameters_are_honoured():
    data = lf.datasets.make_views(60, 2, random_state=0)
    wide = lf.GlobalAlignmentClustering(2, kernel_params={"sigma": 100.0}, random_state=0).fit(data.views)
    mean = lf.GlobalAlignmentClustering(2, random_state=0).fit(data.views)
    assert not np.allclose(wide.consensus_, mean.consensus_)
    custom = lf.GlobalAlignmentClustering(2, kernel=lambda X, Y: X @ (X if Y is None else Y).T, random_state=0)
    linear = lf.GlobalAlignmentClustering(2, kernel="linear", random_state=0).fit(data.views)
    np.testing.assert_allclose(custom.fit(data.views).consensus_, linear.consensus_, atol=1e-10)


def test_a_view_may_be_labels():
    """Names of clusters do not matter, text needs no word, unassigned samples follow the features."""
    data = lf.datasets.make_views(n_samples=120, n_clusters=3, n_views=2, random_state=0)
    features, truth = data.views.arrays[0], data.target
    known = np.where(np.arange(120) % 5 == 0, -1, truth)
    text = [None if label < 0 else f"cluster {label}" for label in known]
    found = []
    for labels, similarity in (
        (known, {"x": "graph", "leiden": "labels"}),
        (text, "graph"),
        (known[:, None].astype(float), ["graph", lf.GivenPartition("labels")]),
    ):
        views = {"x": features, "leiden": labels}
        model = lf.GlobalAlignmentClustering(3, similarity=similarity, random_state=0).fit(views)
        np.testing.assert_array_equal(model.predict(views), model.labels_)
        np.testing.assert_allclose(model.transform(views), model.consensus_, atol=1e-9)
        assert model.partition_info_["leiden"].similarity == "given labels"
        found.append(model.labels_)
    assert all(lf.metrics.adjusted_rand(found[0], other) == 1 for other in found)
    assert lf.metrics.clustering_accuracy(truth, found[0]) > 0.95
    with pytest.raises(ValueError, match="'leiden' has the label 'cluster 9'"):
        lf.GlobalAlignmentClustering(3).fit({"x": features, "leiden": text}).predict(
            {"x": features[:1], "leiden": ["cluster 9"]}
        )


def test_numbers_in_one_dimension_need_the_word():
    data = lf.datasets.make_views(n_samples=60, n_clusters=3, random_state=0)
    with pytest.raises(ValueError, match=r"two dimensions.*reshape\(-1, 1\).*similarity='labels'"):
        lf.GlobalAlignmentClustering(3).fit([data.views.arrays[0], data.target])


def test_comparison_methods_refuse_labels():
    data = lf.datasets.make_views(n_samples=60, n_clusters=3, random_state=0)
    views = [data.views.arrays[0], [f"c{label}" for label in data.target]]
    with pytest.raises(ValueError, match=r"does not accept labels.*view_1.*ConsensusClustering"):
        lf.baselines.METHODS["A-MKKM"](3).fit(views)
