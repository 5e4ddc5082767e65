"""Partitions of several similarities of several views, side by side."""

from dataclasses import replace

import numpy as np
import pytest

from latefusion.partitions import fitting
from latefusion.partitions import partitions as module
from latefusion.partitions.fitting import block_agreement, fill_missing_rows, fit_partitions, mix_rows
from latefusion.partitions.partitions import PartitionKey
from latefusion.partitions.sources import feature_source
from latefusion.partitions.spectra import fit_spectrum
from latefusion.similarities import GraphSimilarity, KernelSimilarity

RNG = np.random.default_rng(0)
VIEWS = [RNG.standard_normal((40, 3)), RNG.standard_normal((40, 5)), RNG.standard_normal((40, 1))]
SIMILARITIES = {"graph": GraphSimilarity(5), "kernel": KernelSimilarity(), "linear": KernelSimilarity("linear")}
KEYS = [PartitionKey(0, "graph"), PartitionKey(1, "kernel"), PartitionKey(0, "kernel"), PartitionKey(2, "linear")]
SOURCES = [feature_source(view, SIMILARITIES) for view in VIEWS]


@pytest.fixture(scope="module")
def partitions():
    return fit_partitions(SOURCES, KEYS, 4, 2)


def test_every_key_has_its_spectrum(partitions):
    for key in KEYS:
        direct = fit_spectrum(VIEWS[key.view], SIMILARITIES[key.name], 4, 2)
        position = partitions.position(key)
        np.testing.assert_array_equal(partitions.vectors[position], direct.vectors)
        np.testing.assert_array_equal(partitions.basis()[:, partitions.columns[position]], direct.vectors)
    assert partitions.n_samples == 40


def test_columns_follow_each_other_without_gaps(partitions):
    assert [(own.start, own.stop) for own in partitions.columns] == [(0, 4), (4, 8), (8, 12), (12, 16)]


def test_products_and_rows_are_those_of_the_basis(partitions, monkeypatch):
    basis = partitions.basis()
    np.testing.assert_allclose(partitions.products, basis.T @ basis, atol=1e-12)
    monkeypatch.setattr(module, "PRODUCT_ROWS", 7)
    np.testing.assert_allclose(partitions.products, basis.T @ basis, atol=1e-12)
    coefficients = RNG.standard_normal((16, 2))
    np.testing.assert_allclose(partitions.times(coefficients), basis @ coefficients, atol=1e-12)


def test_threads_change_nothing(partitions):
    threaded = fit_partitions(SOURCES, KEYS, 4, 2, n_jobs=2)
    np.testing.assert_array_equal(threaded.basis(), partitions.basis())


def test_known_partitions_are_not_fitted_again(partitions):
    known = fit_partitions(SOURCES[:2], KEYS[:3], 4, 2)
    found = fit_partitions(SOURCES, KEYS, 4, 2, known=known)
    assert found.keys == partitions.keys
    np.testing.assert_array_equal(found.basis(), partitions.basis())
    assert all(one is other for one, other in zip(found.vectors, known.vectors, strict=False))


def test_agreement_is_symmetric_bounded_and_one_with_itself(partitions):
    for first in range(4):
        assert block_agreement(partitions, KEYS[first], KEYS[first], 2) == pytest.approx(
            1
        )  # also where one of two directions is missing
        for second in range(first):
            agreement = block_agreement(partitions, KEYS[first], KEYS[second], 2)
            assert 0 <= agreement < 1
            assert block_agreement(partitions, KEYS[second], KEYS[first], 2) == pytest.approx(agreement)


def test_a_missing_direction_is_no_agreement(partitions):
    vectors, values = (np.eye(40, 2), np.eye(40, 2) * [1, 0]), (np.ones(2), np.array([1.0, 0.0]))
    pair = replace(partitions, blocks=partitions.blocks[:2], vectors=vectors, values=values)
    first, second = pair.keys
    assert block_agreement(pair, first, second, 2) == block_agreement(pair, second, first, 2) == 0.5
    assert block_agreement(pair, second, second, 2) == 1


def test_single_precision_stays_in_the_rows_and_products_are_double():
    sources = [feature_source(view.astype(np.float32), SIMILARITIES) for view in VIEWS]
    partitions = fit_partitions(sources, KEYS, 4, 2)
    assert partitions.products.dtype == partitions.basis().dtype == np.float64
    assert partitions.times(np.ones((16, 2))).dtype == np.float32


