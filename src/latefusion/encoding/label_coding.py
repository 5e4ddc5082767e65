"""Labels of any type as integers: clusters from 0 up, and -1 for unassigned samples."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import is_device_array, to_numpy

# Values that mark a sample as unassigned, in addition to None and NaN; None stands for all negative integers.
Unassigned = Any


@dataclass(frozen=True)
class LabelCoding:
    """The names of the clusters of one labelling.

    Attributes
    ----------
    values : ndarray of shape (n_clusters,)
        Names of the clusters, sorted: integers, booleans or strings.
    unassigned : object, list of objects or None
        Labels of unassigned samples, in addition to None and NaN; by default (None) all negative integers.

    Examples
    --------
    >>> from latefusion.encoding.label_coding import LabelCoding
    >>> coding = LabelCoding.of(["b", "a", None, "b"], "leiden")
    >>> coding.codes(["a", "b", None], "leiden")
    array([ 0,  1, -1])
    """

    values: NDArray[Any]
    unassigned: Unassigned = None

    @classmethod
    def of(cls, labels: Any, name: str, unassigned: Unassigned = None) -> LabelCoding:
        """The coding of the labels of the training samples.

        Parameters
        ----------
        labels : array-like of shape (n_samples,) or (n_samples, 1)
        name : str
            Name of the view, for error messages.
        unassigned : object or list of objects, default=None

        Returns
        -------
        LabelCoding
        """
        array, missing = _clean(labels, name, unassigned)
        values = np.unique(array[~missing])
        n_assigned = int(np.count_nonzero(~missing))
        if len(values) < 2:
            found = f"only the cluster {values.tolist()[0]!r}" if len(values) else "no cluster at all"
            raise ValueError(
                f"View {name!r} has {found} among its {len(array)} labels ({len(array) - n_assigned} samples are "
                f"unassigned). It needs at least 2. Remove it; or, if negative labels are clusters, pass "
                f"unassigned=[]."
            )
        if len(values) == n_assigned and n_assigned > 2:
            raise ValueError(
                f"View {name!r} has {n_assigned} different labels for {n_assigned} samples: these are sample names or "
                f"values, not clusters. Remove it, or pass values as a two-dimensional array, array.reshape(-1, 1)."
            )
        return cls(values, unassigned)

    def codes(self, labels: Any, name: str) -> NDArray[np.intp]:
        """Cluster numbers of samples, -1 for unassigned samples; an unknown label is an error.

        Parameters
        ----------
        labels : array-like of shape (n_samples,) or (n_samples, 1)
        name : str

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        array, missing = _clean(labels, name, self.unassigned)
        codes = np.full(len(array), -1, dtype=np.intp)
        known = np.zeros(len(array), dtype=bool)
        if _is_text(array) == _is_text(self.values):
            found = np.minimum(np.searchsorted(self.values, array), len(self.values) - 1)
            known = ~missing & (self.values[found] == array)
            codes[known] = found[known]
        strange = np.flatnonzero(~known & ~missing)
        if len(strange):
            shown = ", ".join(repr(one) for one in self.values[:8].tolist())
            more = f" and {len(self.values) - 8} more" if len(self.values) > 8 else ""
            raise ValueError(
                f"View {name!r} has the label {array[strange[0]].item()!r} ({_sample(labels, strange[0])}), which no "
                f"training sample has; known are {shown}{more}. Give new samples labels of the same coding, or mark "
                f"them as unassigned (None, NaN or a negative integer)."
            )
        return codes


def _sample(labels: Any, row: int) -> str:
    """The name of a sample: its index in a pandas series or data frame, otherwise its row."""
    return f"sample {labels.index[row]!r}" if hasattr(labels, "iloc") else f"row {row}"


