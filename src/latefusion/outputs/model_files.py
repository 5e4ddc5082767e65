"""Models as files that can be loaded from anywhere, because loading them runs nothing.

A model file is a zip archive: ``model.json`` describes the model as `latefusion.outputs.tree` does, and says who wrote
it; each array is an ``.npy`` file beside it, whose SHA-256 stands in ``model.json``. Nothing is compressed, so no file
unpacks to more than its size. Checksums show damage, not forgery: who changes a file on purpose can change them, too,
and gets another model, but never his code run.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from latefusion.atomic_files import whole_file
from latefusion.outputs.targets import MODEL, MODEL_DESCRIPTION, Target, check_targets
from latefusion.outputs.tree import ARRAY_KINDS, UnknownContentError, known_classes, rebuild
from latefusion.outputs.tree import describe as describe_tree
from latefusion.version import __version__

FORMAT = "latefusion model"
FORMAT_VERSION = 1
ARRAY_NAME = re.compile(r"array_\d+\.npy")
# The earliest date that a zip archive can hold: equal models make equal files.
DATE = (1980, 1, 1, 0, 0, 0)
# What zipfile, json, NumPy and the rebuilding of a tree let through when a file is damaged.
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, TypeError, LookupError, AttributeError,
    ArithmeticError, RuntimeError, MemoryError,
)  # fmt: skip


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or was written by a newer version."""


