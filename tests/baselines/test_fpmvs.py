"""FPMVS-CAG: golden runs of both weightings, and what its rounds leave."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.fpmvs import ParameterFreeAnchorClustering, solve_fpmvs
from latefusion.baselines.support.standardized_views import standardize_columns
from latefusion.baselines.support.unified_anchors import published_start
from latefusion.datasets import make_views


@pytest.mark.parametrize(("key", "weighting"), [("copy_", "inverse"), ("squared_", "inverse_square")])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name, key, weighting):
    problem, expected = golden(f"problem_{name}"), golden(f"fpmvs_{name}")
    views = [standardize_columns(problem[f"X{view + 1}"]) for view in range(len(problem["sigma"]))]
    k = int(problem["k"])
    result, model = solve_fpmvs(views, published_start(views, k, k), weighting=weighting)
    assert result.n_iter == len(expected[f"{key}obj"]) == 20
    np.testing.assert_allclose(result.objective, expected[f"{key}obj"], rtol=1e-10)
    np.testing.assert_allclose(model.graph, expected[f"{key}Z"].T, atol=1e-8)
    np.testing.assert_allclose(result.weights, expected[f"{key}alpha"], atol=1e-8)
    reference = expected[f"{key}U"]
    np.testing.assert_allclose(result.consensus @ result.consensus.T, reference @ reference.T, atol=1e-8)
    for rounds in (1, 7):
        part, _ = solve_fpmvs(views, published_start(views, k, k), weighting=weighting, max_iter=rounds)
        np.testing.assert_allclose(part.weights, expected[f"{key}alpha_history"][:, rounds - 1], atol=1e-8)


def test_weights_follow_the_norms_of_the_residuals(seed):
    data = make_views(60, 3, n_views=3, n_features=[5, 8, 11], noise=2.0, random_state=seed)
    views = [standardize_columns(view) for view in data.views.arrays]
    for weighting, power in (("inverse", -0.5), ("inverse_square", -1.0), ("equal", 0.0)):
        result, model = solve_fpmvs(views, published_start(views, 3, 3), weighting=weighting)
        expected = model.squared_residuals**power
        np.testing.assert_allclose(result.weights, expected / expected.sum())


def test_residuals_are_those_of_the_model(seed):
    data = make_views(60, 4, n_views=2, n_features=[5, 3], noise=2.0, random_state=seed)
    views = [standardize_columns(view) for view in data.views.arrays]
    _, model = solve_fpmvs(views, published_start(views, 4, 4))
    # The second view has fewer columns than there are clusters: nothing is left to complete in its map.
    fitted = model.graph @ (model.maps[1] @ model.anchors).T
    assert model.squared_residuals[1] == pytest.approx(np.sum((views[1] - fitted) ** 2), rel=1e-6)


def test_the_objective_may_rise_against_the_statement_of_the_paper(golden):
    expected = golden("fpmvs_synth")
    assert np.diff(expected["copy_obj"]).max() > 0
    problem = golden("problem_synth")
    model = ParameterFreeAnchorClustering(3, init="published").fit([problem[f"X{view}"] for view in (1, 2, 3)])
    assert np.diff(model.objective_).max() > 0
    assert model.n_iter_ == 20


def test_settling_is_reported_without_a_warning():
    data = make_views(90, 3, n_views=3, noise=0.5, random_state=0)
    assert ParameterFreeAnchorClustering(3, random_state=0).fit(data.views).converged_
    assert not ParameterFreeAnchorClustering(3, max_iter=1, random_state=0).fit(data.views).converged_


def test_rows_of_the_graph_are_on_the_simplex(seed):
    data = make_views(60, 3, noise=2.0, random_state=seed)
    graph = ParameterFreeAnchorClustering(3, random_state=0).fit(data.views).anchor_graph_
    assert graph.min() >= 0
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
