"""Views that contain cluster labels: conversion of labels of any type to a column of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.label_coding import LabelCoding, is_label_view
from latefusion.similarities import GivenPartition


def label_coding(view: Any, spec: Any, name: str) -> LabelCoding | None:
    """The coding of a view that contains labels; None for other views.

    Parameters
    ----------
    view : array, data frame, series or list
    spec : object
        The ``similarity`` of the view. A view contains labels if this is "labels", or if it is a one-dimensional array
        of text or categories. A one-dimensional array of numbers may be a feature.
    name : str
        For error messages.

    Returns
    -------
    LabelCoding or None
    """
    given = isinstance(spec, GivenPartition) and spec.clusterer is None and spec.kind in ("auto", "labels")
    if (isinstance(spec, str) and spec == "labels") or (given and _has_one_column(view)) or is_label_view(view):
        return LabelCoding.of(_column(view), name, spec.unassigned if given else None)
    return None


def label_codes(view: Any, coding: LabelCoding, name: str) -> NDArray[np.float64]:
    """Labels as integers, -1 for unassigned samples; shape (n_samples, 1).

    Parameters
    ----------
    view : array, data frame, series or list
    coding : LabelCoding
    name : str
        For error messages.

    Returns
    -------
    ndarray of shape (n_samples, 1)
    """
    return coding.codes(_column(view), name).astype(np.float64)[:, None]


def _has_one_column(view: Any) -> bool:
    shape = getattr(view, "shape", None)
    if shape is None:  # a list
        return not any(isinstance(one, (list, tuple)) or hasattr(one, "shape") for one in view)
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _column(view: Any) -> Any:
    """A data frame of one column as that column."""
    return view[view.columns[0]] if hasattr(view, "columns") and _has_one_column(view) else view
