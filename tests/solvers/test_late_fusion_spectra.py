"""Fusing in the space of eigenvectors is the alignment of full partitions, and shares are what they claim to be."""

import array_api_compat.numpy as xp
import numpy as np
import pytest
import scipy.linalg

from latefusion.kernels import gaussian_kernel, standardize_kernel
from latefusion.solvers import late_fusion_spectra, solve_alignment
from latefusion.solvers.late_fusion_spectra import (
    Span,
    WeightedSpectrum,
    agreement_with_others,
    fuse_spectra,
    mean_coefficients,
)

N, K = 40, 3
FACTORS = (1.0, 0.5, 0.8)
TIGHT = {"max_iter": 2000, "tol": 1e-14}


def similarities(seed=0, n_views=3):
    rng = np.random.default_rng(seed)
    planted = 2 * np.eye(K)[np.arange(N) % K]
    return [standardize_kernel(gaussian_kernel(planted + rng.normal(size=(N, K))))[0] for _ in range(n_views)]


def spectra_of(matrices, factors=FACTORS, n_components=N):
    """B, and the members of the similarities in it."""
    basis, members = [], []
    for position, (matrix, factor) in enumerate(zip(matrices, factors, strict=True)):
        values, vectors = np.linalg.eigh(matrix)
        basis.append(vectors[:, ::-1][:, :n_components])
        columns = slice(position * n_components, (position + 1) * n_components)
        members.append(WeightedSpectrum(columns, np.maximum(values[::-1][:n_components], 0.0), factor))
    return np.hstack(basis), members


def projector(F):
    return F @ F.T


def formed_mean(matrices, factors=FACTORS):
    """Leading eigenvectors of the mean of similarities whose first k eigenvalues are one on average."""
    levels = [np.linalg.eigvalsh(matrix)[-K:].mean() for matrix in matrices]
    mean = sum(f**2 * matrix / level for f, matrix, level in zip(factors, matrices, levels, strict=True))
    return np.linalg.eigh(mean)[1][:, -K:]


@pytest.mark.parametrize("regularization", [0.0, 1.0, 4.0])
def test_with_all_eigenvectors_it_is_the_alignment_of_full_partitions(regularization, seed):
    matrices = similarities(seed)
    basis, members = spectra_of(matrices)
    partitions = [f * basis[:, one.columns][:, :K] for f, one in zip(FACTORS, members, strict=True)]
    full = solve_alignment(partitions, formed_mean(matrices), regularization=regularization, **TIGHT, xp=xp)
    [fused] = fuse_spectra(Span.of(basis), members, K, [regularization], **TIGHT)
    np.testing.assert_allclose(projector(basis @ fused.coefficients), projector(full.consensus), atol=1e-8)
    np.testing.assert_allclose(fused.result.weights, full.weights, atol=1e-8)
    assert fused.result.objective[-1] == pytest.approx(full.objective[-1], abs=1e-8)


@pytest.mark.parametrize("n_components", [K, 8, N])
def test_products_give_the_same_as_rows(n_components):
    basis, members = spectra_of(similarities(), n_components=n_components)
    span = Span(basis.T @ basis)
    for small, large in zip(
        fuse_spectra(span, members, K, [0.5, 2.0], **TIGHT),
        fuse_spectra(span._replace(rows=basis), members, K, [0.5, 2.0], **TIGHT),
        strict=True,
    ):
        np.testing.assert_allclose(
            projector(basis @ small.coefficients), projector(basis @ large.coefficients), atol=1e-7
        )
        np.testing.assert_allclose(small.result.weights, large.result.weights, atol=1e-8)


def test_rows_are_kept_if_they_are_few():
    basis, _ = spectra_of(similarities(), n_components=K)
    assert Span.of(basis).rows is None
    assert Span.of(basis[:5]).rows.shape == (5, 3 * K)
    np.testing.assert_allclose(Span.of(basis).products, basis.T @ basis)


@pytest.mark.parametrize("regularization", [0.0, 2.0])
def test_consensus_is_orthonormal_and_the_objective_rises(regularization, seed):
    basis, members = spectra_of(similarities(seed), n_components=10)
    [fused] = fuse_spectra(Span.of(basis), members, K, [regularization], **TIGHT)
    consensus = basis @ fused.coefficients
    np.testing.assert_allclose(consensus.T @ consensus, np.eye(K), atol=1e-10)
    assert np.all(np.diff(fused.result.objective) >= -1e-12)
    assert len(fused.result.objective) > 1


