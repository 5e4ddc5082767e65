"""Estimators for views that are chunked by rows and larger than memory, on one machine or a cluster (Dask)."""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
except ImportError as error:
    raise ImportError("latefusion.distributed needs Dask. Install it with: pip install 'latefusion[dask]'.") from error

from latefusion.distributed.alignment import GlobalAlignmentClustering
from latefusion.distributed.chunks import ChunkError
from latefusion.distributed.late_fusion import LateFusionClustering
from latefusion.distributed.local_alignment import LocalAlignmentClustering
from latefusion.distributed.prediction import predict, predict_proba, transform

__all__ = [
    "ChunkError",
    "GlobalAlignmentClustering",
    "LateFusionClustering",
    "LocalAlignmentClustering",
    "predict",
    "predict_proba",
    "transform",
]
