"""A fitted model as a tree of words and numbers, and back, without running anything that the tree says.

Words, numbers, True, False and None stand for themselves. Everything else is an object with one key, its tag:

================ =========================================================================
tag              content
================ =========================================================================
``list`` …       items; so for ``tuple``, ``slice`` and ``range``
``dict``         pairs of key and value
``array``        name of an array that is kept beside the tree; ``scalar`` is its only number
``objects``      shape and items of an array of words
``sparse``       kind, shape and parts of a compressed sparse matrix
``dtype``        name of a type of numbers
``random_state`` state of a generator
``neighbors``    samples that a `NearestNeighbors` searches; its trees are built again
``kernel``       name of one of the kernels of this package
``object``       name of a class of this package, and its fields
================ =========================================================================

Classes are found by name in a table of those that models consist of. They are filled, not called: no constructor runs.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors

from latefusion import assignment, baselines, encoding, estimators, kernels, partitions, selection, similarities
from latefusion.types import SolverResult, Views
from latefusion.validation import InputSchema

Node = Any

ROOMS: tuple[ModuleType, ...] = (
    assignment, baselines, encoding, estimators, kernels, partitions, selection, similarities,
)  # fmt: skip
PLAIN = (bool, int, float, str)
SEQUENCES: dict[str, Callable[..., Any]] = {"list": list, "tuple": tuple}
BOUNDS: dict[str, Callable[..., Any]] = {"slice": slice, "range": range}
SPARSE = {
    kind.__name__: kind
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix)
}
# Booleans, integers, floats, complex numbers, words, dates and durations: what has a size and no code in it.
ARRAY_KINDS = "biufcUSMm"
# Parameters that older files do not have, and what they would say.
YOUNGER_FIELDS = {"reference": "mean"}


class UnknownContentError(ValueError):
    """A tree names something that no model consists of."""


@cache
def known_classes() -> dict[str, type]:
    """The classes that models consist of, by name: estimators, dataclasses and named tuples of these rooms."""
    return {found.__name__: found for found in (*_classes(), SolverResult, Views, InputSchema)}


def _classes() -> Iterator[type]:
    for room in ROOMS:
        for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(info.name)
            for found in vars(module).values():
                if isinstance(found, type) and found.__module__ == info.name and _field_names(found) is not None:
                    yield found


def _field_names(cls: type) -> list[str] | None:
    """What an object of the class consists of; None where that cannot be told from the class."""
    if issubclass(cls, Views):
        return ["arrays", "names", "mask", "sample_ids"]
    if issubclass(cls, BaseEstimator):
        return [name for name in inspect.signature(cls).parameters if name not in ("args", "kwargs")]
    if is_dataclass(cls):
        return [field.name for field in fields(cls)]
    return list(cls._fields) if issubclass(cls, tuple) and hasattr(cls, "_fields") else None


def describe(value: Any, arrays: MutableMapping[str, NDArray[Any]], where: str = "model") -> Node:
    """The tree of a value.

    Parameters
    ----------
    value : object
        Made of classes of this package, containers, numbers, words and arrays.
    arrays : mutable mapping of str to ndarray
        Receives the arrays of the value, each once, under names that the tree refers to.
    where : str, default="model"
        What the value is called in messages.

    Returns
    -------
    object
        As JSON takes it.

    Examples
    --------
    >>> from latefusion.outputs.tree import describe, rebuild
    >>> describe({"a": (1, None)}, {})
    {'dict': [['a', {'tuple': [1, None]}]]}
    >>> rebuild(_, {}.__getitem__)
    {'a': (1, None)}
    """
    kind = type(value)
    name = kind.__name__
    if value is None or kind in PLAIN:
        return value
    if kind is np.ndarray or isinstance(value, np.generic):
        return _describe_array(value, arrays, where)
    if name in SEQUENCES and kind is SEQUENCES[name]:
        return {name: [describe(one, arrays, f"{where}[{at}]") for at, one in enumerate(value)]}
    if name in BOUNDS and kind is BOUNDS[name]:
        return {name: [describe(one, arrays, where) for one in (value.start, value.stop, value.step)]}
    if kind is dict:
        return {
            "dict": [
                [describe(key, arrays, where), describe(one, arrays, f"{where}[{key!r}]")] for key, one in value.items()
            ]
        }
    if SPARSE.get(name) is kind:
        parts = {part: describe(getattr(value, part), arrays, where) for part in ("data", "indices", "indptr")}
        return {"sparse": {"kind": name, "shape": [int(side) for side in value.shape], **parts}}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if kind is np.random.RandomState:
        return {"random_state": describe(value.get_state(), arrays, where)}
    if kind is NearestNeighbors and value.get_params() == NearestNeighbors().get_params():
        return {"neighbors": describe(value._fit_X, arrays, where)}
    kernel = next((known for known, function in kernels.KERNELS.items() if function is value), None)
    if kernel is not None:
        return {"kernel": kernel}
    if known_classes().get(name) is kind:
        return {
            "object": name,
            "fields": {key: describe(one, arrays, f"{where}.{key}") for key, one in _content(value)},
        }
    raise ValueError(_refusal(value, where))


def _content(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, BaseEstimator):
        return list(vars(value).items())
    return [(name, getattr(value, name)) for name in _field_names(type(value)) or ()]


def _describe_array(value: Any, arrays: MutableMapping[str, NDArray[Any]], where: str) -> Node:
    if value.dtype == object:
        items = [describe(one, arrays, f"{where}[{at}]") for at, one in enumerate(value.ravel().tolist())]
        return {"objects": {"shape": list(value.shape), "items": items}}
    if value.dtype.kind not in ARRAY_KINDS:
        raise ValueError(f"{where} is an array of type {value.dtype}, which a model file cannot hold.")
    name = next((known for known, array in arrays.items() if array is value), None)
    if name is None:
        name = f"array_{len(arrays)}.npy"
        arrays[name] = value if isinstance(value, np.ndarray) else np.asarray(value)
    return {"array": name} if isinstance(value, np.ndarray) else {"scalar": name}


def _refusal(value: Any, where: str) -> str:
    what = f"{where} is {'the function' if inspect.isroutine(value) else 'an object of class'} "
    what += getattr(value, "__qualname__", None) or f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value) or hasattr(value, "similarity"):
        return (
            f"{what}, which was given by you: a model file holds no code, so that it can be loaded without running "
            f"any. Use one of the kernels {list(kernels.KERNELS)} or a partition of latefusion, or keep your code and "
            f"the data and fit again."
        )
    return (
        f"{what}, which a model file cannot hold: it takes NumPy arrays, sparse matrices, numbers and words. Fit on "
        f"such data to save the model."
    )


def rebuild(node: Node, array: Callable[[str], NDArray[Any]]) -> Any:
    """The value that a tree describes.

    Parameters
    ----------
    node : object
        What `describe` returned, or what a file says that it did.
    array : callable
        Gives an array by its name.

    Returns
    -------
    object
    """
    if node is None or type(node) in PLAIN:
        return node
    if not isinstance(node, dict):
        raise UnknownContentError(f"it holds {node!r:.60} where a tagged value is expected")
    tag: Any = next(iter(node), None)
    content: Any = node.get(tag)
    if tag in SEQUENCES:
        return SEQUENCES[tag](rebuild(one, array) for one in content)
    if tag in BOUNDS:
        return BOUNDS[tag](*(rebuild(one, array) for one in content))
    if tag == "dict":
        return {rebuild(key, array): rebuild(value, array) for key, value in content}
    if tag == "array":
        return array(content)
    if tag == "scalar":
        return array(content)[()]
    if tag == "objects":
        return _rebuild_objects(content, array)
    if tag == "sparse":
        return _rebuild_sparse(content, array)
    if tag == "dtype":
        return _checked_dtype(content)
    if tag == "random_state":
        state = np.random.RandomState()
        state.set_state(rebuild(content, array))
        return state
    if tag == "neighbors":
        return NearestNeighbors().fit(rebuild(content, array))
    if tag == "kernel" and content in kernels.KERNELS:
        return kernels.KERNELS[content]
    if tag == "object":
        return _rebuild_object(content, {name: rebuild(one, array) for name, one in node["fields"].items()})
    raise UnknownContentError(f"it holds {tag!r}: {content!r:.60}, which is no part of a model")


def _rebuild_objects(content: Any, array: Callable[[str], NDArray[Any]]) -> NDArray[Any]:
    items = [rebuild(one, array) for one in content["items"]]
    flat = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):  # assigning the list would open up items that are lists themselves
        flat[position] = item
    return flat.reshape(content["shape"])


def _rebuild_sparse(content: Any, array: Callable[[str], NDArray[Any]]) -> Any:
    data, indices, indptr = (rebuild(content[part], array) for part in ("data", "indices", "indptr"))
    matrix = SPARSE[content["kind"]]((data, indices, indptr), shape=tuple(content["shape"]))
    matrix.check_format(full_check=True)  # products do not look whether an index lies outside
    return matrix


def _checked_dtype(content: Any) -> np.dtype[Any]:
    found = np.dtype(str(content))
    if found.kind not in ARRAY_KINDS:
        raise UnknownContentError(f"it names the type {content!r:.60}")
    return found


def _rebuild_object(name: Any, content: dict[str, Any]) -> Any:
    cls = known_classes().get(name)
    if cls is None:
        raise UnknownContentError(
            f"it names the class {name!r:.60}, which is none that models of latefusion consist of"
        )
    needed = _field_names(cls) or []
    content = {field: default for field, default in YOUNGER_FIELDS.items() if field in needed} | content
    absent = [field for field in needed if field not in content]
    foreign = [field for field in content if field not in needed and not issubclass(cls, BaseEstimator)]
    if absent or foreign or not all(field.isidentifier() and not field.startswith("__") for field in content):
        raise UnknownContentError(
            f"the fields of its {name} are not those of this version (absent: {absent}, unknown: {foreign})"
        )
    if issubclass(cls, (Views, tuple)):
        return cls(*(content[field] for field in needed))
    made = object.__new__(cls)
    for field, value in content.items():
        object.__setattr__(made, field, value)
    return made
