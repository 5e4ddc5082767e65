"""Models as files that are safe to load: nothing in them is executed.

A model file is a zip archive. ``model.json``, the header, names the format and its version, the class of the model, who
wrote it and when, and a summary. ``state.json`` is the state of the model: its parameters, its fitted attributes, the
schema of its input and its consensus map, as `latefusion.outputs.tree` writes them and `latefusion.outputs.schema`
allows them. Every array is an ``.npy`` file named by its SHA-256, so that equal arrays are stored once; the SHA-256 of
``state.json`` is in the header. Nothing is compressed, so no file unpacks to more than its size.

Checksums detect damage, not forgery. A forged file is another model, but it cannot execute code.

A file is read if its format version equals `FORMAT_VERSION`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from latefusion.atomic_files import atomic_write
from latefusion.outputs.schema import FORMAT_VERSION, MODELS
from latefusion.outputs.targets import MODEL, MODEL_HEADER, Target, check_targets
from latefusion.outputs.tree import ARRAY_KINDS, SchemaError, decode_model, encode_model
from latefusion.version import __version__

FORMAT = "latefusion model"
STATE = "state.json"
ARRAY_NAME = re.compile(r"[0-9a-f]{64}\.npy")
# The earliest date that a zip archive can hold: equal models give equal files.
DATE = (1980, 1, 1, 0, 0, 0)


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or has another format version."""


def save(model: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model to a file that is safe to load.

    Parameters
    ----------
    model : estimator of latefusion
    path : str or path-like
        An existing model is replaced when the new one is complete.
    force : bool, default=False
        Whether to replace an existing file that is not a model, too.

    See Also
    --------
    load : Read the file.

    Notes
    -----
    The file contains the parameters, the fitted attributes, and what `predict` needs. It does not contain the training
    data that diagnostics such as `leave_one_view_out` need, settings such as `set_output`, and fitted clusterers that
    were given to `ConsensusClustering`. Functions as kernels and similarities of your own are refused: they are code.

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
    if MODELS.get(type(model).__name__) is not type(model):
        raise ValueError(
            f"Only models of latefusion can be saved, got {type(model).__module__}.{type(model).__qualname__}."
        )
    check_targets([Target(Path(path), MODEL)], force=force)
    arrays: dict[str, NDArray[Any]] = {}

    def store(array: NDArray[Any]) -> str:
        name = f"{_digest(array)}.npy"
        arrays[name] = array
        return name

    state = json.dumps(encode_model(model, store)).encode()
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "latefusion": __version__,
        "libraries": {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__},
        "written": _now(),
        "model": type(model).__name__,
        "summary": _summary(model),
        "state": hashlib.sha256(state).hexdigest(),
    }
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(MODEL_HEADER, DATE), json.dumps(header))
        archive.writestr(zipfile.ZipInfo(STATE, DATE), state)
        for name in sorted(arrays):
            _write_array(archive, name, arrays[name])


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file that `save` wrote. Nothing in the file is executed.

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
        If the file is not a model, is damaged, contains anything that a model does not have, or has another format
        version.
    """
    with _opened(path) as archive:
        header = _read_header(archive)
        state = archive.read(STATE)
        _check_digest(STATE, hashlib.sha256(state).hexdigest(), header["state"])
        arrays: dict[str, NDArray[Any]] = {}

        def find(name: str) -> NDArray[Any]:
            if name not in arrays:
                arrays[name] = _read_array(archive, name)
            return arrays[name]

        model = decode_model(header["model"], json.loads(state), find)
        if len(arrays) + 2 != len(archive.namelist()):
            raise ModelFileError("has parts that its model does not use. It was changed. Save the model again.")
    return model


class ModelDescription(NamedTuple):
    """The header of a model file.

    Attributes
    ----------
    model : str
        The class.
    views : dict of str to int or None
        Number of columns of each view; None where it is not known.
    n_clusters, n_samples : int or None
        Of the training data; None where they are not known.
    written : str
        Date and time, UTC.
    versions : dict of str to str
        Of latefusion and the libraries that wrote the file.
    format_version : int
    """

    model: str
    views: dict[str, int | None]
    n_clusters: int | None
    n_samples: int | None
    written: str
    versions: dict[str, str]
    format_version: int


def describe(path: str | os.PathLike[str]) -> ModelDescription:
    """Read the header of a model file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    ModelDescription

    Raises
    ------
    ModelFileError
        As in `load`, except that damage outside the header is not detected.
    """
    with _opened(path) as archive:
        header = _read_header(archive)
        summary = header["summary"]
        return ModelDescription(
            model=str(header["model"]),
            views={str(name): _integer(width) for name, width in summary["views"].items()},
            n_clusters=_integer(summary["n_clusters"]),
            n_samples=_integer(summary["n_samples"]),
            written=str(header["written"]),
            versions={"latefusion": str(header["latefusion"])}
            | {str(name): str(version) for name, version in header["libraries"].items()},
            format_version=header["format_version"],
        )


def _summary(model: Any) -> dict[str, Any]:
    names = [str(name) for name in getattr(model, "view_names_", ())]
    widths: Any = getattr(model, "n_features_per_view_", None)
    labels = getattr(model, "labels_", None)
    return {
        "views": dict.fromkeys(names) if widths is None else dict(zip(names, map(int, widths), strict=True)),
        "n_clusters": None if labels is None else len(np.unique(labels)),
        "n_samples": None if labels is None else len(labels),
    }


def _integer(value: Any) -> int | None:
    return None if value is None else int(value)


def _now() -> str:
    """The time, or SOURCE_DATE_EPOCH where it is set, so that equal models give equal files."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(int(seconds), UTC)
    return now.isoformat(timespec="seconds")


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[zipfile.ZipFile]:
    """The archive of a model file. Any error while it is read becomes one that names the file."""
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder. Give the name of a model file.")
    if not file.is_file():
        raise FileNotFoundError(f"File not found: {str(file)!r} (a model file). Check the path.")
    with file.open("rb") as stream:
        try:
            _check_start(stream)
            with zipfile.ZipFile(stream) as archive:
                yield archive
        except ModelFileError as error:
            raise ModelFileError(f"{str(file)!r} {error}") from None
        except SchemaError as error:
            raise ModelFileError(
                f"{str(file)!r} cannot be loaded: {error}. It was changed, or written by another version of latefusion "
                f"than {__version__}. Save the model again."
            ) from error
        except Exception as error:  # damage may surface anywhere in zipfile, json, NumPy and SciPy
            raise ModelFileError(
                f"{str(file)!r} is damaged or not a model file ({type(error).__name__}: {error}). Copy it again, or "
                f"save the model again."
            ) from error