def partitions_with_missing_rows(mask, seed=0):
    generator = np.random.default_rng(seed)
    scores = generator.standard_normal((len(mask), 3))
    sources = []
    for observed in mask.T:
        view = scores @ generator.standard_normal((3, 6)) + 0.1 * generator.standard_normal((len(mask), 6))
        sources.append(feature_source(view[observed], {"kernel": KernelSimilarity()}, observed))
    keys = [PartitionKey(view, "kernel") for view in range(mask.shape[1])]
    return fit_partitions(sources, keys, 5, 3), keys


def test_repair_leaves_what_was_observed():
    mask = np.random.default_rng(0).random((80, 3)) > 0.3
    mask[~mask.any(axis=1), 0] = True
    partitions, keys = partitions_with_missing_rows(mask)
    imputed, aligned = (fill_missing_rows(partitions, how, 3, keys) for how in ("impute", "zero"))
    assert imputed.fill.model.loadings.shape[1] == 3
    assert fill_missing_rows(partitions, "impute", 3, keys, 2).fill.model.loadings.shape[1] == 2
    roots = np.sqrt(3 / mask.sum(axis=1))
    for position, observed in enumerate(mask.T):
        before, after = (one.vectors[position] for one in (partitions, imputed))
        assert not before[~observed].any()
        np.testing.assert_array_equal(before[observed], after[observed])
        assert after[~observed].any(axis=1).all()
        np.testing.assert_allclose(aligned.vectors[position], before * roots[:, None])
    rows = [one[:7] for one in partitions.vectors]
    coefficients = np.random.default_rng(1).standard_normal((15, 2))
    np.testing.assert_allclose(
        mix_rows(imputed, rows, mask[:7], coefficients), imputed.times(coefficients)[:7], atol=1e-10
    )


def test_agreement_is_that_of_samples_with_both_views():
    mask = np.ones((80, 2), dtype=bool)
    mask[:30, 0] = mask[50:, 1] = False
    partitions, keys = partitions_with_missing_rows(mask)
    twins = replace(partitions, vectors=partitions.vectors[:1] * 2, values=partitions.values[:1] * 2)
    assert block_agreement(twins, *keys, 3) == pytest.approx(1.0)
    apart = np.zeros((80, 2), dtype=bool)
    apart[:40, 0] = apart[39:, 1] = True
    assert block_agreement(replace(twins, mask=apart), *keys, 3) == 0.0  # one sample is not enough
    assert fill_missing_rows(partitions, "align", 3, keys).restricted(keys[:1]).columns == [slice(0, 5)]


def test_samples_that_have_all_views_need_no_repair(partitions):
    assert fill_missing_rows(partitions, "align", 2, KEYS) is partitions
    assert fill_missing_rows(partitions, "impute", 2, KEYS) is partitions


def test_a_view_with_holes_has_as_many_eigenvectors_as_one_without():
    """As long as that many samples have it; the number of its features is no bound for a kernel."""
    observed = np.arange(40) % 4 > 0
    source = feature_source(VIEWS[0][observed], SIMILARITIES, observed)
    holed = fit_partitions([source, feature_source(VIEWS[1], SIMILARITIES)], [PartitionKey(0, "kernel")], 7, 2)
    assert holed.basis().shape == (40, 7)
    direct = fit_spectrum(VIEWS[0][observed], SIMILARITIES["kernel"], 7, 2)
    # All similarities count alike, however many samples have the view: rows are scaled by the root of their share.
    np.testing.assert_allclose(holed.basis()[observed], np.sqrt(0.75) * direct.vectors, atol=1e-12)
    assert not holed.basis()[~observed].any()


def test_equal_similarities_of_a_view_are_fitted_once(monkeypatch):
    """Graphs with anchors do not depend on the number of neighbors."""
    fitted = []

    def count(view, similarity, *args):
        fitted.append(similarity)
        return fit_spectrum(view, similarity, *args)

    monkeypatch.setattr(fitting, "fit_spectrum", count)
    graphs = {f"graph {size}": GraphSimilarity(size, method="anchors", n_anchors=12) for size in (5, 10)}
    others = {
        "cosine": GraphSimilarity(5, metric="cosine", method="anchors", n_anchors=12),
        "kernel": KernelSimilarity(),
    }
    sources = [feature_source(view, {**graphs, **others}) for view in VIEWS[:2]]
    keys = [PartitionKey(view, name) for view in range(2) for name in sources[view].similarities]
    partitions = fit_partitions(sources, keys, 4, 2)
    assert partitions.keys == keys
    assert len(fitted) == 6
    for view in range(2):
        same = [partitions.position(PartitionKey(view, name)) for name in graphs]
        assert partitions.vectors[same[0]] is partitions.vectors[same[1]]
        alone = fit_partitions(sources, [PartitionKey(view, "graph 10")], 4, 2)
        np.testing.assert_array_equal(alone.vectors[0], partitions.vectors[same[1]])
