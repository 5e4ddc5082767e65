"""Results of a fitted model in the MuData or AnnData object that its views came from."""

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
    """Write the results of a model into the object that its cells came from.

    Parameters
    ----------
    data : MuData or AnnData
    model : fitted estimator
        Fitted on the views of ``read_views(data)``, or on ``data`` itself.
    key_added : str, default="latefusion"
        Name of the results, ``key`` below.
    weight_key : str, default="mod_weight"
        Suffix of the columns with the weights of views, as in muon: ``rna:mod_weight`` and so on. None omits them;
        models that were loaded from a file need that.
    read_as : mapping of str to str, default=None
        How views were read, for ``uns``.

    Notes
    -----
    ============================== =====================================================================
    ``obs[key]``                   clusters, as categories; missing for cells that were not in the fit
    ``obs[key_confidence]``        from 0 (between two clusters) to 1
    ``obs[view:mod_weight]``       contribution of every view to the cluster of a cell; they sum to one
    ``obsm[X_key]``                the consensus partition
    ``uns[key]``                   weights and agreement of views, selection and its reason, parameters, version
    ============================== =====================================================================
    """
    check_is_fitted(model)
    pandas: Any = importlib.import_module("pandas")  # obs is a frame of pandas
    rows = _rows_of(data, model)
    weights = None if weight_key is None else _cell_weights(model)  # an error leaves the object unchanged
    labels = np.full(data.n_obs, None, dtype=object)
    labels[rows] = [str(one) for one in to_numpy(model.labels_).tolist()]
    names = [str(one) for one in np.unique(to_numpy(model.labels_)).tolist()]
    data.obs[key_added] = pandas.Categorical(labels, categories=names)
    if hasattr(model, "confidence_"):
        data.obs[f"{key_added}_confidence"] = _for_all_cells(to_numpy(model.confidence_), rows, data.n_obs)
    if weights is not None:
        for name, own in zip(model.view_names_, weights.T, strict=True):
            data.obs[f"{name}:{weight_key}"] = _for_all_cells(own, rows, data.n_obs)
    if hasattr(model, "consensus_"):
        data.obsm[f"X_{key_added}"] = _for_all_cells(to_numpy(model.consensus_), rows, data.n_obs)
    data.uns[key_added] = _record(model, read_as or {}, pandas)


def _rows_of(data: Any, model: Any) -> NDArray[np.intp]:
    """The rows of the training samples of a model in the object."""
    ids = getattr(model, "sample_ids_", None)
    if ids is None:
        if len(model.labels_) != data.n_obs:
            raise ValueError(
                f"The model was fitted on {len(model.labels_)} samples without ids, but the object has {data.n_obs} "
                f"cells. Fit the model on read_views(data).views."
            )
        return np.arange(data.n_obs)
    rows = np.asarray(data.obs_names.get_indexer([str(one) for one in ids]))
    if (rows < 0).any():
        raise ValueError(
            f"{int((rows < 0).sum())} training samples of the model are not cells of the object, such as "
            f"{str(ids[rows < 0][0])!r}. Give the object that the model was fitted on."
        )
    return rows


def _cell_weights(model: Any) -> NDArray[np.float64] | None:
    """Weights of views per training sample; None for methods without."""
    if not hasattr(model, "sample_view_weights"):
        return None
    try:
        weights: NDArray[np.float64] = model.sample_view_weights()
    except ValueError as error:
        raise ValueError(f"{error} Or pass weight_key=None to write the other results only.") from error
    return weights


def _for_all_cells(values: NDArray[Any], rows: NDArray[np.intp], n_cells: int) -> NDArray[Any]:
    """Values of some cells as values of all cells, NaN for the others."""
    if len(rows) == n_cells and (rows == np.arange(n_cells)).all():
        return values
    whole = np.full((n_cells, *values.shape[1:]), np.nan, dtype=values.dtype)
    whole[rows] = values
    return whole


def _record(model: Any, read_as: Mapping[str, str], pandas: Any) -> dict[str, Any]:
    """The content of ``uns``, as AnnData files can hold it: dicts of text, numbers, arrays and frames."""
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
        record["read_as"] = {name: str(how) for name, how in read_as.items()}
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
    """Text and numbers as they are, everything else as text."""
    return value if isinstance(value, (bool, int, float, str)) else repr(value)