def is_label_view(view: Any) -> bool:
    """Whether a view must be labels: one-dimensional, and text or categories.

    A one-dimensional array of numbers may be a single feature; it counts as labels only on request.
    """
    if is_device_array(view) or isinstance(view, (str, bytes)):
        return False
    if isinstance(view, (list, tuple)):
        return len(view) > 0 and all(one is None or isinstance(one, str) for one in view)
    # Categorical and Series of pandas, and Series of polars, whose dtype is Categorical(...) or Enum(...)
    kind = str(getattr(view, "dtype", "")).lower()
    if len(getattr(view, "shape", ())) != 1 or not kind:
        return False
    if kind.startswith(("category", "categorical", "enum", "str")):
        return True
    array = np.asarray(view)
    return array.dtype.kind in "UST" or (array.dtype.kind == "O" and any(isinstance(one, str) for one in array))


def unassigned_samples(labels: Any, name: str, unassigned: Unassigned = None) -> NDArray[np.bool_]:
    """Which samples have no cluster.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or (n_samples, 1)
    name : str
        Name of the view, for error messages.
    unassigned : object or list of objects, default=None

    Returns
    -------
    ndarray of bool of shape (n_samples,)
    """
    return _clean(labels, name, unassigned)[1]


def _clean(labels: Any, name: str, unassigned: Unassigned) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Labels as integers, booleans or strings, and which of them are missing."""
    # Without dtype=object NumPy would quietly turn the list [1, "a"] into strings.
    array = to_numpy(labels) if hasattr(labels, "dtype") else np.asarray(labels, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"View {name!r} has shape {array.shape}, but labels must have shape (n_samples,).")
    missing = np.zeros(len(array), dtype=bool)
    if array.dtype.kind == "O":
        array, missing = _homogeneous(array, name)
    if array.dtype.kind == "f":
        array, missing = _whole_numbers(array, missing, name, labels)
    if array.dtype.kind not in "biuUST":
        raise ValueError(f"View {name!r} holds values of type {array.dtype}, but labels are integers or strings.")
    if unassigned is None:
        return array, missing | (array < 0) if array.dtype.kind == "i" else missing
    markers = unassigned if isinstance(unassigned, (list, tuple, set, np.ndarray)) else [unassigned]
    alike = [one for one in markers if isinstance(one, str) == _is_text(array) and _is_label(one)]
    return array, missing | np.isin(array, alike) if alike else missing


def _homogeneous(array: NDArray[np.object_], name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Convert an array of objects to numbers or text."""
    missing = np.array([not _is_label(one) for one in array], dtype=bool)
    present = array[~missing].tolist()
    texts = sum(isinstance(one, str) for one in present)
    if texts not in (0, len(present)) or not all(isinstance(one, (str, numbers.Real, np.bool_)) for one in present):
        kinds = sorted({type(one).__name__ for one in present})
        raise ValueError(
            f"View {name!r} holds labels of the types {kinds}: labels must all be integers or all be strings, since "
            f"it is unclear whether 1 and '1' are the same cluster. Convert them to one type."
        )
    values = np.asarray(present) if present else np.zeros(0, dtype=np.int64)
    cleaned = np.zeros(len(array), dtype=values.dtype)
    cleaned[~missing] = values
    return cleaned, missing


def _whole_numbers(
    array: NDArray[np.floating], missing: NDArray[np.bool_], name: str, labels: Any
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Convert floats that are integers, as in tables with missing labels."""
    missing = missing | np.isnan(array)
    fractional = np.flatnonzero(~missing & ~((array == np.round(array)) & (np.abs(array) < 2**53)))
    if len(fractional):
        raise ValueError(
            f"View {name!r} holds {array[fractional[0]].item()!r} ({_sample(labels, fractional[0])}), which is not a "
            f"label: labels are integers or strings. If it is a feature, make it two-dimensional: array.reshape(-1, 1)."
        )
    return np.where(missing, 0, array).astype(np.int64), missing


def _is_label(value: object) -> bool:
    # pandas marks missing values with objects that cannot be compared
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return False
    return not (isinstance(value, (float, np.floating)) and np.isnan(value))


def _is_text(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "UST"
