"""Clustering of MuData and AnnData objects; results go to `obs`, `obsm` and `uns`. Needs `latefusion[scverse]`."""

from latefusion.scverse.annotation import annotate
from latefusion.scverse.clustering import cluster
from latefusion.scverse.reading import Reading, read_views

__all__ = ["Reading", "annotate", "cluster", "read_views"]
