import numpy as np
import pytest
import scipy.sparse

from latefusion.scverse.counts import (
    TARGET_SUM,
    are_counts,
    center_log_ratios,
    comparable,
    log_normalize,
    modality_kind,
    principal_components,
)

COUNTS = np.random.default_rng(0).poisson(2.0, size=(30, 12)) * np.arange(1, 31)[:, None]


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_depth_does_not_matter_after_normalisation(form):
    deeper = COUNTS * np.random.default_rng(1).integers(1, 9, size=(30, 1))
    one, other = (np.asarray(scipy.sparse.csr_array(log_normalize(form(x))).todense()) for x in (COUNTS, deeper))
    np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(np.expm1(one).sum(axis=1), TARGET_SUM)


def test_sparse_stays_sparse_and_single_stays_single():
    found = log_normalize(scipy.sparse.csr_array(COUNTS.astype(np.float32)))
    assert scipy.sparse.issparse(found)
    assert found.dtype == np.float32
    empty = log_normalize(np.zeros((2, 3)))
    assert not empty.any()


def test_log_ratios_are_those_of_geometric_means():
    found = center_log_ratios(scipy.sparse.csr_array(COUNTS))
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    means = np.prod(1.0 + COUNTS, axis=1) ** (1 / 12)
    np.testing.assert_allclose(np.exp(found), (1 + COUNTS) / means[:, None])


def test_components_are_those_of_the_centred_matrix():
    matrix = np.random.default_rng(0).normal(size=(40, 15)) + 5
    exact = matrix - matrix.mean(axis=0)
    for form in (np.asarray, scipy.sparse.csr_array):
        found = principal_components(form(matrix), 3)
        values = np.linalg.svd(exact, compute_uv=False)
        np.testing.assert_allclose(np.linalg.norm(found, axis=0), values[:3])
    assert principal_components(matrix[:4]).shape == (4, 3)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0, 1], [2, 5]], True),
        ([[0.0, 3.0]], True),
        ([[0.5, 3.0]], False),
        ([[-1, 3]], False),
        ([[0, 1]], False),
        ([[np.nan, 2.0]], False),
        (np.zeros((0, 2)), False),
    ],
)
def test_counts_are_whole_numbers_from_zero_up(values, expected):
    assert are_counts(np.asarray(values)) == expected


@pytest.mark.parametrize(
    ("name", "types", "kind"),
    [
        ("rna", [], "rna"),
        ("RNA-seq", [], "rna"),
        ("prot", [], "protein"),
        ("cells_ADT", [], "protein"),
        ("atac", [], "peaks"),
        ("cabaret", [], ""),  # no "ab" in it
        ("rna", ["Antibody Capture"], "protein"),
        ("rna", ["Custom"], ""),
        ("prot", ["Gene Expression", "Antibody Capture"], "protein"),
    ],
)
def test_features_have_precedence_over_names(name, types, kind):
    assert modality_kind(name, types) == kind


def test_counts_are_made_comparable_by_kind_and_other_numbers_left_alone():
    np.testing.assert_array_equal(comparable(COUNTS, "rna"), log_normalize(COUNTS))
    np.testing.assert_array_equal(comparable(COUNTS, "protein"), center_log_ratios(COUNTS))
    assert comparable(COUNTS, "") is COUNTS
    values = COUNTS + 0.5
    assert comparable(values, "rna") is values
