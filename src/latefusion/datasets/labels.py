"""Conversion of classes in files (integers, words, one-hot tables) to integers 0 … k−1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.types import Array

# Usual names of the variable with the classes, most common first; compared without case and underscores.
LABEL_KEYS = (
    "y",
    "gt",
    "gnd",
    "truth",
    "labels",
    "label",
    "truelabel",
    "truelabels",
    "groundtruth",
    "gtlabel",
    "class",
    "target",
    "targets",
)
# Names of columns that can only be classes. Fewer than above: a column "y" may be a measurement.
LABEL_COLUMNS = ("label", "labels", "class", "target", "celltype")


def plain(name: object) -> str:
    """A name without case, spaces and underscores: `true_label`, `TrueLabel` and `truelabel` are equal."""
    return "".join(sign for sign in str(name).lower() if sign.isalnum())


def encode_labels(
    values: Array, where: str, samples: Sequence[Any] | None = None
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Classes as numbers 0 … k−1, and their names if they were words.

    Parameters
    ----------
    values : array
        A vector (also with a second axis of length one) of whole numbers or words, or a one-hot table: zeros and ones,
        a single one per sample, samples in rows or in columns.
    where : str
        File and key, for error messages.
    samples : sequence, default=None
        Ids of the samples, for error messages; by default they are counted from 1.

    Returns
    -------
    target : ndarray of shape (n_samples,)
    target_names : tuple of str
        Empty when the classes were numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.datasets.labels import encode_labels
    >>> encode_labels(np.array([[2.0], [1.0], [2.0]]), "toy")
    (array([1, 0, 1]), ())
    >>> encode_labels(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]]), "one-hot")[0]
    array([1, 0, 2])
    >>> encode_labels(np.array(["cat", "dog", "cat"]), "animals")
    (array([0, 1, 0]), ('cat', 'dog'))
    """
    table = values.toarray() if scipy.sparse.issparse(values) else np.asarray(values)
    if table.ndim == 2 and min(table.shape) > 1:
        table = _from_one_hot(table, where)
    vector = table.ravel()
    if not vector.size:
        raise ValueError(f"{where}: the labels are empty.")
    if vector.dtype.kind in "OUS":
        return _from_words(vector, where, samples)
    if vector.dtype.kind not in "biuf":
        raise ValueError(f"{where}: labels must be integers or text; got type {vector.dtype}.")
    if vector.dtype.kind == "f":
        odd = np.flatnonzero(~np.isfinite(vector) | (vector != np.round(vector)))
        if odd.size:
            raise ValueError(
                f"{where}: the label of {_sample(odd[0], samples)} is {vector[odd[0]]}, but labels must be integers or "
                f"text. {odd.size} of {vector.size} labels are not. Remove the samples without a class."
            )
    return np.unique(vector, return_inverse=True)[1].astype(np.int64), ()


def _from_one_hot(table: NDArray[Any], where: str) -> NDArray[Any]:
    if table.dtype.kind in "biuf" and np.isin(table, (0, 1)).all():
        # If both axes are possible, samples are the longer one: there are no more classes than samples.
        for axis in (1, 0) if table.shape[0] >= table.shape[1] else (0, 1):
            if (table.sum(axis=axis) == 1).all():
                return np.asarray(table.argmax(axis=axis))
    raise ValueError(
        f"{where}: labels must be one value per sample or a one-hot table (zeros and ones, a single one per sample); "
        f"got shape {table.shape}."
    )


def _sample(position: int, samples: Sequence[Any] | None) -> str:
    return f"sample {position + 1}" if samples is None else f"sample {samples[position]!r}"


def _from_words(
    vector: NDArray[Any], where: str, samples: Sequence[Any] | None
) -> tuple[NDArray[Any], tuple[str, ...]]:
    empty = [position for position, value in enumerate(vector) if value is None or value != value or value == ""]
    if empty:
        raise ValueError(
            f"{where}: {len(empty)} of {len(vector)} samples have no label, such as {_sample(empty[0], samples)}. "
            f"Remove these samples, or the labels."
        )
    names, codes = np.unique([str(value) for value in vector], return_inverse=True)
    return codes.astype(np.int64), tuple(names.tolist())
