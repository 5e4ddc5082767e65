"""A-MKKM against reference numbers."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.average_kernel import AverageKernelKMeans, solve_average_kernel
from latefusion.metrics import clustering_accuracy


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"amkkm_{problem}")
    result = solve_average_kernel(list(data["K"]), int(data["k"]))
    projector = expected["F"] @ expected["F"].T
    np.testing.assert_allclose(result.consensus @ result.consensus.T, projector, atol=1e-8)
    np.testing.assert_allclose(result.objective, [expected["obj"]], rtol=1e-10)


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_from_features_to_labels(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"amkkm_{problem}")
    features = [data[f"X{number}"] for number in range(1, len(data["sigma"]) + 1)]
    model = AverageKernelKMeans(int(data["k"]), n_init=50, random_state=0).fit(features)
    projector = expected["F"] @ expected["F"].T
    np.testing.assert_allclose(model.consensus_ @ model.consensus_.T, projector, atol=1e-6)
    assert clustering_accuracy(data["y"], model.labels_) == pytest.approx(expected["metrics"][0], abs=0.02)


def test_one_view_is_kernel_kmeans_of_that_view(golden):
    data = golden("problem_synth")
    result = solve_average_kernel([data["K"][1]], 3)
    assert result.objective[0] == pytest.approx(150 - data["eigvals_HP"][1].sum())