@pytest.mark.parametrize("copies", [2, 5])
def test_copies_that_share_a_factor_count_as_one(copies):
    matrices = similarities()
    once, members = spectra_of(matrices)
    [single] = fuse_spectra(Span.of(once), members, K, [1.0], **TIGHT)
    several, many = spectra_of(
        [*matrices[:2], *[matrices[2]] * copies], (*FACTORS[:2], *[FACTORS[2] / copies**0.5] * copies)
    )
    np.testing.assert_allclose(
        projector(several @ mean_coefficients(Span.of(several), many, K)),
        projector(once @ mean_coefficients(Span.of(once), members, K)),
        atol=1e-8,
    )
    [shared] = fuse_spectra(Span.of(several), many, K, [1.0], **TIGHT)
    np.testing.assert_allclose(
        projector(several @ shared.coefficients), projector(once @ single.coefficients), atol=1e-6
    )
    weights = shared.result.weights
    np.testing.assert_allclose(weights[:2], single.result.weights[:2], atol=1e-6)
    np.testing.assert_allclose(weights[2:], single.result.weights[2] / np.sqrt(copies), atol=1e-6)


def test_a_large_regularization_leaves_nothing_but_the_mean():
    matrices = similarities()
    basis, members = spectra_of(matrices)
    [pulled] = fuse_spectra(Span.of(basis), members, K, [1e6])
    target = formed_mean(matrices, FACTORS)
    np.testing.assert_allclose(projector(basis @ pulled.coefficients), projector(target), atol=1e-5)


def test_mean_coefficients_give_the_eigenvectors_of_the_formed_mean():
    matrices = similarities()
    basis, members = spectra_of(matrices)
    average = basis @ mean_coefficients(Span.of(basis), members, K)
    np.testing.assert_allclose(average.T @ average, np.eye(K), atol=1e-10)
    np.testing.assert_allclose(projector(average), projector(formed_mean(matrices)), atol=1e-8)


def test_a_member_without_eigenvalues_takes_no_part():
    basis, members = spectra_of(similarities())
    empty = members[2]._replace(values=np.zeros(N))
    np.testing.assert_array_equal(
        mean_coefficients(Span.of(basis), [*members[:2], empty], K), mean_coefficients(Span.of(basis), members[:2], K)
    )
    assert not mean_coefficients(Span.of(basis), [empty], K).any()


def test_a_member_of_lower_rank_than_clusters_fuses():
    basis, members = spectra_of(similarities())
    thin = WeightedSpectrum(slice(0, 2), members[0].values[:2])
    [fused] = fuse_spectra(Span.of(basis), [thin, members[1]], K, [1.0])
    consensus = basis @ fused.coefficients
    np.testing.assert_allclose(consensus.T @ consensus, np.eye(K), atol=1e-10)
    assert fused.coefficients.shape == (3 * N, K)


def test_copies_agree_with_each_other_and_noise_by_chance_only():
    rng = np.random.default_rng(0)
    n = 300
    planted = np.linalg.qr(rng.normal(size=(n, K)))[0]
    noise = [np.linalg.qr(rng.normal(size=(n, K)))[0] for _ in range(20)]
    values = np.ones(K)
    apart = np.eye(3)
    twins = np.hstack([planted, planted, noise[0]])
    members = [
        WeightedSpectrum(slice(start, start + K), values, factor)
        for start, factor in ((0, 1.0), (K, 1.0), (2 * K, 0.1))
    ]
    agreement = agreement_with_others(Span.of(twins), members, [0, 1, 2], apart, K)
    np.testing.assert_allclose(agreement[:2], 1.0, atol=1e-2)
    chance = [
        agreement_with_others(Span.of(np.hstack([planted, planted, one])), members, [0, 1, 2], apart, K)[2]
        for one in noise
    ]
    assert np.mean(chance) == pytest.approx(K / n, rel=0.5)


def test_trust_ignores_agreement_between_duplicate_views():
    basis, members = spectra_of([*similarities()[:2], similarities()[1]])
    overlap = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 1]], dtype=float)
    agreement = agreement_with_others(Span.of(basis), members, [0, 1, 2], overlap, K)
    alone = agreement_with_others(Span.of(basis[:, : 2 * N]), members[:2], [0, 1], np.eye(2), K)
    np.testing.assert_allclose(agreement, alone[[0, 1, 1]], atol=1e-8)


def test_agreement_of_a_view_is_the_mean_over_its_members():
    basis, members = spectra_of(similarities())
    one_view = agreement_with_others(Span.of(basis), members, [0, 0, 1], np.eye(2), K)
    single = [agreement_with_others(Span.of(basis), [members[p], members[2]], [0, 1], np.eye(2), K)[0] for p in (0, 1)]
    assert one_view[0] == pytest.approx(np.mean(single))
    assert np.all((one_view > 0) & (one_view <= 1))


