"""Views in ``.h5ad`` files, the format of AnnData: the matrix X, divided by types of features where there are several.

Representations in ``obsm`` (principal components, UMAP) are computed from X, so they are not separate views. In Python,
`latefusion.scverse.read_views` can read them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from latefusion.datasets.h5mu import (
    classes_of,
    find_labels,
    opened,
    read_column,
    read_ids,
    read_matrix,
    read_names,
)
from latefusion.types import MultiViewDataset, Views

FEATURE_TYPES = "feature_types"


def read_h5ad(file: Path, *, label_column: str | None = None) -> MultiViewDataset:
    """The data set in an ``.h5ad`` file.

    Parameters
    ----------
    file : Path
    label_column : str, default=None
        The column of ``obs`` with the classes; by default a column named ``cell_type``, ``label`` or similar.

    Returns
    -------
    MultiViewDataset
        One view with the name of the file, or one per type of features in ``var["feature_types"]``, named by the type.
    """
    with opened(file, "AnnData") as root:
        missing = [key for key in ("X", "obs", "var") if key not in root]
        if missing:
            hint = " It looks like a file of MuData: rename it to end in .h5mu." if "mod" in root else ""
            raise ValueError(f"{str(file)!r} has no {missing[0]!r}; it has {', '.join(root) or 'nothing'}.{hint}")
        matrix, ids, names = read_matrix(root, repr(str(file))), read_ids(root["obs"]), read_names(root["var"])
        types = [""] * len(names)
        if FEATURE_TYPES in root["var"]:
            types = [str(one) for one in read_column(root["var"][FEATURE_TYPES], f"{str(file)!r}, {FEATURE_TYPES}")]
        labels = find_labels(root, {}, label_column, file)
    if matrix.shape != (len(ids), len(names)) or len(types) != len(names):
        raise ValueError(
            f"{str(file)!r} is damaged: X has shape {matrix.shape}, but there are {len(ids)} samples in obs and "
            f"{len(names)} features in var."
        )
    kinds = list(dict.fromkeys(types))
    chosen = (
        {file.stem: slice(None)}
        if len(kinds) < 2
        else {kind: np.flatnonzero(np.array(types) == kind) for kind in kinds}
    )
    target, target_names, column = classes_of(labels, ids, label_column is not None, file)
    return MultiViewDataset(
        views=Views({name: matrix[:, columns] for name, columns in chosen.items()}, sample_ids=ids),
        target=target,
        name=file.stem,
        target_names=target_names,
        description=f"Read from {file.name}: {len(ids)} samples"
        + (f", classes from {column!r}." if target is not None else "."),
        feature_names={name: names[columns].tolist() for name, columns in chosen.items()},
    )
