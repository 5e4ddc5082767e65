"""EE-IMVC: golden runs, exact block updates, and few or no missing samples."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.ee_imvc import EfficientIncompleteLateFusion, fill_missing, solve_ee_imvc
from latefusion.baselines.support.late_fusion_blocks import start_rotations
from latefusion.types import Views

PREFIXES = ["l1", "l2", "l3"]


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    reference = golden(f"eeimvc_{problem}")
    partitions = list(reference["HP0"])
    rotations = start_rotations(partitions, reference["H0"], "identity")
    for prefix, regularization in zip(PREFIXES, reference["lambdas"], strict=True):
        expected = {name: reference[f"{prefix}_{name}"] for name in ("F", "W", "beta", "obj")}
        result = solve_ee_imvc(
            partitions,
            reference["H0"],
            rotations,
            reference["mask"].astype(bool),
            regularization=float(regularization),
            max_iter=101,  # the authors count one iteration more than their cap says
        )
        assert result.n_iter == len(expected["obj"])
        np.testing.assert_allclose(result.objective, expected["obj"], rtol=1e-10)
        np.testing.assert_allclose(result.weights, expected["beta"], atol=1e-8)
        np.testing.assert_allclose(result.rotations, expected["W"], atol=1e-8)
        np.testing.assert_allclose(result.consensus @ result.consensus.T, expected["F"] @ expected["F"].T, atol=1e-8)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("regularization", [0.0, 1.0])
def test_objective_never_falls(golden, exponent, regularization):
    reference = golden("eeimvc_synth")
    partitions, average = list(reference["HP0"]), reference["H0"]
    result = solve_ee_imvc(
        partitions,
        average,
        start_rotations(partitions, average, "align"),
        reference["mask"].astype(bool),
        regularization=regularization,
        exponent=exponent,
        max_iter=60,
        tol=0.0,
    )
    assert np.all(np.diff(result.objective) >= -1e-10)
    assert np.sum(result.weights**exponent) == pytest.approx(1.0)
    np.testing.assert_allclose(result.consensus.T @ result.consensus, np.eye(3), atol=1e-10)


@pytest.mark.parametrize("n_missing", [1, 2, 3, 8])
def test_no_feasible_rows_fill_better(seed, n_missing):
    generator = np.random.default_rng(seed)
    partition = np.linalg.qr(generator.standard_normal((20, 3)))[0]
    consensus = np.linalg.qr(generator.standard_normal((20, 3)))[0]
    rotation = np.linalg.qr(generator.standard_normal((3, 3)))[0]
    observed = np.ones(20, dtype=bool)
    observed[generator.permutation(20)[:n_missing]] = False
    filled = fill_missing(partition, rotation, consensus, observed)
    rows, target = filled[~observed], consensus[~observed] @ rotation.T
    np.testing.assert_array_equal(filled[observed], partition[observed])
    smaller = rows.T @ rows if n_missing >= 3 else rows @ rows.T
    np.testing.assert_allclose(smaller, np.eye(len(smaller)), atol=1e-12)
    for _ in range(50):
        other = rows + 0.1 * generator.standard_normal(rows.shape)
        other /= max(1.0, np.linalg.norm(other, 2))
        assert np.vdot(other, target) <= np.vdot(rows, target) + 1e-12


def test_nothing_missing_fills_nothing(seed):
    partition, consensus = np.random.default_rng(seed).standard_normal((2, 6, 2))
    assert fill_missing(partition, np.eye(2), consensus, np.ones(6, dtype=bool)) is partition


@pytest.mark.parametrize("n_missing", [0, 1, 2, 20])
def test_planted_clusters_are_found(seed, n_missing):
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    arrays = [8.0 * np.eye(3)[truth] + generator.standard_normal((60, 3)) for _ in range(3)]
    mask = np.ones((60, 3), dtype=bool)
    mask[generator.permutation(60)[:n_missing], generator.integers(3, size=n_missing)] = False
    for regularization in (0.0, 1.0):
        model = EfficientIncompleteLateFusion(n_clusters=3, regularization=regularization, random_state=0)
        model.fit(Views(arrays, mask=mask))
        assert len({(a, b) for a, b in zip(truth, model.labels_, strict=True)}) == 3


def test_complete_views_with_and_without_mask(seed):
    arrays = [np.random.default_rng(seed).standard_normal((25, 4)) for _ in range(2)]
    plain = EfficientIncompleteLateFusion(n_clusters=3, random_state=0).fit(arrays)
    masked = EfficientIncompleteLateFusion(n_clusters=3, random_state=0).fit(
        Views(arrays, mask=np.ones((25, 2), dtype=bool))
    )
    np.testing.assert_array_equal(plain.consensus_, masked.consensus_)