def _check_start(stream: BinaryIO) -> None:
    start = stream.read(2)
    stream.seek(0)
    if start[:1] == b"\x80":
        raise ModelFileError("looks like a pickle, which may execute code when loaded. Write it with latefusion.save.")
    if start != b"PK":
        raise ModelFileError("is not a model file, as latefusion.save and `latefusion cluster --save` write.")


def _read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The header, after a check of the archive as a whole."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if MODEL_HEADER not in names:
        raise ModelFileError(f"is a zip archive but not a model file: it has no {MODEL_HEADER}.")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ModelFileError("has compressed parts. Model files have none, so latefusion did not write it.")
    stream: Any = archive.fp
    if sum(member.file_size for member in members) > os.fstat(stream.fileno()).st_size:
        raise ModelFileError("claims to contain more than its size. It is damaged, or was made to do harm.")
    header = json.loads(archive.read(MODEL_HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"is not a model file: its {MODEL_HEADER} describes something else.")
    version = header.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        advice = "Upgrade latefusion" if type(version) is int and version > FORMAT_VERSION else "Save the model again"
        raise ModelFileError(
            f"was written by latefusion {header.get('latefusion')!r:.20} with format version {version!r:.20}, but "
            f"latefusion {__version__} reads version {FORMAT_VERSION}. {advice}."
        )
    foreign = [name for name in names if name not in (MODEL_HEADER, STATE) and not ARRAY_NAME.fullmatch(name)]
    if foreign or len({*names}) != len(names):
        raise ModelFileError(f"has parts that model files do not have, such as {(foreign or names)[0]!r:.60}.")
    return header


def _check_digest(name: str, found: str, expected: Any) -> None:
    if found != expected:
        raise ModelFileError(f"is damaged: the checksum of {name} is wrong. Copy it again.")


class _HashStream:
    """A stream that keeps nothing but the checksum."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def write(self, block: Any) -> int:
        self.sha256.update(block)
        return len(block)


def _digest(array: NDArray[Any]) -> str:
    """SHA-256 of the array as an ``.npy`` file."""
    stream: Any = _HashStream()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return str(stream.sha256.hexdigest())


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    with archive.open(zipfile.ZipInfo(name, DATE), "w", force_zip64=True) as stream:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    stream: Any
    if not ARRAY_NAME.fullmatch(name):
        raise SchemaError(f"it names the array {name!r:.80}")
    with archive.open(name) as stream:
        _check_digest(name, hashlib.file_digest(stream, "sha256").hexdigest(), name.removesuffix(".npy"))
        stream.seek(0)
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
        if dtype.kind not in ARRAY_KINDS:
            raise ModelFileError(f"contains {name} of type {dtype}, which could execute code. It was changed.")
        size = archive.getinfo(name).file_size - stream.tell()
        if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != size:
            raise ModelFileError(f"is damaged: {name} has {size} bytes, which do not fit the shape {shape}.")
        stream.seek(0)
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array
