"""Base partitions of samples that lack views: those of the samples that have them, and a mean over what is shared."""

import numpy as np
import pytest

from latefusion.estimators.alignment_map import counts_of
from latefusion.kernels import gaussian_kernel
from latefusion.partitions import fit_base_partitions
from latefusion.similarities import GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from tests.partitions.rows import extend

K = 3
SIMILARITIES = {
    "kernel": KernelSimilarity(),
    "factor": KernelSimilarity("linear", method="factor"),
    "Nyström": KernelSimilarity(method="factor", n_landmarks=30),
    "graph": GraphSimilarity(6),
    "anchors": GraphSimilarity(method="anchors", n_anchors=20),
}


@pytest.fixture
def views(seed):
    generator = np.random.default_rng(seed)
    centers = generator.standard_normal((K, 6)) * 2
    labels = np.arange(80) % K
    return [centers[labels] @ generator.standard_normal((6, w)) + generator.standard_normal((80, w)) for w in (5, 7, 4)]


@pytest.fixture
def mask(seed):
    generator = np.random.default_rng(100 + seed)
    mask = generator.random((80, 3)) > 0.35
    mask[~mask.any(axis=1), 0] = True
    return mask


def projector(partition):
    left, values, _ = np.linalg.svd(partition, full_matrices=False)
    left = left[:, values > 1e-8 * values[0]]
    return left @ left.T


@pytest.mark.parametrize("kind", SIMILARITIES)
def test_without_missing_views_nothing_changes(views, kind):
    everything = np.ones((80, 3), dtype=bool)
    whole = fit_base_partitions(views, [SIMILARITIES[kind]] * 3, K)
    partial = fit_base_partitions(views, [SIMILARITIES[kind]] * 3, K, mask=everything)
    for one, other in zip(whole.vectors, partial.vectors, strict=True):
        np.testing.assert_allclose(projector(one), projector(other), atol=1e-6)
    np.testing.assert_allclose(projector(whole.mean.rows), projector(partial.mean.rows), atol=1e-6)


@pytest.mark.parametrize("kind", SIMILARITIES)
def test_a_view_is_that_of_the_samples_that_have_it(views, mask, kind):
    similarity = SIMILARITIES[kind]
    base = fit_base_partitions(views, [similarity] * 3, K, mask=mask)
    for view, observed, partition in zip(views, mask.T, base.vectors, strict=True):
        alone = fit_base_partitions([view[observed]], [similarity], K).vectors[0]
        assert not partition[~observed].any()
        np.testing.assert_allclose(projector(partition[observed]), projector(alone), atol=1e-6)
        # As if the samples that lack it had been like the others: columns are shorter, entries are not.
        np.testing.assert_allclose(np.sum(partition**2, axis=0), observed.mean(), rtol=1e-5)


@pytest.mark.parametrize("kind", SIMILARITIES)
def test_the_mean_compares_samples_by_what_they_share(views, mask, kind):
    dense = np.zeros((80, 80))
    for view, observed in zip(views, mask.T, strict=True):
        matrix, _ = SIMILARITIES[kind].similarity(view[observed], K)
        dense[np.ix_(observed, observed)] += np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    roots = np.sqrt(mask.mean(axis=1))
    dense = dense / 3 / roots[:, None] / roots
    expected = np.linalg.eigh(dense)[1][:, -K:]
    base = fit_base_partitions(views, [SIMILARITIES[kind]] * 3, K, mask=mask)
    np.testing.assert_allclose(projector(base.mean.rows), projector(expected), atol=1e-5)


def test_kinds_of_similarity_mix(views, mask):
    mixed = [
        KernelSimilarity("linear", method="factor"),
        GraphSimilarity(6),
        KernelSimilarity("linear", method="factor"),
    ]
    dense = [KernelSimilarity("linear", method="exact"), GraphSimilarity(6), KernelSimilarity("linear", method="exact")]
    both = [KernelSimilarity("linear", method="exact"), GraphSimilarity(6), KernelSimilarity("linear", method="factor")]
    one, *others = (fit_base_partitions(views, kinds, K, mask=mask) for kinds in (mixed, dense, both))
    for other in others:
        np.testing.assert_allclose(projector(one.mean.rows), projector(other.mean.rows), atol=1e-6)


