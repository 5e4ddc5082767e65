"""Linear discriminants of given clusters, and the mixture whose posteriors are one."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture

from latefusion.arrays import to_numpy
from latefusion.assignment import LinearDiscriminant, fit_linear_discriminant, fit_mixture


def clusters(sizes, scale=0.2, seed=0):
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.eye(len(sizes))[labels] + scale * generator.standard_normal((len(labels), len(sizes))), labels


def test_well_separated_clusters_come_back():
    rows, labels = clusters([60, 30, 10])
    rule = fit_linear_discriminant(rows, labels, 3)
    np.testing.assert_array_equal(rule.predict(rows), labels)


def test_posteriors_are_those_of_scikit_learn():
    """On rows of unit length the directions repeat the rows; with many samples hardly anything is shrunk."""
    rows, labels = clusters([4000, 2000, 1000], scale=0.5)
    rule = fit_linear_discriminant(rows, labels, 3)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(np.hstack([units, rows]), labels)
    posteriors = np.sort(model.predict_proba(np.hstack([units, rows])), axis=1)
    np.testing.assert_allclose(rule.confidence(rows), posteriors[:, -1] - posteriors[:, -2], atol=0.02)


@pytest.mark.parametrize("fit", [fit_linear_discriminant, fit_mixture])
def test_names_of_clusters_do_not_matter(fit):
    rows, labels = clusters([50, 30, 20], scale=0.5)
    names = np.array([2, 0, 1])
    np.testing.assert_array_equal(fit(rows, names[labels], 3).predict(rows), names[fit(rows, labels, 3).predict(rows)])


def test_units_of_the_rows_do_not_matter():
    rows, labels = clusters([50, 30, 20], scale=0.5)
    first, second = (fit_linear_discriminant(scale * rows, labels, 3) for scale in (1.0, 1e-3))
    np.testing.assert_array_equal(first.predict(rows), second.predict(1e-3 * rows))
    np.testing.assert_allclose(first.confidence(rows), second.confidence(1e-3 * rows), atol=1e-6)


def test_every_sample_may_be_a_cluster():
    rows = np.random.default_rng(0).standard_normal((5, 5))
    np.testing.assert_array_equal(fit_linear_discriminant(rows, np.arange(5), 5).predict(rows), np.arange(5))


@pytest.mark.parametrize("fit", [fit_linear_discriminant, fit_mixture])
def test_an_empty_cluster_gets_no_sample(fit):
    rows, labels = clusters([50, 30])
    rule = fit(rows, 2 * labels, 3)
    assert set(rule.predict(rows)) == {0, 2}
    assert np.all((rule.confidence(rows) >= 0) & (rule.confidence(rows) <= 1))


def test_confidence_is_the_difference_of_the_two_largest_posteriors():
    rule = LinearDiscriminant(np.zeros((2, 3)), np.zeros((2, 3)), np.log([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(rule.confidence(np.ones((4, 2))), 0.2)
    np.testing.assert_array_equal(rule.predict(np.ones((4, 2))), 0)


def test_one_cluster_is_certain():
    rows = np.random.default_rng(0).standard_normal((10, 1))
    rule = fit_linear_discriminant(rows, np.zeros(10, dtype=int), 1)
    np.testing.assert_array_equal(rule.predict(rows), 0)
    np.testing.assert_array_equal(rule.confidence(rows), 1)


def test_a_block_of_rows_is_labeled_like_all_rows():
    rows, labels = clusters([4000, 3000], scale=0.6)
    for rule in (fit_linear_discriminant(rows, labels, 2), fit_mixture(rows, labels, 2)):
        np.testing.assert_array_equal(rule.predict(rows)[5:9], rule.predict(rows[5:9]))
        np.testing.assert_array_equal(rule.confidence(rows)[5:9], rule.confidence(rows[5:9]))


def test_the_mixture_is_that_of_scikit_learn():
    """Both maximize the likelihood of Gaussians with a common covariance, from the same start."""
    rows, labels = clusters([300, 150, 50], scale=0.35)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    means = np.array([units[labels == one].mean(axis=0) for one in range(3)])
    model = GaussianMixture(3, covariance_type="tied", means_init=means, random_state=0, max_iter=200).fit(units)
    order = np.argmax(model.means_, axis=1)
    found = fit_mixture(rows, labels, 3).predict(rows)
    assert np.mean(found == order[model.predict(units)]) > 0.99


def test_scores_are_logarithms_of_posterior_probabilities():
    rows = np.random.default_rng(0).standard_normal((60, 3)) + np.repeat(3 * np.eye(3), 20, axis=0)
    rule = fit_linear_discriminant(rows, np.repeat([0, 1, 2], 20), 3)
    scores = rule.scores(rows)
    np.testing.assert_array_equal(np.argmax(scores, axis=1), rule.predict(rows))
    largest = np.sort(softmax(scores, axis=1), axis=1)
    np.testing.assert_allclose(largest[:, -1] - largest[:, -2], rule.confidence(rows))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_that_hardly_varies_does_not_matter(dtype):
    """As the leading eigenvector of a graph, which is constant up to rounding."""
    rows, labels = clusters([1000, 500, 400], scale=0.5)
    rounding = 0.01 * np.finfo(dtype).eps * np.random.default_rng(1).standard_normal((2, len(rows), 1))
    first, second = (np.hstack([rows, 0.01 + one]).astype(dtype) for one in rounding)
    found, again = (fit_linear_discriminant(one, labels, 3) for one in (first, second))
    np.testing.assert_array_equal(found.predict(first), found.predict(second))
    np.testing.assert_array_equal(found.predict(first), again.predict(first))
    assert np.mean(found.predict(first) == fit_linear_discriminant(rows, labels, 3).predict(rows)) > 0.98
    assert np.max(np.abs(found.scores(first)[:, :1] - found.scores(first))) < 1e3


@pytest.mark.parametrize("fit", [fit_linear_discriminant, fit_mixture])
def test_rules_label_rows_of_every_array_library(fit, xp):
    rows, labels = clusters([50, 30, 20], scale=0.5)
    rule = fit(rows, labels, 3)
    there = xp.asarray(rows.astype(np.float32))
    np.testing.assert_array_equal(to_numpy(rule.predict(there)), rule.predict(rows))
    np.testing.assert_allclose(to_numpy(rule.scores(there)), rule.scores(rows), atol=1e-4)
    confidence = rule.confidence(there)
    assert confidence.dtype == there.dtype
    np.testing.assert_allclose(to_numpy(confidence), rule.confidence(rows), atol=1e-4)


def test_one_cluster_is_certain_in_every_array_library(xp):
    rows = np.random.default_rng(0).standard_normal((5, 2))
    rule = fit_linear_discriminant(rows, np.zeros(5, dtype=np.intp), 1)
    np.testing.assert_array_equal(to_numpy(rule.confidence(xp.asarray(rows))), 1.0)
