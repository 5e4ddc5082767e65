"""Conversion of any input to checked `Views`, or an error that states the problem and the remedy."""

from latefusion.validation.columns import column_groups
from latefusion.validation.frames import columns_of, is_frame
from latefusion.validation.holes import can_be_fused, loose_views
from latefusion.validation.kernels import check_diagonals
from latefusion.validation.reading import InputRules, InputSchema, is_precomputed, per_view, read_views
from latefusion.validation.sample_ids import match_rows
from latefusion.validation.views import check_n_clusters, is_collection

__all__ = [
    "InputRules",
    "InputSchema",
    "can_be_fused",
    "check_diagonals",
    "check_n_clusters",
    "column_groups",
    "columns_of",
    "is_collection",
    "is_frame",
    "is_precomputed",
    "loose_views",
    "match_rows",
    "per_view",
    "read_views",
]
