"""A fitted model, written into the MuData or AnnData object that its views came from."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import to_numpy
from latefusion.version import __version__


def annotate(
    data: Any,
    model: Any,
    *,
    key_added: str = "latefusion",
    weight_key: str | None = "mod_weight",
    read_as: Mapping[str, str] | None = None,
) -> None:
    """Write what a model found about cells into the object that they came from.

    Parameters
    ----------
    data : MuData or AnnData
    model : fitted estimator
        Of views of ``read_views(data)``, or of ``data`` itself.
    key_added : str, default="latefusion"
    weight_key : str, default="mod_weight"
        Ending of the columns with the weights of views, ``rna:mod_weight`` and so on, as muon names them. None writes
        none.
    read_as : mapping of str to str, default=None
        How views were read, for the record.

    Notes
    -----
    ============================== =====================================================================
    ``obs[key]``                   clusters, as categories; missing for cells that the model has not seen
    ``obs[key_confidence]``        from 0 (between two clusters) to 1
    ``obs[view:mod_weight]``       what every view has to do with the cluster of a cell; they sum to one
    ``obsm[X_key]``                the consensus partition
    ``uns[key]``                   weights of views, agreement, what was chosen and why, parameters, version
    ============================== =====================================================================
    """
    check_is_fitted(model)
    pandas: Any = importlib.import_module("pandas")  # obs is a frame of pandas
    rows = _rows_of(data, model)
    labels = np.full(data.n_obs, None, dtype=object)
    labels[rows] = [str(one) for one in to_numpy(model.labels_).tolist()]
    names = [str(one) for one in np.unique(to_numpy(model.labels_)).tolist()]
    data.obs[key_added] = pandas.Categorical(labels, categories=names)
    if hasattr(model, "confidence_"):
        data.obs[f"{key_added}_confidence"] = _spread(to_numpy(model.confidence_), rows, data.n_obs)
    if weight_key is not None and hasattr(model, "sample_view_weights"):
        for name, weights in zip(model.view_names_, model.sample_view_weights().T, strict=True):
            data.obs[f"{name}:{weight_key}"] = _spread(weights, rows, data.n_obs)
    if hasattr(model, "consensus_"):
        data.obsm[f"X_{key_added}"] = _spread(to_numpy(model.consensus_), rows, data.n_obs)
    data.uns[key_added] = _record(model, read_as or {}, pandas)


def _rows_of(data: Any, model: Any) -> NDArray[np.intp]:
    """The rows in the object of the samples of a model."""
    ids = getattr(model, "sample_ids_", None)
    if ids is None:
        if len(model.labels_) != data.n_obs:
            raise ValueError(
                f"The model was fitted on {len(model.labels_)} samples without names, but there are {data.n_obs} "
                f"cells: fit it on read_views(data).views."
            )
        return np.arange(data.n_obs)
    rows = np.asarray(data.obs_names.get_indexer([str(one) for one in ids]))
    if (rows < 0).any():
        raise ValueError(
            f"{int((rows < 0).sum())} samples of the model are not among the cells, such as {str(ids[rows < 0][0])!r}: "
            f"give the object that it was fitted on."
        )
    return rows


def _spread(values: NDArray[Any], rows: NDArray[np.intp], n_cells: int) -> NDArray[Any]:
    """Values of some cells among all of them, NaN for the others."""
    if len(rows) == n_cells and (rows == np.arange(n_cells)).all():
        return values
    whole = np.full((n_cells, *values.shape[1:]), np.nan, dtype=values.dtype)
    whole[rows] = values
    return whole


def _record(model: Any, read_as: Mapping[str, str], pandas: Any) -> dict[str, Any]:
    """What files of AnnData can hold: dicts of words, numbers, arrays and frames."""
    names = [str(name) for name in model.view_names_]
    record: dict[str, Any] = {
        "method": type(model).__name__,
        "version": __version__,
        "n_clusters": len(np.unique(to_numpy(model.labels_))),
        "params": {key: _plain(value) for key, value in model.get_params(deep=False).items() if value is not None},
    }
    for key in ("view_weights", "agreement"):
        found: Any = getattr(model, f"{key}_", None)
        if np.shape(found) == (len(names),):
            record[key] = dict(zip(names, np.asarray(found, dtype=float).tolist(), strict=True))
    if read_as:
        record["read_as"] = {name: str(told) for name, told in read_as.items()}
    if hasattr(model, "view_kinds_"):
        record["view_kinds"] = {name: str(kind) for name, kind in model.view_kinds_.items()}
    if hasattr(model, "selection_"):
        record["selection"] = pandas.DataFrame(model.selection_.to_dict()).rename(index=str)
        record["reason"] = model.selection_.reason
    if hasattr(model, "number_selection_"):
        evidence = model.number_selection_.evidence
        record["number_selection"] = pandas.DataFrame([one._asdict() for one in evidence]).rename(index=str)
        record["number_reason"] = model.number_selection_.reason
    return record


def _plain(value: Any) -> Any:
    """Words and numbers as they are, everything else as text."""
    return value if isinstance(value, (bool, int, float, str)) else repr(value)
