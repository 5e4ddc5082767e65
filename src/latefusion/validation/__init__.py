"""Conversion of any input to checked `Views`, or an error that states the problem and the remedy."""

from latefusion.validation.columns import column_groups
from latefusion.validation.frames import columns_of, is_frame
from latefusion.validation.holes import can_be_fused, loose_views
from latefusion.validation.kernels import check_diagonals, is_precomputed
from latefusion.validation.opening import is_collection
from latefusion.validation.reading import as_table, open_views, per_view, read_tables, read_views, reorder_rows
from latefusion.validation.sample_ids import match_rows
from latefusion.validation.schema import InputRules, InputSchema, ViewSchema
from latefusion.validation.views import check_n_clusters

__all__ = [
    "InputRules",
    "InputSchema",
    "ViewSchema",
    "as_table",
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
    "open_views",
    "per_view",
    "read_tables",
    "read_views",
    "reorder_rows",
]
