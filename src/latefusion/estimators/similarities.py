"""What the samples of every view are compared by: graphs of nearest neighbours, a kernel, or what the user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import lies_elsewhere
from latefusion.encoding.preparation import Preparation
from latefusion.partitions.sources import FeatureSource, KernelSource, PartialSource, ViewSource
from latefusion.similarities import GivenPartition, GraphPartition, KernelPartition, PrecomputedPartition
from latefusion.types import Array, Views

GRAPH_SIZES = (5, 10, 20)


class Similarities(NamedTuple):
    """The similarities that a view may have, by name.

    Attributes
    ----------
    graphs : dict of str to GraphPartition
    kernels : dict of str to KernelPartition
    """

    graphs: dict[str, Any]
    kernels: dict[str, Any]

    @classmethod
    def of(cls, kernel: Any, kernel_params: Mapping[str, Any] | None) -> Similarities:
        """Graphs of several sizes and one kernel."""
        return cls(
            {f"graph {size}": GraphPartition(size) for size in GRAPH_SIZES},
            {"kernel": KernelPartition(kernel, kernel_params=kernel_params)},
        )

    @property
    def all(self) -> dict[str, Any]:
        """Both kinds."""
        return {**self.graphs, **self.kernels}

    def source(self, views: Views, position: int, spec: Any, observed: NDArray[np.bool_] | None) -> ViewSource:
        """The source of one view, of those samples that have it.

        Parameters
        ----------
        views : Views
        position : int
            Which view.
        spec : str or object
            Its ``partition``.
        observed : ndarray of bool of shape (n_samples,) or None
            Which samples have it; None for all.

        Returns
        -------
        ViewSource
        """
        view, name = views.arrays[position], views.names[position]
        if observed is None or observed.all():
            return self._of_view(view, spec, name)
        rows = np.flatnonzero(observed)
        part = view[rows]
        if _is_kernel(spec):
            part = part[:, rows]
        return PartialSource(self._of_view(part, spec, name), observed)

    def joint(self, sources: Sequence[ViewSource], missing: str) -> dict[str, Any]:
        """Those of all views together, as far as views have them; none if similarities were given, or for one view."""
        names = {name for source in sources for name in source.similarities}
        incomplete = any(source.observed is not None for source in sources)
        if len(sources) < 2 or "given" in names or (incomplete and missing == "align"):
            return {}
        if incomplete:  # a kernel of coordinates that were filled in says little that their mean similarity does not
            return self.graphs
        return {name: one for name, one in self.all.items() if name in names}

    def _of_view(self, view: Array, spec: Any, name: str) -> ViewSource:
        if lies_elsewhere(view):
            raise ValueError(
                f"LateFusionClustering works on NumPy arrays and sparse matrices, but view {name!r} is a "
                f"{type(view).__name__}: convert it, or use GlobalAlignmentClustering, which runs where the data lie."
            )
        if _is_kernel(spec):
            own = spec if isinstance(spec, PrecomputedPartition) else PrecomputedPartition()
            return KernelSource.of(view, {**self.graphs, "kernel": own})
        if spec == "labels" or isinstance(spec, GivenPartition):
            given = (GivenPartition("labels") if spec == "labels" else spec).fit_map(view, name)
            return FeatureSource(given, given(view), {"given": GivenPartition("embedding")})
        if hasattr(spec, "similarity"):
            return FeatureSource(Preparation("given"), view, {"given": spec})
        known = {"auto": self.all, "graph": self.graphs, "kernel": self.kernels}
        if spec not in known:
            raise ValueError(
                f"partition must be one of {[*known, 'precomputed', 'labels']} or have a method `similarity`, got "
                f"{spec!r}."
            )
        return FeatureSource.of(view, known[spec])


def _is_kernel(spec: Any) -> bool:
    return spec == "precomputed" or isinstance(spec, PrecomputedPartition)
