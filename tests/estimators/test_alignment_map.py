"""The consensus map of an alignment gives training samples what the alignment gave them, however M is made."""

import numpy as np
import pytest

from latefusion.datasets import make_views
from latefusion.estimators.alignment_map import aligned_partitions, alignment_map, counts_of, fused_mixing
from latefusion.partitions import fit_base_partitions
from latefusion.similarities import GraphSimilarity, KernelSimilarity
from latefusion.solvers import mix_partitions
from latefusion.types import Views

VIEWS = make_views(60, 3, n_views=2, n_features=4, random_state=0).views.arrays
MASK = np.random.default_rng(0).random((60, 2)) > 0.3
MASK[~MASK.any(axis=1), 0] = True
SIMILARITIES = [KernelSimilarity(), GraphSimilarity(6)]
OPTIONS = {
    "mean": {},
    "reference": {"reference": GraphSimilarity(6)},
    "zero rows": {"mask": MASK},
    "imputed rows": {"mask": MASK, "missing": "impute"},
}


@pytest.mark.parametrize("n_neighbors", [None, 60], ids=["global", "local"])
@pytest.mark.parametrize("name", OPTIONS)
def test_training_samples_get_the_mixture_of_their_rows(name, n_neighbors):
    """With neighborhoods of everyone, in which all counts are the same for training samples and new ones."""
    base = fit_base_partitions(VIEWS, SIMILARITIES, 3, n_neighbors=n_neighbors and n_neighbors - 1, **OPTIONS[name])
    mixing = np.random.default_rng(1).standard_normal((3, 3, 3))
    expected = mix_partitions(*aligned_partitions(base), mixing)
    found = alignment_map(base, mixing, None).rows(Views(VIEWS, mask=base.mask))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_local_alignment_weighs_rows_by_their_counts():
    base = fit_base_partitions(VIEWS, SIMILARITIES, 3, n_neighbors=9)
    weighed, average = aligned_partitions(base)
    rows = [*base.vectors, base.mean.rows]
    for one, own, counts in zip([*weighed, average], rows, counts_of(base), strict=True):
        np.testing.assert_allclose(one, own * counts.counts[:, None] / 60)


def test_the_fused_mixing_is_that_of_weights_and_rotations():
    rotations = np.random.default_rng(0).standard_normal((2, 3, 3))
    *own, mean = fused_mixing(np.array([0.6, 0.8]), rotations, 2.0)
    np.testing.assert_allclose(own, [0.6 * rotations[0], 0.8 * rotations[1]])
    np.testing.assert_array_equal(mean, 2 * np.eye(3))
