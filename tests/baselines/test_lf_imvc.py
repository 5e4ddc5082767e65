"""LF-IMVC: golden runs with and without missing samples, and exact block updates."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.arrays import unit_rows
from latefusion.baselines.lf_imvc import IncompleteLateFusion, repair_partitions, solve_lf_imvc
from latefusion.baselines.support.late_fusion_blocks import start_rotations
from latefusion.types import Views

PREFIXES = ["l1", "l2", "l3"]


@pytest.mark.parametrize("problem", ["synth", "digits"])
@pytest.mark.parametrize("kind", ["missing", "rownorm"])
def test_golden(golden, problem, kind):
    reference = golden(f"lfimvc_{problem}")
    if kind == "missing":
        partitions = list(reference["HPmissing"])
    else:
        partitions = [unit_rows(partition, xp=np) for partition in golden(f"problem_{problem}")["HP"]]
    rotations = start_rotations(partitions, partitions[0], "identity")
    for prefix, regularization in zip(PREFIXES, reference["lambdas"], strict=True):
        expected = {name: reference[f"{kind}_{prefix}_{name}"] for name in ("F", "W", "obj")}
        result = solve_lf_imvc(partitions, rotations, regularization=float(regularization))
        assert result.converged
        assert result.n_iter == len(expected["obj"])
        np.testing.assert_allclose(result.objective, expected["obj"], rtol=1e-10)
        np.testing.assert_allclose(result.consensus @ result.consensus.T, expected["F"] @ expected["F"].T, atol=1e-8)
        np.testing.assert_allclose(result.rotations, expected["W"], atol=1e-8)


@pytest.mark.parametrize("init", ["align", "identity"])
@pytest.mark.parametrize("regularization", [0.0, 0.25, 8.0])
def test_objective_never_falls(golden, init, regularization):
    partitions = list(golden("lfimvc_synth")["HPmissing"])
    rotations = start_rotations(partitions, golden("problem_synth")["M"], init)
    result = solve_lf_imvc(partitions, rotations, regularization=regularization, max_iter=60, tol=0.0)
    assert np.all(np.diff(result.objective) >= -1e-10)
    np.testing.assert_allclose(result.consensus.T @ result.consensus, np.eye(3), atol=1e-10)


def test_aligned_start_ends_higher(golden):
    partitions = list(golden("lfimvc_synth")["HPmissing"])
    average = golden("problem_synth")["M"]
    ends = {
        init: solve_lf_imvc(partitions, start_rotations(partitions, average, init), regularization=0.125).objective[-1]
        for init in ("align", "identity")
    }
    assert ends["align"] >= ends["identity"]


def test_no_orthonormal_matrix_repairs_better(seed):
    generator = np.random.default_rng(seed)
    partition, consensus = (np.linalg.qr(generator.standard_normal((20, 3)))[0] for _ in range(2))
    rotation = np.linalg.qr(generator.standard_normal((3, 3)))[0]
    (repaired,) = repair_partitions([partition], [rotation], consensus, 0.5)

    def value(candidate):
        return np.vdot(consensus, candidate @ rotation) + 0.5 * np.vdot(candidate, partition)

    np.testing.assert_allclose(repaired.T @ repaired, np.eye(3), atol=1e-12)
    for _ in range(50):
        other = np.linalg.qr(repaired + 0.1 * generator.standard_normal((20, 3)))[0]
        assert value(other) <= value(repaired) + 1e-12


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_planted_clusters_are_found_with_samples_missing(seed, share):
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    arrays = [8.0 * np.eye(3)[truth] + generator.standard_normal((60, 3)) for _ in range(3)]
    mask = generator.uniform(size=(60, 3)) >= share
    mask[~mask.any(axis=1), 0] = True
    model = IncompleteLateFusion(n_clusters=3, random_state=0).fit(Views(arrays, mask=mask))
    assert len({(a, b) for a, b in zip(truth, model.labels_, strict=True)}) == 3
    assert model.rotations_.shape == (3, 3, 3)


def test_what_a_missing_sample_holds_does_not_matter(seed):
    generator = np.random.default_rng(seed)
    arrays = [generator.standard_normal((25, 4)) for _ in range(2)]
    mask = np.ones((25, 2), dtype=bool)
    mask[:5, 0] = mask[10:18, 1] = False
    garbage = [np.where(seen[:, None], view, -5e3) for view, seen in zip(arrays, mask.T, strict=True)]
    fits = [IncompleteLateFusion(n_clusters=3, random_state=0).fit(Views(X, mask=mask)) for X in (arrays, garbage)]
    np.testing.assert_array_equal(fits[0].consensus_, fits[1].consensus_)
