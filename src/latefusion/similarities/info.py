"""How the similarity of a view is represented: exactly, or by a factor, and how accurate that factor is."""

from __future__ import annotations

from typing import Any, NamedTuple

from latefusion.similarities.anchors import AnchorExtension
from latefusion.similarities.factor import FactorExtension, NystromMap
from latefusion.similarities.given import GivenMap
from latefusion.similarities.graph import GraphExtension
from latefusion.similarities.kernel import KernelExtension, PrecomputedExtension

NAMES = {KernelExtension: "exact kernel", PrecomputedExtension: "given kernel", GraphExtension: "graph"}


class PartitionInfo(NamedTuple):
    """How the similarity of one view was represented.

    Attributes
    ----------
    similarity : str
        "exact kernel", "given kernel", "graph", "anchor graph", "factor" (features, dense or sparse, with the same
        inner products as the kernel), "nystrom factor" (features with nearly the same), or "given labels", "given
        memberships" and "given embedding".
    rank : int or None
        Number of columns of the factor; None for exact similarities.
    n_landmarks : int or None
        Landmark samples of a Nyström factor, anchors of an anchor graph.
    energy : float or None
        Share of the trace of the landmarks' kernel that the kept directions carry.
    captured : float or None
        Share of the variance of the samples in the feature space of the kernel that the factor carries: 1 when nothing
        is lost. Raise ``n_landmarks`` of `KernelSimilarity` when it is low.
    """

    similarity: str
    rank: int | None = None
    n_landmarks: int | None = None
    energy: float | None = None
    captured: float | None = None


def describe_partition(extension: Any) -> PartitionInfo:
    """Describe the extension of a view to new samples."""
    if isinstance(extension, AnchorExtension):
        n_anchors = extension.feature_map.width
        return PartitionInfo("anchor graph", n_anchors, n_anchors)
    if not isinstance(extension, FactorExtension):
        return PartitionInfo(NAMES.get(type(extension), type(extension).__name__))
    feature_map = extension.feature_map
    if isinstance(feature_map, NystromMap):
        n_landmarks = int(feature_map.landmarks.shape[0])
        return PartitionInfo("nystrom factor", feature_map.width, n_landmarks, feature_map.energy, feature_map.captured)
    if isinstance(feature_map, GivenMap):
        return PartitionInfo(f"given {feature_map.kind}", feature_map.width)
    return PartitionInfo("factor", feature_map.width, energy=1.0, captured=1.0)
