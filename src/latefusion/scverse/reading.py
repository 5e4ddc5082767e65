"""Views of MuData and AnnData objects, and a record of how each was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from latefusion.datasets.modalities import in_memory, is_mudata, modality_views
from latefusion.scverse.counts import (
    N_COMPONENTS,
    are_counts,
    center_log_ratios,
    log_normalize,
    modality_kind,
    principal_components,
)
from latefusion.types import Array, Views

# Representations that are preferred to X, as scanpy and muon compute them.
KNOWN_REPRESENTATIONS = ("X_pca", "X_lsi")

UseRep = str | Sequence[str] | Mapping[str, str] | None


class Reading(NamedTuple):
    """Views and how they were read.

    Attributes
    ----------
    views : Views
        With the names of the cells as ``sample_ids``, and a mask if modalities are missing for some cells.
    read_as : dict of str to str
        Which representation every view is, and how it was normalised.
    """

    views: Views
    read_as: dict[str, str]


def read_views(data: Any, use_rep: UseRep = None) -> Reading:
    """The views in a MuData or AnnData object.

    Parameters
    ----------
    data : MuData or AnnData
        Every modality is a view. The views of an AnnData object are the representations in ``use_rep``, or else the
        types of features in ``var["feature_types"]``.
    use_rep : str, sequence or mapping of str to str, default=None
        Representations: keys of ``obsm``, or "X" for the matrix as it is. For MuData one for all modalities, or a
        mapping by modality, which excludes the others. For AnnData a list with one per view. By default ``X_pca`` or
        ``X_lsi``, if it exists, and otherwise ``X``: counts of RNA are log-normalised, counts of proteins become
        centred log ratios, expression is reduced to 50 principal components (of the features in
        ``var["highly_variable"]``, if that exists), and other matrices are not changed.

    Returns
    -------
    Reading

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from latefusion.scverse import read_views
    >>> adata = anndata.AnnData(obsm={"X_pca": np.eye(4), "X_image": np.ones((4, 2))})
    >>> read_views(adata, ["X_pca", "X_image"]).views
    Views(4 samples; X_pca: 4, X_image: 2)
    """
    if is_mudata(data):
        return _read_mudata(data, use_rep)
    if not hasattr(data, "obsm") or not hasattr(data, "obs_names"):
        raise TypeError(f"Give a MuData or an AnnData object, got {type(data).__name__}.")
    parts = _split_features(data) if use_rep is None else _representations(data, use_rep)
    matrices = {name: matrix for name, (matrix, _) in parts.items()}
    ids = np.asarray(data.obs_names, dtype=str)
    return Reading(Views(matrices, sample_ids=ids), {name: how for name, (_, how) in parts.items()})


def normalize_modalities(views: Views) -> Reading:
    """Normalise views by the names of modalities: counts of proteins become centred log ratios.

    The normalisation of a cell does not depend on other cells, so new cells are normalised in the same way. Counts of
    RNA stay counts, which estimators scale.

    Parameters
    ----------
    views : Views

    Returns
    -------
    Reading
        ``read_as`` contains the views that were changed.
    """
    arrays, read_as = dict(views.items()), {}
    for (name, array), observed in zip(views.items(), views.observed.T, strict=True):
        own = array[np.flatnonzero(observed)]
        if modality_kind(name) == "protein" and are_counts(own):
            arrays[name] = np.full(array.shape, np.nan)
            arrays[name][observed] = center_log_ratios(own)
            read_as[name] = "counts to centred log ratios"
    return Reading(Views(arrays, mask=views.mask, sample_ids=views.sample_ids), read_as)


def _read_mudata(mdata: Any, use_rep: UseRep) -> Reading:
    names = list(mdata.mod)
    if isinstance(use_rep, Mapping):
        unknown = [name for name in use_rep if name not in names]
        if unknown:
            raise ValueError(f"use_rep names {unknown}, which are not modalities. The modalities are {names}.")
        names = [name for name in names if name in use_rep]
    elif use_rep is not None and not isinstance(use_rep, str):
        raise ValueError(
            f"use_rep must be one key for all modalities or a dict by modality, got {use_rep!r}. Use for example "
            f"{dict.fromkeys(names, 'X_pca')}."
        )
    matrices, read_as = {}, {}
    for name in names:
        wanted = use_rep[name] if isinstance(use_rep, Mapping) else use_rep
        where = f"modality {name!r}"
        own = mdata.mod[name]
        matrices[name], read_as[name] = (
            _read_modality(own, name) if wanted is None else _representation(own, wanted, where)
        )
    views = modality_views(mdata, matrices)
    if views.mask is not None and len(names) < len(mdata.mod):  # some cells may be in other modalities only
        views = views[views.mask.any(axis=1)]
    return Reading(views, read_as)


def _read_modality(adata: Any, name: str) -> tuple[Array, str]:
    for key in KNOWN_REPRESENTATIONS:
        if key in adata.obsm:
            return _representation(adata, key, f"modality {name!r}")
    return _read_matrix(adata, name, _feature_types(adata))


def _read_matrix(adata: Any, name: str, feature_types: Sequence[str]) -> tuple[Array, str]:
    """The matrix X, normalised by the kind of its features."""
    matrix, kind, steps = in_memory(adata.X, f"modality {name!r}"), modality_kind(name, set(feature_types)), ["X"]
    counts = are_counts(matrix)
    if kind == "protein" and counts:
        return center_log_ratios(matrix), "X, counts to centred log ratios"
    if kind != "rna":
        return matrix, "X"
    if counts:
        matrix = log_normalize(matrix)
        steps.append("counts log-normalised")
    if "highly_variable" in adata.var:
        chosen = np.flatnonzero(np.asarray(adata.var["highly_variable"], dtype=bool))
        matrix = matrix[:, chosen]
        steps.append(f"{len(chosen)} highly variable features")
    if min(matrix.shape) > N_COMPONENTS:
        matrix = principal_components(matrix)
        steps.append(f"{matrix.shape[1]} principal components")
    return matrix, ", ".join(steps)


def _split_features(adata: Any) -> dict[str, tuple[Array, str]]:
    types = _feature_types(adata)
    if len(set(types)) < 2:
        raise ValueError(
            f"This AnnData object has one type of features. Name the representations to use as views in use_rep: it "
            f"has {['X', *adata.obsm]}."
        )
    parts = {}
    for name in dict.fromkeys(types):
        chosen = np.flatnonzero([one == name for one in types])
        parts[name] = _read_matrix(adata[:, chosen], name, [name])
    return parts


def _representations(adata: Any, use_rep: UseRep) -> dict[str, tuple[Array, str]]:
    if isinstance(use_rep, Mapping):
        named = {str(name): key for name, key in use_rep.items()}
    else:
        named = {key: key for key in ([use_rep] if isinstance(use_rep, str) else use_rep or ())}
    if not named:
        raise ValueError(f"use_rep is empty. Name at least one of {['X', *adata.obsm]}.")
    return {name: _representation(adata, key, "this AnnData object") for name, key in named.items()}


def _representation(adata: Any, key: str, where: str) -> tuple[Array, str]:
    if key == "X":
        return in_memory(adata.X, where), "X"
    if key not in adata.obsm:
        raise ValueError(f"{where} has no representation {key!r}. It has {['X', *adata.obsm]}.")
    return in_memory(adata.obsm[key], f"{key!r} of {where}"), key


def _feature_types(adata: Any) -> list[str]:
    return [str(one) for one in adata.var["feature_types"]] if "feature_types" in adata.var else []
