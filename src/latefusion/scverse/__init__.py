"""MuData and AnnData in, clusters in their `obs`, `obsm` and `uns` out; needs `latefusion[scverse]`."""

from latefusion.scverse.annotation import annotate
from latefusion.scverse.clustering import cluster
from latefusion.scverse.reading import Reading, read_views

__all__ = ["Reading", "annotate", "cluster", "read_views"]
