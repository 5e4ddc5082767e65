"""Views that hold the labels of a clustering: from names of any type to a column of numbers, and the same later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from latefusion.encoding.label_coding import LabelCoding, is_label_view
from latefusion.similarities import GivenPartition
from latefusion.types import Views
from latefusion.validation.views import named_views


def fit_label_codings(X: Any, partition: Any) -> dict[str, LabelCoding]:
    """The codings of those views of a collection that hold labels.

    Parameters
    ----------
    X : Views, mapping of str to array, or sequence of arrays
    partition : object, or one per view
        A view holds labels where this says so, or where it is one-dimensional text or categories. Numbers in one
        dimension need the word, for they may be a feature.

    Returns
    -------
    dict of str to LabelCoding
    """
    if getattr(X, "ndim", 2) == 3:
        return {}
    codings = {}
    for position, (name, view) in enumerate(named_views(X).items()):
        spec = _spec_of(partition, position, name)
        named = isinstance(spec, GivenPartition) and spec.clusterer is None and spec.kind in ("auto", "labels")
        if (isinstance(spec, str) and spec == "labels") or (named and _has_one_column(view)) or is_label_view(view):
            codings[name] = LabelCoding.of(_column(view), name, spec.unassigned if named else None)
    return codings


def code_label_views(X: Any, codings: Mapping[str, LabelCoding]) -> Any:
    """The collection with numbers in the place of labels, -1 for samples that are unassigned.

    Parameters
    ----------
    X : Views, mapping of str to array, or sequence of arrays
    codings : mapping of str to LabelCoding
        Of the views that hold labels.

    Returns
    -------
    Views, dict or X itself
    """
    if not codings:
        return X
    coded = {
        name: _numbers(view, codings[name], name) if name in codings else view for name, view in named_views(X).items()
    }
    return Views(coded, mask=X.mask, sample_ids=X.sample_ids) if isinstance(X, Views) else coded


def _spec_of(partition: Any, position: int, name: str) -> Any:
    if isinstance(partition, Mapping):
        return partition.get(name)
    if isinstance(partition, (list, tuple)):
        return partition[position] if position < len(partition) else None
    return partition


def _has_one_column(view: Any) -> bool:
    shape = getattr(view, "shape", None)
    if shape is None:  # a list
        return not any(isinstance(one, (list, tuple)) or hasattr(one, "shape") for one in view)
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _column(view: Any) -> Any:
    """A data frame of one column as that column."""
    return view[view.columns[0]] if hasattr(view, "columns") and _has_one_column(view) else view


def _numbers(view: Any, coding: LabelCoding, name: str) -> Any:
    column = _column(view)
    codes = coding.codes(column, name).astype(np.float64)
    if hasattr(column, "iloc") and hasattr(column, "to_frame"):  # pandas: the index says which samples these are
        return column.to_frame("label").assign(label=codes)
    return codes[:, None]
