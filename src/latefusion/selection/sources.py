"""The similarities of every view that candidates may use: nearest-neighbor graphs, a kernel, or what the user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import device_name, is_device_array, namespace
from latefusion.encoding.coordinates import Unchanged
from latefusion.encoding.preparation import DIRECTED, Preparation
from latefusion.partitions.sources import Source, feature_source, kernel_source, mask_zero_rows
from latefusion.similarities import GivenPartition, GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.types import Views
from latefusion.validation import can_be_fused, is_precomputed

GRAPH_SIZES = (5, 10, 20)
# Kinds of views in which a row of zeros is a missing row, also in data that are complete otherwise.
ZERO_IS_MISSING = ("distribution", "abundances", "intensities")
# Complete data stay complete if no view has a larger share of such rows: a few make no cluster, and imputation is slow.
FEW_ZERO_ROWS = 0.05


class NamedSimilarities(NamedTuple):
    """The similarities that a view may have, by name.

    Attributes
    ----------
    graphs : dict of str to GraphSimilarity
    kernels : dict of str to KernelSimilarity
    """

    graphs: dict[str, Any]
    kernels: dict[str, Any]

    @classmethod
    def of(cls, kernel: Any, kernel_params: Mapping[str, Any] | None) -> NamedSimilarities:
        """Graphs of several sizes and one kernel."""
        return cls(
            {f"graph {size}": GraphSimilarity(size) for size in GRAPH_SIZES},
            {"kernel": KernelSimilarity(kernel, kernel_params=kernel_params)},
        )

    def of_word(self, spec: str) -> dict[str, Any]:
        """Those that the parameter ``similarity`` of a view names."""
        return {"auto": {**self.graphs, **self.kernels}, "graph": self.graphs, "kernel": self.kernels}[spec]

    def joint(self, sources: Sequence[Source], missing: str) -> dict[str, Any]:
        """Those of all views together, as far as views have them; none if similarities were given, or for one view."""
        names = {name for source in sources for name in source.similarities}
        incomplete = any(source.observed is not None for source in sources)
        if len(sources) < 2 or "given" in names or (incomplete and missing == "zero"):
            return {}
        if incomplete:  # a kernel of imputed coordinates adds little to their mean similarity
            return self.graphs
        return {name: one for name, one in self.of_word("auto").items() if name in names}


def view_source(
    views: Views,
    position: int,
    spec: Any,
    named: NamedSimilarities,
    observed: NDArray[np.bool_] | None = None,
    *,
    is_table: bool = False,
) -> Source:
    """The source of one view, of those samples that have it.

    Parameters
    ----------
    views : Views
    position : int
        Which view.
    spec : str or object
        Its ``similarity``.
    named : NamedSimilarities
    observed : ndarray of bool of shape (n_samples,), default=None
        Which samples have it; all by default.
    is_table : bool, default=False
        Whether its columns are coordinates of a table, which are on one scale.

    Returns
    -------
    Source
    """
    view, name = views.arrays[position], views.names[position]
    if observed is not None and observed.all():
        observed = None
    if observed is not None:
        view = view[observed][:, observed] if is_precomputed(spec) else view[observed]
    if is_precomputed(spec):
        own = spec if isinstance(spec, PrecomputedSimilarity) else PrecomputedSimilarity()
        return kernel_source(view, {**named.graphs, "kernel": own}, observed)
    if spec == "labels" or isinstance(spec, GivenPartition):
        given = (GivenPartition("labels") if spec == "labels" else spec).fit_map(view, name)
        return Source(given.kind, given(view), {"given": GivenPartition("embedding")}, given, observed)
    if hasattr(spec, "similarity"):
        return Source("given", view, {"given": spec}, Preparation("given"), observed)
    if is_table:
        return Source("table", view, named.of_word(spec), Unchanged(), observed)
    return feature_source(view, named.of_word(spec), observed)


def view_sources(
    views: Views,
    specs: Sequence[Any],
    named: NamedSimilarities,
    mask: NDArray[np.bool_] | None,
    n_clusters: int,
    inputs: Sequence[str],
    known: Sequence[Source] = (),
) -> tuple[list[Source], NDArray[np.bool_]]:
    """The sources of all views.

    Rows of zeros are missing in views of distributions, abundances and intensities, whose rows are scaled to one sum,
    if enough samples remain and, in complete data, if a view has more than a few of them. In views of counts, a row of
    zeros is an observation in complete data. If views are missing, it is treated as missing as well: there are no
    distances over all views, by which other views outweigh it.

    Parameters
    ----------
    views : Views
    specs : sequence of str or object
        The ``similarity`` of every view.
    named : NamedSimilarities
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Which samples have which views; None if no view is missing.
    n_clusters : int
        The smallest number of clusters that may be chosen.
    inputs : sequence of str
        Kind of input of every view, such as "features" or "table".
    known : sequence of Source, default=()
        Those of the first views, if no view is missing.

    Returns
    -------
    sources : list of Source
    directed : ndarray of bool of shape (n_views,)
        Views in which rows of zeros are missing.
    """

    def fit(view: int, seen: NDArray[np.bool_] | None) -> Source:
        return view_source(views, view, specs[view], named, seen, is_table=inputs[view] == "table")

    others = [fit(view, None if mask is None else mask[:, view]) for view in range(len(known), len(specs))]
    sources = [*known, *others]
    if is_device_array(sources[0].coordinates):
        _check_zero_rows(views.names, sources)
        return sources, np.zeros(len(sources), dtype=bool)
    declared = np.ones((len(views), len(specs)), dtype=bool) if mask is None else mask
    found, directed = mask_zero_rows(sources, declared, ZERO_IS_MISSING if mask is None else DIRECTED)
    is_complete = mask is None and np.mean(~found, axis=0).max() <= FEW_ZERO_ROWS
    if is_complete or len(sources) == 1 or not can_be_fused(found, n_clusters):
        return sources, np.zeros(len(sources), dtype=bool)
    for view in np.flatnonzero((found != declared).any(axis=0)).tolist():
        # Fitted again: what a view holds and the weights of its columns depend on the rows that are left.
        sources[view] = fit(view, found[:, view])
    return sources, directed


def _check_zero_rows(names: Sequence[str], sources: Sequence[Source]) -> None:
    """Raise an error for a view on a device whose rows of zeros would be missing rows."""
    for name, source in zip(names, sources, strict=True):
        if source.kind not in ZERO_IS_MISSING or len(sources) == 1:
            continue
        view = source.coordinates
        xp, n_samples = namespace(view), view.shape[0]
        n_empty = n_samples - int(xp.count_nonzero(xp.any(view != 0, axis=1)))
        if n_empty > FEW_ZERO_ROWS * n_samples:
            raise ValueError(
                f"View {name!r} is stored in {device_name(view)} and has {n_empty} rows of zeros. In a view of "
                f"{source.kind}, these are missing, but missing views require NumPy arrays. Move the views to NumPy "
                f"first, or remove these samples."
            )