def save(model: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model to a file that can be loaded without running code.

    Parameters
    ----------
    model : estimator of latefusion
    path : str or path-like
        An older model is replaced, once the new one is complete.
    force : bool, default=False
        Whether to replace an existing file that is not a model, too.

    See Also
    --------
    load : The way back.

    Notes
    -----
    The file holds all attributes, and with them what `predict` needs of the training data. Functions given as a kernel
    and partition objects of your own are refused: they are code.

    Examples
    --------
    >>> import tempfile
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(60, 3, random_state=0)
    >>> model = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lf.save(model, f"{folder}/groups.model")
    ...     again = lf.load(f"{folder}/groups.model")
    >>> bool((again.predict(data.views) == model.labels_).all())
    True
    """
    if not _is_model(type(model)):
        raise ValueError(
            f"Only models of latefusion can be saved, got {type(model).__module__}.{type(model).__qualname__}."
        )
    check_targets([Target(Path(path), MODEL)], force=force)
    arrays: dict[str, NDArray[Any]] = {}
    tree = describe_tree(model, arrays, type(model).__name__)
    with whole_file(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        description = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "latefusion": __version__,
            "written": _now(),
            "summary": _summary(model),
            "libraries": {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__},
            "arrays": {name: _write_array(archive, name, array) for name, array in arrays.items()},
            "model": tree,
        }
        archive.writestr(zipfile.ZipInfo(MODEL_DESCRIPTION, DATE), json.dumps(description))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote; nothing in the file is run.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator
        With the parameters and fitted attributes of the one that was saved.

    Raises
    ------
    ModelFileError
        When the file is not a model, is damaged, names anything but classes of this package, or was written by a newer
        version.
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{str(place)!r} is a folder. Give the name of a model file.")
    if not place.is_file():
        raise FileNotFoundError(f"There is no model file {str(place)!r}: check the path.")
    with place.open("rb") as stream, _explained(str(place)):
        _check_beginning(stream)
        with zipfile.ZipFile(stream) as archive:
            description = _read_description(archive)
            arrays = {
                name: _read_array(archive, name, digest) for name, digest in sorted(description["arrays"].items())
            }
        model = rebuild(description["model"], arrays.__getitem__)
        if not _is_model(type(model)):
            raise UnknownContentError(f"it describes a {type(model).__name__}, which is not a model")
    return model


class ModelDescription(NamedTuple):
    """What a model file says about its model.

    Attributes
    ----------
    model : str
        The class.
    views : dict of str to int or None
        Number of columns of each view; None where it is not known.
    n_clusters, n_samples : int or None
        Of the training data.
    written : str
        Date and time, UTC.
    versions : dict of str to str
        Of latefusion and the libraries that it was written with.
    format_version : int
        Of the file.
    """

    model: str
    views: dict[str, int | None]
    n_clusters: int | None
    n_samples: int | None
    written: str
    versions: dict[str, str]
    format_version: int


def describe(path: str | os.PathLike[str]) -> ModelDescription:
    """What a model file says about its model; the model itself is not loaded.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    ModelDescription

    Raises
    ------
    ModelFileError
        As in `load`, except that damaged arrays are not noticed, since they are not read.
    """
    place = Path(path)
    with place.open("rb") as stream, _explained(str(place)), zipfile.ZipFile(stream) as archive:
        said = _read_description(archive)
        summary = said["summary"]
        return ModelDescription(
            model=str(summary["model"]),
            views={str(name): None if width is None else int(width) for name, width in summary["views"].items()},
            n_clusters=None if summary["n_clusters"] is None else int(summary["n_clusters"]),
            n_samples=None if summary["n_samples"] is None else int(summary["n_samples"]),
            written=str(said["written"]),
            versions={"latefusion": str(said["latefusion"]), **{str(k): str(v) for k, v in said["libraries"].items()}},
            format_version=int(said["format_version"]),
        )


def _summary(model: Any) -> dict[str, Any]:
    names = [str(name) for name in getattr(model, "view_names_", ())]
    widths: Any = getattr(model, "n_features_per_view_", None)
    labels = getattr(model, "labels_", None)
    return {
        "model": type(model).__name__,
        "views": dict.fromkeys(names) if widths is None else dict(zip(names, map(int, widths), strict=True)),
        "n_clusters": None if labels is None else len(np.unique(labels)),
        "n_samples": None if labels is None else len(labels),
    }


def _now() -> str:
    """The time, or that in SOURCE_DATE_EPOCH, with which equal models make equal files."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(int(seconds), UTC)
    return now.isoformat(timespec="seconds")


def _is_model(cls: type) -> bool:
    return issubclass(cls, BaseEstimator) and issubclass(cls, ClusterMixin) and known_classes().get(cls.__name__) is cls


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes an error that says so about the file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{file!r} {error}") from None
    except UnknownContentError as error:
        raise ModelFileError(
            f"{file!r} cannot be loaded: {error}. It was changed, or written by another version of latefusion than "
            f"{__version__}: save the model again."
        ) from error
    except UNREADABLE as error:
        raise ModelFileError(
            f"{file!r} is damaged or not a model file ({type(error).__name__}: {error}). Copy it again, or save the "
            f"model again."
        ) from error


def _check_beginning(stream: BinaryIO) -> None:
    beginning = stream.read(2)
    stream.seek(0)
    if beginning[:1] == b"\x80":
        raise ModelFileError("looks like a pickle, which may run code when loaded: write it with latefusion.save.")
    if beginning != b"PK":
        raise ModelFileError("is not a model file, which latefusion.save and `latefusion cluster --save` write.")


def _read_description(archive: zipfile.ZipFile) -> dict[str, Any]:
    members = archive.infolist()
    names = [member.filename for member in members]
    if MODEL_DESCRIPTION not in names:
        raise ModelFileError("is a zip archive, but not a model file: it has no model.json.")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ModelFileError("has compressed parts, which model files never have: it was not written by latefusion.")
    stream: Any = archive.fp
    if sum(member.file_size for member in members) > os.fstat(stream.fileno()).st_size:
        raise ModelFileError("claims to hold more than its size: it is damaged, or was made to harm.")
    description = json.loads(archive.read(MODEL_DESCRIPTION))
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFileError("is not a model file: its model.json describes something else.")
    version = description["format_version"]
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ModelFileError(
            f"was written by latefusion {description.get('latefusion')} in version {version} of the format; this is "
            f"latefusion {__version__}, which reads up to {FORMAT_VERSION}. Upgrade latefusion."
        )
    expected = [MODEL_DESCRIPTION, *description["arrays"]]
    if sorted(names) != sorted(expected) or not all(map(ARRAY_NAME.fullmatch, description["arrays"])):
        strange = sorted({*names} ^ {*expected}) or names
        raise ModelFileError(f"has other parts than its description says, such as {strange[0]!r:.60}: it was changed.")
    return description


class _Hashed:
    """Writes on and sums up what was written."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.sha256 = hashlib.sha256()

    def write(self, block: Any) -> int:
        self.sha256.update(block)
        return int(self.stream.write(block))


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> str:
    with archive.open(zipfile.ZipInfo(name, DATE), "w", force_zip64=True) as stream:
        hashed = _Hashed(stream)
        np.lib.format.write_array(hashed, array, allow_pickle=False)
    return hashed.sha256.hexdigest()


def _read_array(archive: zipfile.ZipFile, name: str, digest: str) -> NDArray[Any]:
    stream: Any
    with archive.open(name) as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
            raise ModelFileError(f"is damaged: the checksum of {name} is not the one noted. Copy it again.")
        stream.seek(0)
        header = np.lib.format.read_array_header_1_0 if np.lib.format.read_magic(stream) == (1, 0) else None
        header = header or np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
        if dtype.kind not in ARRAY_KINDS:
            raise ModelFileError(
                f"holds {name} of type {dtype}, which could run code: it was not written by latefusion."
            )
        held = archive.getinfo(name).file_size - stream.tell()
        if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != held:
            raise ModelFileError(f"is damaged: {name} says to be of shape {shape}, but has {held} bytes.")
        stream.seek(0)
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array
