"""Counts of cells in ``.h5`` files of 10x Genomics (Cell Ranger): one view per type of features.

Cell Ranger 3 and later write one group ``matrix`` with ``data``, ``indices``, ``indptr``, ``shape``, ``barcodes`` and
the table ``features``. Version 2 writes one such group per genome, with ``genes`` and ``gene_names`` instead of
``features``. The shape is features × cells, stored by cells.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.datasets.h5mu import opened, sparse_matrix
from latefusion.datasets.joining import Part, join_samples
from latefusion.types import MultiViewDataset

GENES = "Gene Expression"
PARTS = ("data", "indices", "indptr", "shape", "barcodes")


def read_tenx(file: Path) -> MultiViewDataset:
    """The data set in an ``.h5`` file of 10x Genomics.

    Parameters
    ----------
    file : Path

    Returns
    -------
    MultiViewDataset
        Sparse counts, one view per type of features ("Gene Expression", "Antibody Capture", "Peaks"), or per genome in
        files of version 2 with several. Sample ids are the barcodes, features have their names.
    """
    parts: dict[str, Part] = {}
    with opened(file, "10x Genomics") as root:
        groups = _groups(root, file)
        for group in groups:
            matrix = _read_matrix(group, file)
            names, types = _read_features(group, file, several=len(groups) > 1)
            barcodes = _strings(group["barcodes"])
            if matrix.shape != (len(barcodes), len(names)) or len(types) != len(names):
                raise ValueError(
                    f"{str(file)!r} is damaged: {group.name} has a matrix of {matrix.shape[1]} features and "
                    f"{matrix.shape[0]} cells, but {len(names)} features and {len(barcodes)} barcodes."
                )
            _check_barcodes(barcodes, group.name, file)
            for kind in dict.fromkeys(types.tolist()):
                columns = np.flatnonzero(types == kind)
                array = matrix if len(columns) == len(names) else scipy.sparse.csr_array(matrix[:, columns])
                parts[kind] = Part(array, barcodes, f"{file}, {kind}", names[columns].tolist())
    if not parts:
        raise ValueError(f"{str(file)!r} contains no features.")
    views = join_samples(parts)
    return MultiViewDataset(
        views=views,
        name=file.stem,
        description=f"Read from {file.name}: {len(views)} cells of 10x Genomics.",
        feature_names={name: part.columns for name, part in parts.items()},
    )


def _groups(root: Any, file: Path) -> list[Any]:
    """The group of version 3, or those of all genomes of version 2."""
    found = [root[name] for name in root if hasattr(root[name], "keys") and set(PARTS) <= set(root[name])]
    if found:
        return found
    hint = ""
    if "mod" in root and "obs" in root:
        hint = " It looks like a file of MuData: rename it to end in .h5mu."
    elif "X" in root and "obs" in root:
        hint = " It looks like a file of AnnData: rename it to end in .h5ad."
    raise ValueError(
        f"{str(file)!r} is not a matrix of 10x Genomics: a group with {', '.join(PARTS)} is required; got "
        f"{', '.join(root) or 'nothing'}.{hint}"
    )


def _read_matrix(group: Any, file: Path) -> Any:
    """Cells × features."""
    shape = tuple(int(side) for side in np.ravel(group["shape"][()]))
    if len(shape) != 2:
        raise ValueError(f"{str(file)!r} is damaged: the shape in {group.name} is {shape}, but it has two numbers.")
    parts = tuple(np.ravel(group[part][()]) for part in ("data", "indices", "indptr"))
    return sparse_matrix(scipy.sparse.csr_array, parts, shape[::-1], f"{str(file)!r}, {group.name}")


def _read_features(group: Any, file: Path, several: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Names of the features, made unique by their ids, and their types."""
    if "features" in group:
        table = group["features"]
        names, ids = _strings(table["name"]), _strings(table["id"])
        types = _strings(table["feature_type"]) if "feature_type" in table else np.full(len(names), GENES)
    elif "gene_names" in group and "genes" in group:
        names, ids = _strings(group["gene_names"]), _strings(group["genes"])
        kind = f"{GENES} {group.name.strip('/')}" if several else GENES
        types = np.full(len(names), kind)
    else:
        raise ValueError(
            f"{str(file)!r}: {group.name} has neither 'features' nor 'genes' and 'gene_names'; it has "
            f"{', '.join(group)}."
        )
    if len(ids) != len(names):
        raise ValueError(
            f"{str(file)!r} is damaged: {group.name} has {len(names)} names but {len(ids)} ids of features."
        )
    times = Counter(names.tolist())
    unique = [
        name if times[name] == 1 else f"{name} ({one})" for name, one in zip(names.tolist(), ids.tolist(), strict=True)
    ]
    return np.array(unique, dtype=str), types


def _strings(dataset: Any) -> NDArray[Any]:
    """Text that is stored with fixed or variable length."""
    values = np.ravel(dataset[()]).tolist()
    return np.array([one.decode("utf-8") if isinstance(one, bytes) else str(one) for one in values], dtype=str)


def _check_barcodes(barcodes: NDArray[Any], where: str, file: Path) -> None:
    repeated = [barcode for barcode, times in Counter(barcodes.tolist()).items() if times > 1]
    if repeated:
        raise ValueError(
            f"{str(file)!r}: {where} has the barcode {repeated[0]!r} more than once ({len(repeated)} such barcodes). "
            f"Make the barcodes unique."
        )
