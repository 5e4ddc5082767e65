"""Drift: the tests hold their level, and recognise samples from elsewhere."""

import numpy as np
from scipy.stats import binomtest

import latefusion as lf
from latefusion.estimators.drift import Drift, find_drift
from latefusion.estimators.novelty import fit_novelty


def drift_of(seed, n_training=300, n_new=300, shift=0.0):
    """Of a random division of planted views, whose clusters are the labels."""
    data = lf.datasets.make_views(n_training + n_new, 4, random_state=seed)
    order = np.random.default_rng(seed).permutation(n_training + n_new)
    old, new = order[:n_training], order[n_training:]
    moved = lf.Views([one[new] + shift for one in data.views.arrays])
    novelty = fit_novelty(data.views[old], [None] * data.views.n_views)
    return find_drift(novelty, novelty(moved), data.target[old], data.target[new])


def test_the_level_holds_without_drift():
    """In contrast to a binomial test of 1 %, which takes an estimated quantile for the true one."""
    found = [drift_of(seed) for seed in range(100)]
    by_quantile = [binomtest(one.n_novel, one.n_new, 0.01, alternative="greater").pvalue for one in found]
    assert np.mean(np.array(by_quantile) < 0.05) > 0.15
    assert np.mean([one.p_novelty < 0.05 for one in found]) <= 0.1
    assert np.mean([one.p_sizes < 0.05 for one in found]) <= 0.1
    np.testing.assert_allclose(np.mean([one.share for one in found]), found[0].expected, rtol=0.3)


def test_other_samples_are_found():
    found = drift_of(0, shift=5.0)
    assert found.share > 0.9
    assert found.p_novelty < 1e-4
    assert "300 new samples" in str(found)
    assert "(p < 0.0001)" in found.notes[0]


def test_other_sizes_are_found():
    data = lf.datasets.make_views(300, 3, random_state=0)
    novelty = fit_novelty(data.views, [None] * 3)
    found = find_drift(novelty, np.zeros(100), np.repeat([0, 1, 2], 100), np.repeat([0, 1, 2], [80, 10, 10]))
    assert found.p_sizes == 1e-4
    assert found.p_novelty == 1
    same = find_drift(novelty, np.zeros(30), np.repeat([0, 1, 2], 100), np.repeat([0, 1, 2], 10))
    assert same.p_sizes == 1


def test_nothing_to_compare():
    data = lf.datasets.make_views(60, 3, random_state=0)
    novelty = fit_novelty(data.views, [None] * 3)
    none = find_drift(novelty, np.zeros(0), np.zeros(60, dtype=int), np.zeros(0, dtype=int))
    assert np.isnan([none.share, none.p_novelty, none.p_sizes]).all()
    assert repr(none) == str(none) == "Drift: there are no new samples."
    one = find_drift(novelty, np.zeros(5), np.zeros(60, dtype=int), np.zeros(5, dtype=int))
    assert np.isnan(one.p_sizes)
    assert len(one.notes) == 1


def test_p_values_as_text():
    assert "p = 0.012" in str(Drift(10, 2, 0.01, 0.01234, float("nan")))
