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
            partition=lf.PrecomputedPartition(standardize=False),
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
            partition=lf.PrecomputedPartition(standardize=False),
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
