"""OPLFMVC: golden runs and a monotone objective."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.one_pass import OnePassLateFusion, solve_one_pass
from latefusion.baselines.support.late_fusion_blocks import start_rotations
from latefusion.types import Views


def random_partitions(seed, n_samples=40, n_clusters=4, n_views=3):
    generator = np.random.default_rng(seed)
    return [np.linalg.qr(generator.standard_normal((n_samples, n_clusters)))[0] for _ in range(n_views)]


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    reference = golden(f"oplfmvc_{problem}")
    partitions = list(reference["HP"])
    rotations = start_rotations(partitions, partitions[0], "identity")
    result = solve_one_pass(partitions, reference["C0"], rotations)
    assert result.converged
    assert result.n_iter == len(reference["obj"])
    np.testing.assert_allclose(result.objective, reference["obj"], rtol=1e-10)
    np.testing.assert_allclose(result.weights, reference["beta"], atol=1e-8)
    np.testing.assert_allclose(result.rotations, reference["W"], atol=1e-8)
    np.testing.assert_array_equal(result.labels, reference["labels"] - 1)


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_estimator_is_not_worse_than_the_golden_run(golden, problem):
    data, reference = golden(f"problem_{problem}"), golden(f"oplfmvc_{problem}")
    views = [data[f"X{p + 1}"] for p in range(len(data["sigma"]))]
    model = OnePassLateFusion(n_clusters=int(data["k"]), random_state=0).fit(views)
    assert model.objective_[-1] >= 0.98 * reference["obj"][-1]


@pytest.mark.parametrize("init", ["align", "identity"])
def test_objective_never_falls(seed, init):
    partitions = random_partitions(seed)
    rotations = start_rotations(partitions, random_partitions(seed + 10)[0], init)
    result = solve_one_pass(partitions, np.eye(4), rotations, max_iter=50, tol=0.0)
    assert np.all(np.diff(result.objective) >= -1e-12)


def test_objective_is_the_alignment_of_the_result(seed):
    partitions = random_partitions(seed)
    result = solve_one_pass(partitions, np.eye(4), start_rotations(partitions, partitions[0], "align"))
    fused = sum(b * h @ w for b, h, w in zip(result.weights, partitions, result.rotations, strict=True))
    np.testing.assert_allclose(result.consensus, fused, atol=1e-12)
    assert np.linalg.norm(result.weights) == pytest.approx(1.0)
    assert np.all(result.weights >= 0)
    assert set(result.labels) == set(range(4))


def test_opposed_view_gets_no_weight():
    (partition,) = random_partitions(0, n_views=1)
    rotations = [np.eye(4), np.eye(4), -np.eye(4)]
    first = solve_one_pass([partition] * 3, np.eye(4), rotations, max_iter=1)
    np.testing.assert_allclose(first.weights, [np.sqrt(0.5), np.sqrt(0.5), 0.0])


def test_one_cluster(seed):
    views = [np.random.default_rng(seed).standard_normal((15, 3))]
    model = OnePassLateFusion(n_clusters=1).fit(views)
    assert model.converged_
    assert not model.labels_.any()


def test_missing_samples(seed):
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    arrays = [8.0 * np.eye(3)[truth] + generator.standard_normal((60, 3)) for _ in range(3)]
    mask = np.ones((60, 3), dtype=bool)
    mask[generator.permutation(60), generator.integers(3, size=60)] = False
    model = OnePassLateFusion(n_clusters=3, random_state=0).fit(Views(arrays, mask=mask))
    assert len({(a, b) for a, b in zip(truth, model.labels_, strict=True)}) == 3
