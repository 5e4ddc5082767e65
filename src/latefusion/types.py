"""Containers that all subpackages share: views, data sets, and results of solvers."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

# An array of any library (NumPy, SciPy sparse, torch, CuPy, Dask, a data frame). It is used through its array
# namespace, so there is no narrower static type.
Array = Any


class SolverResult(NamedTuple):
    """The result of an alternating solver; estimators copy it into their fitted attributes.

    Attributes
    ----------
    consensus : array of shape (n_samples, n_clusters)
        The embedding that goes to label assignment (the paper's F).
    weights : array of shape (n_views,) or None
        The weight of every view (β), if the method has weights.
    objective : list of float
        The objective after every iteration.
    n_iter : int
        Number of iterations, ``len(objective)`` for most methods.
    converged : bool
        Whether the stopping rule was met before the iteration cap.
    rotations : array of shape (n_views, n_clusters, n_clusters) or None
        The rotation of every view (W_p), for late fusion methods.
    mixing : array of shape (n_views + 1, n_clusters, n_clusters) or None
        The matrices T_p with ``consensus = sum_p H_p T_p + M T_m``. They map the base partitions of any sample, also a
        new one, to its consensus row.
    labels : array of shape (n_samples,) or None
        Cluster numbers, for methods that find them without a consensus embedding.
    """

    consensus: Array
    weights: Array
    objective: list[float]
    n_iter: int
    converged: bool
    rotations: Array = None
    mixing: Array = None
    labels: Array = None


class Views:
    """Several views of the same samples, indexed by sample.

    A list of two views has length two, so scikit-learn's splitters would split the *views*. The length of this
    container is the number of samples, and indexing selects samples, so that `cross_validate`, `GridSearchCV` and other
    tools of scikit-learn split the samples.

    Parameters
    ----------
    arrays : sequence or mapping of arrays
        One two-dimensional array (dense, sparse, data frame) per view, rows are samples. The keys of a mapping become
        the names.
    names : sequence of str, default=None
        One name per view. By default the keys of the mapping, or ``view_0``, ``view_1``, ...
    mask : array of bool of shape (n_samples, n_views), default=None
        False if the view is missing for the sample; None if no view is missing.
    sample_ids : sequence of shape (n_samples,), default=None
        An identifier for every row.

    Attributes
    ----------
    arrays : tuple of arrays
    names : tuple of str
    mask : ndarray of bool or None
    sample_ids : ndarray or None
    shape : tuple of int
        ``(n_samples, total number of columns)``.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion import Views
    >>> views = Views({"color": np.zeros((4, 2)), "shape": np.ones((4, 3))})
    >>> len(views), views.shape, views[:2].shape
    (4, (4, 5), (2, 5))
    """

    __slots__ = ("arrays", "mask", "names", "sample_ids")

    arrays: tuple[Array, ...]
    names: tuple[str, ...]
    mask: NDArray[np.bool_] | None
    sample_ids: NDArray[Any] | None

    def __init__(
        self,
        arrays: Sequence[Array] | Mapping[str, Array],
        names: Sequence[str] | None = None,
        mask: Array | None = None,
        sample_ids: Sequence[Any] | NDArray[Any] | None = None,
    ) -> None:
        if hasattr(arrays, "ndim"):
            shape = getattr(arrays, "shape", "unknown")
            raise ValueError(
                f"Views must be a list or a dict of arrays; got one array of shape {shape}. Use [X] for a single view."
            )
        if isinstance(arrays, Mapping):
            names = list(arrays) if names is None else names
            arrays = list(arrays.values())
        held = tuple(arrays)
        if not held:
            raise ValueError("Views contains no views. Give at least one array.")
        if names is None:
            names = [f"view_{position}" for position in range(len(held))]
        names = tuple(str(name) for name in names)
        if len(names) != len(held):
            raise ValueError(f"There are {len(held)} views but {len(names)} names. Give one name per view.")
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"View names must be unique, but {repeated} are repeated in {list(names)}.")
        for name, array in zip(names, held, strict=True):
            if len(getattr(array, "shape", ())) != 2:
                raise ValueError(
                    f"View {name!r} must be a two-dimensional array (rows are samples); got "
                    f"{type(array).__name__} with shape {getattr(array, 'shape', 'unknown')}."
                )
        rows = {name: array.shape[0] for name, array in zip(names, held, strict=True)}
        if len(set(rows.values())) > 1:
            raise ValueError(
                f"All views must have the same number of rows; got {rows}. Remove the samples with missing views, or "
                f"add rows of NaN for them."
            )
        n_samples = next(iter(rows.values()))
        if mask is not None:
            mask = np.array(mask, dtype=bool)
            mask.flags.writeable = False
            if mask.shape != (n_samples, len(held)):
                raise ValueError(f"mask must have shape {(n_samples, len(held))} (samples, views); got {mask.shape}.")
        ids = None
        if sample_ids is not None:
            ids = np.array(sample_ids)
            ids.flags.writeable = False
            if ids.shape != (n_samples,):
                raise ValueError(f"sample_ids must have shape {(n_samples,)}; got {ids.shape}.")
        for slot, value in (("arrays", held), ("names", names), ("mask", mask), ("sample_ids", ids)):
            object.__setattr__(self, slot, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Views are immutable: {name!r} cannot be set. Create new Views.")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and total number of columns."""
        return int(self.arrays[0].shape[0]), sum(int(array.shape[1]) for array in self.arrays)

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.arrays)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of columns of every view."""
        return tuple(int(array.shape[1]) for array in self.arrays)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Mask of observed views, also if `mask` is None; shape (n_samples, n_views)."""
        return np.ones((len(self), self.n_views), dtype=bool) if self.mask is None else self.mask

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Views:
        if isinstance(key, str):
            raise IndexError(
                f"Views are indexed by samples, not by {key!r}. A single view is dict(views.items())[{key!r}]."
            )
        if isinstance(key, tuple):
            if len(key) != 2 or not (key[1] is Ellipsis or key[1] == slice(None)):
                raise IndexError("Views are indexed by samples only. Use `arrays` or `items()` to access single views.")
            key = key[0]
        rows = np.atleast_1d(np.arange(len(self))[key])
        return Views(
            [_take_rows(array, rows) for array in self.arrays],
            self.names,
            None if self.mask is None else self.mask[rows],
            None if self.sample_ids is None else self.sample_ids[rows],
        )

    def __iter__(self) -> Iterator[Views]:
        raise TypeError("Views cannot be iterated. Use `arrays` for the views, or index samples.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Views, (self.arrays, self.names, self.mask, self.sample_ids)

    def items(self) -> Iterator[tuple[str, Array]]:
        """Pairs of name and array."""
        return iter(zip(self.names, self.arrays, strict=True))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {width}" for name, width in zip(self.names, self.widths, strict=True))
        return f"Views({len(self)} samples; {inside})"

    def _repr_html_(self) -> str:
        """A table with the columns of every view, how many samples have it, and the type of its values."""
        counts = self.observed.sum(axis=0)
        rows = "\n".join(
            f"<tr><td>{html.escape(name)}</td><td>{array.shape[1]}</td><td>{count}</td>"
            f"<td>{html.escape(type(array).__name__)}</td><td>{html.escape(str(getattr(array, 'dtype', '')))}</td></tr>"
            for (name, array), count in zip(self.items(), counts, strict=True)
        )
        header = "".join(f"<th>{name}</th>" for name in ("view", "columns", "samples", "type", "values"))
        return (
            f"<p><b>{len(self)} samples, {self.n_views} view{'s' * (self.n_views > 1)}</b></p>\n"
            f"<table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n"
        )


def _take_rows(array: Array, rows: NDArray[np.intp]) -> Array:
    if hasattr(array, "iloc"):
        return array.iloc[rows]
    if hasattr(array, "num_rows"):  # a table of pyarrow
        return array.take(rows)
    return array.tocsr()[rows] if hasattr(array, "tocsr") else array[rows]  # not every sparse format can be indexed


@dataclass(frozen=True, repr=False)
class MultiViewDataset:
    """A data set with several views, known classes and a description.

    Attributes
    ----------
    views : Views
        The views, by name.
    target : ndarray of shape (n_samples,) or None
        Known classes, for scoring only.
    name : str
        A short name.
    target_names : tuple of str
        Names of the classes, if known.
    description : str
        Source of the data and contents of the views.
    kind : {"features", "kernels"}
        Whether the views contain features (n × d) or precomputed kernels (n × n).
    feature_names : mapping of str to sequence of str
        Names of the columns of each view, if known.
    id_name : str
        Name of the column of sample ids in all files; empty if there is none, or if the names differ.
    """

    views: Views
    target: NDArray[Any] | None = None
    name: str = ""
    target_names: tuple[str, ...] = ()
    description: str = ""
    kind: Literal["features", "kernels"] = "features"
    feature_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    id_name: str = ""

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        classes = "" if self.target is None else f"; {len(np.unique(self.target))} known classes"
        return f"MultiViewDataset({name}{self.views!r}{classes})"
