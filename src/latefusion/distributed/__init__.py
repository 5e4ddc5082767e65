"""The estimators on Dask: views chunked by rows, larger than any one memory, on one machine or many."""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
except ImportError as error:
    raise ImportError("latefusion.distributed needs Dask. Install it with: pip install 'latefusion[dask]'.") from error

from latefusion.distributed.alignment import GlobalAlignmentClustering, LocalAlignmentClustering
from latefusion.distributed.chunks import ChunkError
from latefusion.distributed.late_fusion import LateFusionClustering
from latefusion.distributed.prediction import predict, transform

__all__ = [
    "ChunkError",
    "GlobalAlignmentClustering",
    "LateFusionClustering",
    "LocalAlignmentClustering",
    "predict",
    "transform",
]
