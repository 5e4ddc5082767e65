"""Consensus rows to labels: k-means, spectral rotation, pivoted QR. Each rule also labels new rows."""

from latefusion.assignment.rules import (
    ASSIGNMENTS,
    LargestVote,
    NearestCenter,
    RotatedAxes,
    assign_by_kmeans,
    assign_by_pivoted_qr,
    assign_by_rotation,
)

__all__ = [
    "ASSIGNMENTS",
    "LargestVote",
    "NearestCenter",
    "RotatedAxes",
    "assign_by_kmeans",
    "assign_by_pivoted_qr",
    "assign_by_rotation",
]