@pytest.mark.parametrize("missing", ["zero", "impute"])
@pytest.mark.parametrize("kind", SIMILARITIES)
def test_training_samples_get_their_rows_back(views, mask, kind, missing):
    base = fit_base_partitions(views, [SIMILARITIES[kind]] * 3, K, mask=mask, missing=missing, n_neighbors=20)
    garbage = [np.where(seen[:, None], view, 1e3) for view, seen in zip(views, mask.T, strict=True)]
    found = extend(base, garbage, mask)
    for one, other in zip([*base.vectors, base.mean.rows], [*found.vectors, found.mean.rows], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    for one, other in zip(counts_of(base), found.counts, strict=True):
        assert np.mean(np.abs(one.counts - other) <= 1e-6 * 80) > 0.9  # nobody is in their own neighborhood


def test_kernels_that_are_given(views, mask):
    kernels = [gaussian_kernel(view) for view in views]
    base = fit_base_partitions(kernels, [PrecomputedSimilarity()] * 3, K, mask=mask)
    spoiled = [np.where(np.outer(seen, seen), kernel, 7.0) for kernel, seen in zip(kernels, mask.T, strict=True)]
    other = fit_base_partitions(spoiled, [PrecomputedSimilarity()] * 3, K, mask=mask)
    np.testing.assert_array_equal(base.mean.rows, other.mean.rows)
    found = extend(base, spoiled, mask)
    np.testing.assert_allclose(found.mean.rows, base.mean.rows, atol=1e-8)


@pytest.mark.parametrize("kind", ["kernel", "graph", "factor"])
def test_new_samples_of_complete_training_samples(views, kind):
    base, imputing = (
        fit_base_partitions([view[:60] for view in views], [SIMILARITIES[kind]] * 3, K, n_neighbors=15, missing=missing)
        for missing in ("zero", "impute")
    )
    new, mask = [view[60:] for view in views], np.ones((20, 3), dtype=bool)
    mask[:5, 0] = False
    plain, imputed = extend(base, new), extend(imputing, new, mask)
    whole = mask.all(axis=1)
    for one, other in zip([*plain.vectors, plain.mean.rows], [*imputed.vectors, imputed.mean.rows], strict=True):
        np.testing.assert_allclose(one[whole], other[whole], atol=1e-10)
    for one, other in zip(plain.counts, imputed.counts, strict=True):
        np.testing.assert_allclose(one[whole], other[whole], rtol=1e-6)
    assert np.linalg.norm(imputed.vectors[0][~whole], axis=1).min() > 0
    assert not extend(base, new, mask).vectors[0][~whole].any()


def test_imputed_rows_are_nearer_to_those_of_complete_samples(views, mask):
    whole = fit_base_partitions(views, [SIMILARITIES["kernel"]] * 3, K)
    aligned, imputed = (
        fit_base_partitions(views, [SIMILARITIES["kernel"]] * 3, K, mask=mask, missing=how)
        for how in ("zero", "impute")
    )
    errors = {
        name: np.linalg.norm(projector(base.mean.rows) - projector(whole.mean.rows))
        for name, base in (("zero", aligned), ("impute", imputed))
    }
    assert errors["impute"] < errors["zero"]
    for partition, seen in zip(imputed.vectors, mask.T, strict=True):
        assert np.linalg.norm(partition[~seen], axis=1).min() > 0


def test_a_rare_view_has_no_louder_rows(views):
    mask = np.ones((80, 3), dtype=bool)
    mask[20:, 2] = False
    base = fit_base_partitions(views, [SIMILARITIES["kernel"]] * 3, K, mask=mask, n_neighbors=24)
    sizes = [np.mean(partition[seen] ** 2) for partition, seen in zip(base.vectors, mask.T, strict=True)]
    np.testing.assert_allclose(sizes, sizes[0])
    counts = [one.counts[seen].mean() for one, seen in zip(counts_of(base), mask.T, strict=False)]
    np.testing.assert_allclose(counts, 24, rtol=0.05)


def test_several_sizes_are_those_one_by_one(views, mask):
    similarities, options = [SIMILARITIES["graph"]] * 3, {"mask": mask, "missing": "impute"}
    *together, mean = fit_base_partitions(views, similarities, K, n_neighbors=(8, 24), **options).counts
    assert mean is None
    for position, size in enumerate((8, 24)):
        *alone, _ = fit_base_partitions(views, similarities, K, n_neighbors=size, **options).counts
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_array_equal(one[position].counts, other.counts)


@pytest.mark.parametrize("missing", ["zero", "impute"])
@pytest.mark.parametrize("kind", ["kernel", "graph", "factor"])
def test_rows_of_a_sample_do_not_depend_on_the_others_that_are_predicted(views, mask, kind, missing):
    """Also in local alignment, where counts of a view are those of the samples that have it."""
    base = fit_base_partitions(views, [SIMILARITIES[kind]] * 3, K, mask=mask, missing=missing, n_neighbors=20)
    whole = mask.all(axis=1)
    among, alone = extend(base, views, mask), extend(base, [view[whole] for view in views])
    for one, other in zip([*among.counts, *among.vectors], [*alone.counts, *alone.vectors], strict=True):
        np.testing.assert_allclose(one[whole], other, atol=1e-9)
