"""SB-KKM: every view alone against reference numbers, and a choice that needs no labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from latefusion.arrays import unit_rows
from latefusion.baselines.best_kernel import BestKernelKMeans, solve_single_kernels


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"sbkkm_{problem}")
    results, best = solve_single_kernels(list(data["K"]), int(data["k"]))
    np.testing.assert_allclose([result.objective[0] for result in results], expected["obj"], rtol=1e-10)
    assert best == np.argmin(expected["obj"])
    for result, reference in zip(results, data["HP"], strict=True):
        np.testing.assert_allclose(result.consensus @ result.consensus.T, reference @ reference.T, atol=1e-8)


def within_cluster_cost(rows, labels):
    return sum(np.sum((rows[labels == label] - rows[labels == label].mean(axis=0)) ** 2) for label in set(labels))


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_labels_of_every_view_are_as_good_as_the_reference(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"sbkkm_{problem}")
    features = [data[f"X{number}"] for number in range(1, len(data["sigma"]) + 1)]
    model = BestKernelKMeans(int(data["k"]), n_init=50, random_state=0).fit(features)
    for partition, labels, reference in zip(
        model.view_consensus_, model.view_labels_, expected["inertia"], strict=True
    ):
        rows = unit_rows(partition, xp=np)
        assert within_cluster_cost(rows, labels) <= reference * (1 + 1e-3)
        # A long search, each start to its end, on the same embedding finds nothing worse than the reference.
        search = KMeans(int(data["k"]), n_init=300, init="random", tol=0, random_state=0).fit(rows)
        assert search.inertia_ <= reference * (1 + 1e-6)
    np.testing.assert_array_equal(model.labels_, model.view_labels_[model.view_])
    np.testing.assert_array_equal(model.consensus_, model.view_consensus_[model.view_])
    assert model.objective_[0] == model.view_objectives_[model.view_]


def test_choice_is_relative_to_the_trace(golden):
    kernels = golden("problem_synth")["K"]
    # Scaled down, the third kernel has the lowest objective of all, but it is explained no better than before.
    results, best = solve_single_kernels([kernels[0], kernels[1], 0.01 * kernels[2]], 3)
    assert np.argmin([result.objective[0] for result in results]) == 2
    assert best == 0


def test_labels_do_not_depend_on_the_order_of_the_views(golden):
    kernels = list(golden("problem_synth")["K"])
    straight = BestKernelKMeans(3, similarity="precomputed", random_state=0).fit(kernels)
    turned = BestKernelKMeans(3, similarity="precomputed", random_state=0).fit(kernels[::-1])
    np.testing.assert_array_equal(straight.view_labels_, turned.view_labels_[::-1])
    np.testing.assert_array_equal(straight.labels_, turned.labels_)
