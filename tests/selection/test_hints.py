"""Following hints: predictions without the own hint, standard errors, and the clusters of groups."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from latefusion.selection import hints as module
from latefusion.selection.hints import follow_hints
from latefusion.validation.hints import read_hints
from tests.hinted import two_clusterings

RNG = np.random.default_rng(0)


def columns_of(data):
    """Centred columns of all views, a consensus of the common clusters, and its clusters."""
    columns = np.hstack(data.views.arrays)
    columns = columns - columns.mean(axis=0)
    coefficients = np.linalg.lstsq(columns, np.eye(3)[data.common] - 1 / 3, rcond=None)[0]
    return columns, np.ones(columns.shape[1]), coefficients, data.common


@pytest.mark.parametrize("trust", [0.0, 1.0])
@pytest.mark.parametrize("n_hints", [5, 30])
def test_predictions_without_the_own_hint_are_those_of_a_fit_without_it(monkeypatch, trust, n_hints):
    monkeypatch.setattr(module, "SHRINKAGES", (0.1,))
    features, rows = RNG.standard_normal((40, 8)), np.arange(n_hints)
    targets, indicators = RNG.random((n_hints, 3)), RNG.random((40, 3))
    found = module._propagate(features, rows, targets, indicators, (trust,))
    residual = targets - trust * indicators[rows]
    offset = residual.mean(axis=0) if trust == 0 else np.zeros(3)
    for row in range(n_hints):
        rest = np.delete(rows, row)
        gram = features[rest].T @ features[rest] + 0.1 * np.eye(8)
        weights = np.linalg.solve(gram, features[rest].T @ (residual[rest] - offset))
        expected = trust * indicators[row] + offset + features[row] @ weights
        np.testing.assert_allclose(found.left_out[row], expected, atol=1e-9)


def test_rand_indices_without_each_sample():
    codes, labels = RNG.integers(0, 3, 25), RNG.integers(0, 4, 25)
    whole, without = module._rand_without_each(codes, labels)
    assert whole == pytest.approx(adjusted_rand_score(codes, labels))
    expected = [adjusted_rand_score(np.delete(codes, row), np.delete(labels, row)) for row in range(25)]
    np.testing.assert_allclose(without, expected, atol=1e-12)
    gain, error = module._rand_gain(codes, labels, labels)
    assert (gain, error) == (0.0, 0.0)


def test_right_hints_are_followed_and_wrong_ones_are_not():
    data = two_clusterings()
    right = data.hints(30)
    guided, result = follow_hints(read_hints(right, None, None, 150), *columns_of(data))
    assert result.followed
    assert adjusted_rand_score(data.hidden[right < 0], guided.labels[right < 0]) > 0.9
    np.testing.assert_array_equal(result.kept, guided.labels[result.samples] == result.clusters)
    np.testing.assert_array_equal(result.clusters, result.class_clusters[right[result.samples]])
    wrong = np.where(right >= 0, RNG.integers(0, 3, 150), -1)
    guided, result = follow_hints(read_hints(wrong, None, None, 150), *columns_of(data))
    assert guided is None
    assert not result.followed
    np.testing.assert_array_equal(result.kept, data.common[result.samples] == result.clusters)


def test_the_consensus_is_a_linear_function_with_orthonormal_columns_of_the_clusters():
    data = two_clusterings()
    columns, *rest = columns_of(data)
    guided, _ = follow_hints(read_hints(data.hints(30), None, None, 150), columns, *rest)
    rows = columns @ guided.coefficients
    np.testing.assert_array_equal(guided.rule.predict(rows), guided.labels)
    values = np.linalg.eigvalsh(rows.T @ rows)
    np.testing.assert_allclose(values[1:], 1, atol=1e-8)


def test_hints_that_the_clusters_satisfy_change_nothing():
    data = two_clusterings()
    y = np.where(data.hints(30) >= 0, data.common, -1)
    guided, result = follow_hints(read_hints(y, None, None, 150), *columns_of(data))
    assert guided is None
    assert result.kept.all()
    assert "the hints predict the same clusters" in result.reason


def test_the_reason_names_both_conditions():
    """More hints are predicted, but not a significantly larger adjusted Rand index."""
    data = two_clusterings()
    _, result = follow_hints(read_hints(data.hints(30), None, None, 150), *columns_of(data))
    refused = replace(result, followed=False, gain=0.19, standard_error=0.05, agreement_gain=0.01, agreement_error=0.02)
    assert "both differences must exceed 2.25 standard errors" in refused.reason
    assert "(+19% ± 5% of the hints; adjusted Rand index +0.01 ± 0.02)" in refused.reason
    assert result.agreement_gain > 2 * result.agreement_error > 0
    assert (
        repr(refused)
        == f"{len(result.samples)} samples with hints, {len(result.overruled)} overruled. {refused.reason}"
    )


def test_a_few_wrong_hints_are_overruled():
    data = two_clusterings()
    y = data.hints(40)
    hinted = np.flatnonzero(y >= 0)
    y[hinted[:4]] = (y[hinted[:4]] + 1) % 3
    guided, result = follow_hints(read_hints(y, None, None, 150), *columns_of(data))
    assert set(hinted[:4]) <= set(result.overruled)
    assert adjusted_rand_score(data.hidden, guided.labels) > 0.9


def test_a_cluster_without_hints_keeps_its_samples():
    """Hints about two of three clusters exchange samples between these."""
    columns = np.repeat(10 * np.eye(3), 40, axis=0) + 0.1 * RNG.standard_normal((120, 3))
    columns = np.hstack([columns, 0.1 * RNG.standard_normal((120, 1))])
    columns[:, 3] += np.where(np.arange(120) < 80, np.tile([3.0, -3.0], 60), 0.0)
    labels = np.repeat([0, 1, 2], 40)
    coefficients = np.linalg.lstsq(columns, np.eye(3)[labels], rcond=None)[0]
    y = np.where((np.arange(120) < 80) & (np.arange(120) % 4 < 2), np.arange(120) % 2, -1)
    guided, result = follow_hints(read_hints(y, None, None, 120), columns, np.ones(4), coefficients, labels)
    assert result.followed
    np.testing.assert_array_equal(guided.labels[80:], 2)
    assert adjusted_rand_score(np.arange(80) % 2, guided.labels[:80]) > 0.9


def test_groups_that_are_apart_get_different_clusters():
    directions = np.repeat(np.eye(3), 10, axis=0)
    labels = np.repeat([0, 1, 2], 10)
    hints = read_hints(None, [(0, 1), (1, 10)], [(0, 2)], 30)
    clusters = module._group_clusters(hints, labels, directions, 3)
    assert clusters[hints.groups[0]] == 0
    assert clusters[hints.groups[2]] != 0
    y = np.full(30, -1)
    y[[0, 1, 2, 3]] = [0, 0, 0, 1]  # both classes in one cluster
    classes = module._group_clusters(read_hints(y, None, None, 30), labels, directions, 3)
    assert len(set(classes)) == 2
    assert classes[0] == 0


def test_pairs_that_link_all_samples_of_a_class_are_followed_as_its_name_is():
    data = two_clusterings()
    y = data.hints(40)
    chains = [np.flatnonzero(y == one) for one in range(3)]
    must = [pair for chain in chains for pair in pairwise(chain)]
    cannot = [(chains[0][0], chains[1][0]), (chains[0][0], chains[2][0]), (chains[1][0], chains[2][0])]
    by_class, _ = follow_hints(read_hints(y, None, None, 150), *columns_of(data))
    by_pairs, result = follow_hints(read_hints(None, must, cannot, 150), *columns_of(data))
    np.testing.assert_array_equal(by_pairs.labels, by_class.labels)
    assert (result.n_pairs, result.followed) == (len(must) + 3, True)
    assert "follow the hints" in result.reason
