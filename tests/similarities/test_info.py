"""What is said about a similarity is what was done."""

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion import GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel
from latefusion.similarities import PartitionInfo, describe_partition

VIEW = make_views(120, 4, n_views=1, n_features=6, random_state=0).views.arrays[0]


def info(partition, view=VIEW):
    return describe_partition(partition.similarity(view, 4)[1])


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        (KernelSimilarity(), PartitionInfo("exact kernel")),
        (GraphSimilarity(), PartitionInfo("graph")),
        (GraphSimilarity(method="anchors", n_anchors=20), PartitionInfo("anchor graph", 20, 20)),
        (KernelSimilarity("linear", method="factor"), PartitionInfo("factor", 6, None, 1.0, 1.0)),
    ],
)
def test_kinds(partition, expected):
    assert info(partition) == expected
    if not isinstance(partition, GraphSimilarity):
        assert info(partition, sp.csr_array(VIEW)) == expected
    assert info(PrecomputedSimilarity(), gaussian_kernel(VIEW)) == PartitionInfo("given kernel")


def test_more_landmarks_capture_more():
    found = [info(KernelSimilarity("laplace", method="factor", n_landmarks=size)) for size in (10, 40, 120)]
    assert [one.n_landmarks for one in found] == [10, 40, 120]
    assert [one.rank for one in found] == [10, 40, 100]
    captured = [one.captured for one in found]
    assert captured == sorted(captured)
    assert captured[0] < 0.5
    assert all(0 < one.captured <= 1 and 0 < one.energy <= 1 for one in found)


def test_captured_is_the_variance_that_the_features_have_of_the_kernels():
    matrix, extension = KernelSimilarity(method="factor", n_landmarks=30).similarity(VIEW, 4)
    feature_map = extension.feature_map
    features = feature_map.kernel(VIEW, feature_map.landmarks) @ feature_map.whitening
    kernel = feature_map.kernel(VIEW)
    # The map knows the mean of the kernel from its own features only, hence the tolerance.
    expected = features.var(axis=0).sum() / (np.trace(kernel) / len(VIEW) - kernel.mean())
    assert describe_partition(extension).captured == pytest.approx(expected, rel=1e-2)
    assert matrix.feature_map is feature_map


def test_an_object_of_unknown_kind_goes_by_its_class():
    assert describe_partition(object()) == PartitionInfo("object")
