"""LKAM against reference numbers of the paper's form and of the circulating variant."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.arrays import unit_rows
from latefusion.baselines.lkam import (
    LocalKernelAlignment,
    local_products,
    localize_kernels,
    shared_neighborhoods,
    solve_lkam,
)
from latefusion.baselines.support.kernel_kmeans import partition_costs
from latefusion.kernels import combine_kernels
from latefusion.partitions.neighborhoods import neighborhood_size

VARIANTS = [("squared", True, "paper"), ("linear", False, "variant_q1_globalM")]


@pytest.mark.parametrize(("combination", "local_alignment", "variant"), VARIANTS)
@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem, combination, local_alignment, variant):
    data, expected = golden(f"problem_{problem}"), golden(f"lkam_{variant}_{problem}")
    kernels = list(data["K"])
    for first, neighborhood in enumerate(expected["taus"], start=1):
        for second, regularization in enumerate(expected["lambdas"], start=1):
            result = solve_lkam(
                kernels,
                int(data["k"]),
                n_neighbors=neighborhood_size(float(neighborhood), len(kernels[0])),
                regularization=regularization,
                combination=combination,
                local_alignment=local_alignment,
            )
            prefix = f"t{first}_l{second}_"
            rows, reference = unit_rows(result.consensus, xp=np), expected[prefix + "Hn"]
            np.testing.assert_allclose(rows @ rows.T, reference @ reference.T, atol=1e-8)
            np.testing.assert_allclose(result.weights, expected[prefix + "gamma"], atol=1e-8)
            np.testing.assert_allclose(result.objective, expected[prefix + "obj"], rtol=1e-10)


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden_neighborhoods(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"lkam_paper_{problem}")
    kernels = list(data["K"])
    for number, neighborhood in enumerate(expected["taus"], start=1):
        size = neighborhood_size(float(neighborhood), len(kernels[0]))
        shared = shared_neighborhoods(combine_kernels(kernels), size)
        np.testing.assert_array_equal(np.diagonal(shared), expected[f"t{number}_A0diag"])
        assert shared.sum() == expected[f"t{number}_A0sum"]
        products = local_products(kernels, localize_kernels(kernels, shared))
        np.testing.assert_allclose(products, expected[f"t{number}_M"], rtol=1e-10)


def test_hadamard_form_is_the_sum_over_neighborhoods(golden):
    kernels = [kernel[:40, :40] for kernel in golden("problem_synth")["K"]]
    mean = combine_kernels(kernels)
    shared = shared_neighborhoods(mean, 7)
    partition = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 3)))[0]
    costs, products = np.zeros(3), np.zeros((3, 3))
    for i in range(40):
        order = np.argsort(-mean[i], kind="stable")
        inside = np.ix_(order[order != i][:7], order[order != i][:7])
        residual = np.eye(7) - (partition @ partition.T)[inside]
        for p, left in enumerate(kernels):
            costs[p] += np.sum(left[inside] * residual) / 40
            products[p] += [np.sum(left[inside] * right[inside]) / 40 for right in kernels]
    local = localize_kernels(kernels, shared)
    np.testing.assert_allclose(partition_costs(local, partition), costs, rtol=1e-10)
    np.testing.assert_allclose(local_products(kernels, local), products, rtol=1e-10)


def test_local_kernels_are_positive_semidefinite(golden):
    kernels = list(golden("problem_synth")["K"])
    for local in localize_kernels(kernels, shared_neighborhoods(combine_kernels(kernels), 20)):
        assert np.linalg.eigvalsh(local)[0] > -1e-10


@pytest.mark.parametrize("neighborhood", [0.05, 0.5, 0.95])
def test_paper_objective_never_rises(golden, neighborhood):
    kernels = list(golden("problem_synth")["K"])
    size = neighborhood_size(neighborhood, 150)
    result = solve_lkam(kernels, 3, n_neighbors=size, tol=1e-12, max_iter=100)
    assert np.all(np.diff(result.objective) <= 1e-12 * result.objective[0])


def test_neighborhood_larger_than_the_sample_is_clipped():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((10, 3)), rng.standard_normal((10, 2))]
    clipped = LocalKernelAlignment(2, neighborhood=50, random_state=0).fit(views)
    everyone = LocalKernelAlignment(2, neighborhood=9, random_state=0).fit(views)
    np.testing.assert_array_equal(clipped.labels_, everyone.labels_)
    np.testing.assert_array_equal(clipped.view_weights_, everyone.view_weights_)
