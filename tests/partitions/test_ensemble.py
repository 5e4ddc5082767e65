"""Eigenvectors of several similarities of several views, side by side."""

from dataclasses import replace

import numpy as np
import pytest

from latefusion.partitions import ensemble as module
from latefusion.partitions.ensemble import EnsembleKey, fit_ensemble
from latefusion.partitions.sources import FeatureSource, PartialSource
from latefusion.partitions.spectra import fit_spectrum
from latefusion.similarities import GraphPartition, KernelPartition

RNG = np.random.default_rng(0)
VIEWS = [RNG.standard_normal((40, 3)), RNG.standard_normal((40, 5)), RNG.standard_normal((40, 1))]
SIMILARITIES = {"graph": GraphPartition(5), "kernel": KernelPartition(), "linear": KernelPartition("linear")}
KEYS = [EnsembleKey(0, "graph"), EnsembleKey(1, "kernel"), EnsembleKey(0, "kernel"), EnsembleKey(2, "linear")]
SOURCES = [FeatureSource.of(view, SIMILARITIES) for view in VIEWS]


@pytest.fixture(scope="module")
def ensemble():
    return fit_ensemble(SOURCES, KEYS, 4, 2)


def test_every_key_has_its_spectrum(ensemble):
    for key in KEYS:
        direct = fit_spectrum(VIEWS[key.view], SIMILARITIES[key.similarity], 4, 2)
        position = ensemble.position(key)
        np.testing.assert_array_equal(ensemble.spectra[position].vectors, direct.vectors)
        np.testing.assert_array_equal(ensemble.basis()[:, ensemble.columns[position]], direct.vectors)
    assert ensemble.n_samples == 40


def test_columns_follow_each_other_without_gaps(ensemble):
    assert [(own.start, own.stop) for own in ensemble.columns] == [(0, 4), (4, 8), (8, 12), (12, 16)]


def test_products_and_rows_are_those_of_the_basis(ensemble, monkeypatch):
    basis = ensemble.basis()
    np.testing.assert_allclose(ensemble.products, basis.T @ basis, atol=1e-12)
    monkeypatch.setattr(module, "PRODUCT_ROWS", 7)
    np.testing.assert_allclose(ensemble.products, basis.T @ basis, atol=1e-12)
    coefficients = RNG.standard_normal((16, 2))
    np.testing.assert_allclose(ensemble.rows(coefficients), basis @ coefficients, atol=1e-12)


def test_threads_change_nothing(ensemble):
    threaded = fit_ensemble(SOURCES, KEYS, 4, 2, n_jobs=2)
    np.testing.assert_array_equal(threaded.basis(), ensemble.basis())


def test_agreement_is_symmetric_bounded_and_one_with_itself(ensemble):
    for first in range(4):
        assert ensemble.agreement(first, first, 2) == pytest.approx(1)  # also where one of two directions is missing
        for second in range(first):
            agreement = ensemble.agreement(first, second, 2)
            assert 0 <= agreement < 1
            assert ensemble.agreement(second, first, 2) == pytest.approx(agreement)


def test_a_missing_direction_is_no_agreement(ensemble):
    whole = replace(ensemble.spectra[0], values=np.ones(2), vectors=np.eye(40, 2))
    half = replace(whole, values=np.array([1.0, 0.0]), vectors=np.eye(40, 2) * [1, 0])
    pair = replace(ensemble, spectra=[whole, half])
    assert pair.agreement(0, 1, 2) == pair.agreement(1, 0, 2) == 0.5
    assert pair.agreement(1, 1, 2) == 1


def test_single_precision_stays_in_the_rows_and_products_are_double():
    sources = [FeatureSource.of(view.astype(np.float32), SIMILARITIES) for view in VIEWS]
    ensemble = fit_ensemble(sources, KEYS, 4, 2)
    assert ensemble.products.dtype == ensemble.basis().dtype == np.float64
    assert ensemble.rows(np.ones((16, 2))).dtype == np.float32


def holed_ensemble(mask, seed=0):
    generator = np.random.default_rng(seed)
    scores = generator.standard_normal((len(mask), 3))
    sources = []
    for observed in mask.T:
        view = scores @ generator.standard_normal((3, 6)) + 0.1 * generator.standard_normal((len(mask), 6))
        sources.append(PartialSource(FeatureSource.of(view[observed], {"kernel": KernelPartition()}), observed))
    keys = [EnsembleKey(view, "kernel") for view in range(mask.shape[1])]
    return fit_ensemble(sources, keys, 5, 3), keys


def test_repair_leaves_what_was_observed():
    mask = np.random.default_rng(0).random((80, 3)) > 0.3
    mask[~mask.any(axis=1), 0] = True
    ensemble, keys = holed_ensemble(mask)
    imputed, aligned = (ensemble.filled(how, 3, keys) for how in ("impute", "align"))
    assert imputed.fill.model.loadings.shape[1] == 3
    assert ensemble.filled("impute", 3, keys, 2).fill.model.loadings.shape[1] == 2
    roots = np.sqrt(3 / mask.sum(axis=1))
    for position, observed in enumerate(mask.T):
        before, after = (one.spectra[position].vectors for one in (ensemble, imputed))
        assert not before[~observed].any()
        np.testing.assert_array_equal(before[observed], after[observed])
        assert after[~observed].any(axis=1).all()
        np.testing.assert_allclose(aligned.spectra[position].vectors, before * roots[:, None])
    rows = [one.vectors[:7] for one in ensemble.spectra]
    coefficients = np.random.default_rng(1).standard_normal((15, 2))
    np.testing.assert_allclose(imputed.mix(rows, mask[:7], coefficients), imputed.rows(coefficients)[:7], atol=1e-10)


def test_agreement_is_that_of_samples_with_both_views():
    mask = np.ones((80, 2), dtype=bool)
    mask[:30, 0] = mask[50:, 1] = False
    ensemble, keys = holed_ensemble(mask)
    twins = replace(ensemble, spectra=[ensemble.spectra[0], ensemble.spectra[0]])
    assert twins.agreement(0, 1, 3) == pytest.approx(1.0)
    apart = np.zeros((80, 2), dtype=bool)
    apart[:40, 0] = apart[39:, 1] = True
    assert replace(twins, mask=apart).agreement(0, 1, 3) == 0.0  # one sample says nothing
    assert ensemble.filled("align", 3, keys).restricted(keys[:1]).columns == [slice(0, 5)]


def test_samples_that_have_all_views_need_no_repair(ensemble):
    assert ensemble.filled("align", 2, KEYS) is ensemble
    assert ensemble.filled("impute", 2, KEYS) is ensemble


def test_a_view_with_holes_has_as_many_eigenvectors_as_one_without():
    """As long as that many samples have it; the number of its features is no bound for a kernel."""
    observed = np.arange(40) % 4 > 0
    source = PartialSource(FeatureSource.of(VIEWS[0][observed], SIMILARITIES), observed)
    holed = fit_ensemble([source, FeatureSource.of(VIEWS[1], SIMILARITIES)], [EnsembleKey(0, "kernel")], 7, 2)
    assert holed.basis().shape == (40, 7)
    direct = fit_spectrum(VIEWS[0][observed], SIMILARITIES["kernel"], 7, 2)
    # All similarities count alike, however many samples have the view: rows are scaled by the root of their share.
    np.testing.assert_allclose(holed.basis()[observed], np.sqrt(0.75) * direct.vectors, atol=1e-12)
    assert not holed.basis()[~observed].any()
