"""Lazy labels, memberships and consensus rows of chunked samples, by a model fitted in memory or on chunked views."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.distributed.passes import lazy_rows
from latefusion.distributed.stores import chunked_views
from latefusion.types import Array

# Attributes that new samples need.
OF_NEW_SAMPLES = ("consensus_map_", "input_schema_", "view_names_", "view_weights_")


def predict(model: Any, X: Any, *, return_confidence: bool = False, return_novelty: bool = False) -> Any:
    """Labels of chunked samples, one task per chunk.

    Parameters
    ----------
    model : estimator
        Fitted in memory or on chunked views.
    X : as in `fit` of `latefusion.distributed.GlobalAlignmentClustering`
    return_confidence, return_novelty : bool, default=False
        Whether to return these as well, as in memory.

    Returns
    -------
    dask.array.Array of shape (n_samples,), or a tuple of these
    """
    options = {"return_confidence": return_confidence, "return_novelty": return_novelty}
    n_more = sum(options.values())
    found = _lazy(model, X, "predict", options, 1 + n_more if n_more else None, np.float64 if n_more else np.intp)
    return (found[:, 0].astype(np.intp), *(found[:, one] for one in range(1, 1 + n_more))) if n_more else found


def transform(model: Any, X: Any) -> da.Array:
    """Consensus rows of chunked samples, one task per chunk.

    Parameters
    ----------
    model : estimator
        Fitted in memory or on chunked views.
    X : as in `fit` of `latefusion.distributed.GlobalAlignmentClustering`

    Returns
    -------
    dask.array.Array of shape (n_samples, n_clusters)
    """
    check_is_fitted(model)
    return _lazy(model, X, "transform", {}, int(model._n_features_out), model.consensus_.dtype)


def predict_proba(model: Any, X: Any) -> da.Array:
    """Memberships of chunked samples in all clusters, one task per chunk.

    Parameters
    ----------
    model : estimator
        Fitted in memory or on chunked views, with calibrated memberships.
    X : as in `fit` of `latefusion.distributed.GlobalAlignmentClustering`

    Returns
    -------
    dask.array.Array of shape (n_samples, n_clusters)
    """
    check_is_fitted(model)
    calibration = model.calibration_  # computed once, not by every task
    return _lazy(model, X, "predict_proba", {}, int(model._n_features_out), np.float64, calibration_=calibration)


def _lazy(
    model: Any, X: Any, method: str, options: dict[str, bool], width: int | None, dtype: Any, **known: Any
) -> da.Array:
    check_is_fitted(model)
    views = chunked_views(X, names=tuple(map(str, model.view_names_)))
    # Names and widths are checked by one sample of zeros, before anything is computed; values are checked in chunks.
    model.new_views({name: np.zeros((1, width)) for name, width in zip(views.names, views.widths, strict=True)})
    light = without_samples(model)
    vars(light).update(known)
    rows = partial(_apply, light, method, options, views.names)
    return lazy_rows(views, rows, method, width=width, dtype=dtype)


def without_samples(model: Any) -> Any:
    """A copy without the values of single training samples, small enough to be sent to every worker."""
    light = type(model)(**model.get_params(deep=False))
    for name in OF_NEW_SAMPLES:
        setattr(light, name, getattr(model, name))
    return light


def _apply(
    model: Any, method: str, options: dict[str, bool], names: Sequence[str], blocks: Sequence[Array], numbers: Any
) -> NDArray[Any]:
    try:
        found = getattr(model, method)(dict(zip(names, blocks, strict=True)), **options)  # in memory, as the blocks are
    except ValueError as error:
        raise ValueError(f"Rows {numbers[0]} to {numbers[-1]}: {error}") from error
    return np.asarray(np.column_stack(found) if isinstance(found, tuple) else found)
