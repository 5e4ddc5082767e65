"""Multi-view clustering by late fusion.

The same things, described by several views, become one consensus clustering with a weight per view: every view is
clustered on its own, the resulting partitions are aligned, and their consensus is labelled.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from latefusion.version import __version__

if TYPE_CHECKING:
    from latefusion import baselines, datasets, kernels, metrics, scverse, similarities
    from latefusion.estimators import (
        ConsensusClustering,
        GlobalAlignmentClustering,
        LateFusionClustering,
        LocalAlignmentClustering,
        consensus,
    )
    from latefusion.experiments import compare_baselines
    from latefusion.outputs import labels_frame, load, save
    from latefusion.similarities import GivenPartition, GraphPartition, KernelPartition, PrecomputedPartition
    from latefusion.types import MultiViewDataset, Views

__all__ = [
    "ConsensusClustering",
    "GivenPartition",
    "GlobalAlignmentClustering",
    "GraphPartition",
    "KernelPartition",
    "LateFusionClustering",
    "LocalAlignmentClustering",
    "MultiViewDataset",
    "PrecomputedPartition",
    "Views",
    "__version__",
    "baselines",
    "compare_baselines",
    "consensus",
    "datasets",
    "kernels",
    "labels_frame",
    "load",
    "metrics",
    "save",
    "scverse",
    "similarities",
]

# The room of every name that is no room itself.
_HOMES = {
    "ConsensusClustering": "estimators",
    "GivenPartition": "similarities",
    "GlobalAlignmentClustering": "estimators",
    "GraphPartition": "similarities",
    "KernelPartition": "similarities",
    "LateFusionClustering": "estimators",
    "LocalAlignmentClustering": "estimators",
    "MultiViewDataset": "types",
    "PrecomputedPartition": "similarities",
    "Views": "types",
    "compare_baselines": "experiments",
    "consensus": "estimators",
    "labels_frame": "outputs",
    "load": "outputs",
    "save": "outputs",
}

if not TYPE_CHECKING:  # a type checker reads the imports above, and may complain of names that are not there

    def __getattr__(name: str) -> Any:
        """A name or a room, loaded when it is asked for: scikit-learn takes a second, which not everyone needs."""
        room = _HOMES.get(name, name)
        if not room.startswith("_"):
            try:
                module = import_module(f"{__name__}.{room}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{room}":  # the room is there, and misses a library
                    raise
            else:
                return module if room == name else getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

    # Whoever has NumPy loaded is about to compute: the wait for scikit-learn then belongs to the import, where it is
    # expected, and not to the first fit. A bare import, as for the help of the command line, loads nothing.
    if "numpy" in sys.modules:
        import_module(f"{__name__}.estimators")
