"""Tables that describe clusters in place of the columns of a view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from latefusion.datasets.modalities import in_memory, is_mudata
from latefusion.scverse.counts import comparable, modality_kind
from latefusion.types import Array


class Features(NamedTuple):
    """A table of features of the samples.

    Attributes
    ----------
    values : array or sparse matrix of shape (n_rows, n_features)
    names : list of str
    ids : ndarray of shape (n_rows,) or None
        Identifier of the sample in every row; None where rows are in the order of the samples.
    """

    values: Array
    names: list[str]
    ids: NDArray[Any] | None = None


class Described(NamedTuple):
    """Features of all samples, in their order.

    Attributes
    ----------
    values : array or sparse matrix of shape (n_samples, n_features)
    names : list of str
    observed : ndarray of bool of shape (n_samples,)
        Samples that are in the table; the rows of the others have no meaning.
    """

    values: Array
    names: list[str]
    observed: NDArray[np.bool_]


def read_features(given: Any, n_samples: int, ids: list[str] | None) -> dict[str, Described]:
    """Tables of features, by name of the view.

    Parameters
    ----------
    given : MuData, or mapping of str to Features, AnnData or data frame
    n_samples : int
    ids : list of str or None
        Identifiers of the samples. Rows of tables with identifiers are matched by them.

    Returns
    -------
    dict of str to Described
    """
    tables = given.mod if is_mudata(given) else given
    if not isinstance(tables, Mapping):
        raise TypeError(
            f"features must be a MuData object or a dict of tables by name of the view, got {type(given).__name__}."
        )
    return {str(name): _in_order(_read(table, str(name)), str(name), n_samples, ids) for name, table in tables.items()}


def _read(table: Any, name: str) -> Features:
    if isinstance(table, Features):
        return table
    where = f"features of view {name!r}"
    if hasattr(table, "var_names"):  # AnnData
        types = set(table.var["feature_types"]) if "feature_types" in table.var else ()
        values = comparable(in_memory(table.X, where), modality_kind(name, types))
        return Features(values, [str(one) for one in table.var_names], np.asarray(table.obs_names, dtype=str))
    if hasattr(table, "columns"):
        index = getattr(table, "index", None)  # pandas only
        named = index is not None and index.dtype.kind not in "iu"
        ids = np.asarray(index, dtype=str) if named else None
        return Features(in_memory(table, where), [str(one) for one in table.columns], ids)
    raise TypeError(
        f"The {where} must be Features, an AnnData object or a data frame, but are a {type(table).__name__}."
    )


def _in_order(table: Features, name: str, n_samples: int, ids: list[str] | None) -> Described:
    values = csr_array(table.values) if issparse(table.values) else table.values
    if len(table.names) != values.shape[1]:
        raise ValueError(
            f"The features of view {name!r} have {values.shape[1]} columns, but {len(table.names)} names were given."
        )
    if table.ids is None or ids is None:
        if values.shape[0] != n_samples:
            raise ValueError(
                f"The features of view {name!r} have {values.shape[0]} rows, but the model was fitted on {n_samples} "
                f"samples. Give one row per sample, or give ids of the rows and of the samples."
            )
        return Described(values, table.names, np.ones(n_samples, dtype=bool))
    row_of = {str(one): row for row, one in enumerate(table.ids)}
    rows = np.array([row_of.get(one, -1) for one in ids], dtype=np.intp)
    if (rows < 0).all():
        raise ValueError(
            f"The features of view {name!r} and the samples have no id in common: the first row of the features is "
            f"{str(table.ids[0])!r}, the first sample is {ids[0]!r}."
        )
    return Described(values[np.maximum(rows, 0)], table.names, rows >= 0)