def test_without_others_a_view_agrees():
    basis, members = spectra_of(similarities())
    np.testing.assert_array_equal(agreement_with_others(Span.of(basis), members, [0, 0, 0], np.eye(1), K), [1.0])
    np.testing.assert_array_equal(
        agreement_with_others(Span.of(basis), members, [0, 1, 2], np.ones((3, 3)), K), np.ones(3)
    )


def test_views_without_a_factor_are_no_others():
    """If all other views have a factor of zero, there is nothing to compare a view with."""
    basis, members = spectra_of(similarities(), (1.0, 0.0, 0.0))
    assert agreement_with_others(Span.of(basis), members, [0, 1, 2], np.eye(3), K)[0] == 1.0
    basis, members = spectra_of(similarities(), (1.0, 0.5, 0.0))
    alone = agreement_with_others(Span.of(basis[:, : 2 * N]), members[:2], [0, 1], np.eye(2), K)
    np.testing.assert_allclose(
        agreement_with_others(Span.of(basis), members, [0, 1, 2], np.eye(3), K)[:2], alone, atol=1e-8
    )


def test_agreement_with_a_mask_of_all_samples_is_that_without():
    generator = np.random.default_rng(0)
    basis = np.concatenate([np.linalg.qr(generator.standard_normal((40, 3)))[0] for _ in range(3)], axis=1)
    members = [WeightedSpectrum(slice(3 * p, 3 * p + 3), np.ones(3)) for p in range(3)]
    plain = agreement_with_others(Span.of(basis), members, range(3), np.eye(3), 3)
    mask = np.ones((40, 3), dtype=bool)
    np.testing.assert_allclose(
        agreement_with_others(Span.of(basis), members, range(3), np.eye(3), 3, basis=basis, mask=mask), plain
    )
    # A view is not judged by rows that samples do not have.
    mask[:15, 0] = False
    first = agreement_with_others(Span.of(basis), members, range(3), np.eye(3), 3, basis=basis, mask=mask)[0]
    basis[:15, :3] = 0.0
    again = agreement_with_others(Span.of(basis), members, range(3), np.eye(3), 3, basis=basis, mask=mask)[0]
    assert first == pytest.approx(again)


def test_agreement_with_missing_views_uses_shared_samples():
    """Of columns that are no longer orthonormal once rows are missing, what counts is the space they span."""
    generator = np.random.default_rng(1)
    basis = np.concatenate([np.linalg.qr(generator.standard_normal((30, 2)))[0] for _ in range(2)], axis=1)
    members = [WeightedSpectrum(slice(2 * p, 2 * p + 2), np.ones(2)) for p in range(2)]
    mask = np.ones((30, 2), dtype=bool)
    mask[:12, 0] = False
    mask[20:26, 1] = False
    found = agreement_with_others(Span.of(basis), members, range(2), np.eye(2), 2, basis=basis, mask=mask)
    both = mask.all(axis=1)
    cosines = np.cos(scipy.linalg.subspace_angles(basis[both, :2], basis[both, 2:]))
    np.testing.assert_allclose(found, np.mean(cosines**2))


def test_iterations_continue_until_convergence():
    basis, members = spectra_of(similarities())
    [found] = fuse_spectra(Span.of(basis), members, K, [0.01])
    assert found.result.converged
    assert np.diff(found.result.objective)[-1] <= 1e-6 * found.result.objective[-1]


def test_few_samples_are_solved_in_their_rows_as_in_the_products(monkeypatch):
    """With as many samples as columns no eigenvectors of inner products are needed; the result is the same."""
    matrices = similarities(n_views=6)
    basis, members = spectra_of(matrices, FACTORS * 2, n_components=7)
    members = [one._replace(columns=slice(one.columns.start, one.columns.start + 7)) for one in members]
    members[0] = WeightedSpectrum(slice(0, 2), members[0].values[:2], members[0].factor)  # fewer than clusters
    rows = basis[:20]
    in_products = fuse_spectra(Span(rows.T @ rows), members, K, [0.5, 2.0], **TIGHT)
    monkeypatch.setattr(late_fusion_spectra, "compress_products", lambda *_: pytest.fail("rows are fewer"))
    in_rows = fuse_spectra(Span.of(rows), members, K, [0.5, 2.0], **TIGHT)
    for one, other in zip(in_rows, in_products, strict=True):
        np.testing.assert_allclose(projector(rows @ one.coefficients), projector(rows @ other.coefficients), atol=1e-7)
        np.testing.assert_allclose(one.result.weights, other.result.weights, atol=1e-8)
