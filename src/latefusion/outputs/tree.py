"""Models as trees of text and numbers, as JSON holds them, and back. Nothing in a tree is executed.

Text, numbers, True, False and None represent themselves. Everything else is an object with one key, its tag:

================ =========================================================================
tag              content
================ =========================================================================
``list`` …       items; likewise for ``tuple``, ``slice`` and ``range``
``dict``         pairs of key and value
``array``        name of an array that is stored next to the tree
``scalar``       type and value of a NumPy scalar
``objects``      shape and items of an array of objects
``sparse``       class, shape and parts of a compressed sparse matrix
``dtype``        name of a type of numbers
``number_type``  the same, as a class of NumPy
``random_state`` state of a generator
``kernel``       name of one of the kernels of this package
``transformer``  name of a class of `latefusion.outputs.schema.TRANSFORMERS`, and its attributes
``part``         name of a class of `latefusion.outputs.schema.PARTS`, and its fields
================ =========================================================================
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError

from latefusion.kernels import KERNELS
from latefusion.outputs.schema import ATTRIBUTES, MODELS, NAMES, PARTS, TRANSFORMERS, Sparse, fits, fitted_attributes

Node = Any
# Stores an array and returns the name that the tree refers to it by; and the way back.
StoreArray = Callable[[NDArray[Any]], str]
FindArray = Callable[[str], NDArray[Any]]

PLAIN = (bool, int, float, str)
SPARSE = {cls.__name__: cls for cls in Sparse.__args__}
SPARSE_PARTS = ("data", "indices", "indptr")
# Booleans, integers, floats, complex numbers, text, bytes, dates and durations: fixed size, and no code.
ARRAY_KINDS = "biufcUSMm"
SCALAR_KINDS = "biufU"
TAGS = (
    "list", "tuple", "slice", "range", "dict", "array", "scalar", "objects", "sparse", "dtype", "random_state",
    "neighbors", "kernel", "transformer", "number_type",
)  # fmt: skip
STATE = ("parameters", "attributes", "input_schema", "consensus_map")


class SchemaError(ValueError):
    """A tree contains something that is not part of a model."""


def encode_model(model: Any, store: StoreArray) -> dict[str, Node]:
    """The state of a model: parameters, fitted attributes, input schema and consensus map, each as a tree.

    Parameters
    ----------
    model : estimator
        Of one of the classes in `latefusion.outputs.schema.MODELS`.
    store : callable
        Takes an array and returns its name.

    Returns
    -------
    dict
        As JSON takes it. Private attributes are left out: they are training data for diagnostics.
    """
    name = type(model).__name__
    model._validate_params()
    parameters = model.get_params(deep=False)
    fitted = {key: one for key, one in model.__getstate__().items() if key.endswith("_") and not key.startswith("_")}
    types, _ = fitted_attributes(type(model))
    for key in fitted:
        if key not in types:
            raise ValueError(f"{name}.{key} is not an attribute that fit sets. Remove it to save the model.")
    nodes = {key: encode(one, store, f"{name}.{key}") for key, one in (parameters | fitted).items()}
    _check_types(name, fitted, types)
    return {
        "parameters": {key: nodes[key] for key in parameters},
        "attributes": {key: nodes[key] for key in fitted if key in ATTRIBUTES},
        "input_schema": nodes.get("input_schema_"),
        "consensus_map": nodes.get("consensus_map_"),
    }


def decode_model(name: str, state: Any, find: FindArray) -> Any:
    """The model with this state.

    Parameters
    ----------
    name : str
        Of the class.
    state : object
        As `encode_model` returns it, or whatever a file contains instead.
    find : callable
        Returns an array by its name.

    Returns
    -------
    estimator

    Raises
    ------
    SchemaError
        If the state is not that of a model of this class.
    """
    if name not in MODELS:
        raise SchemaError(f"it names the model {name!r:.60}, which latefusion does not have")
    cls, decoder = MODELS[name], _Decoder(find)
    _check_names("the parts of the state", state, STATE)
    parameters, attributes, schema, consensus_map = (state[part] for part in STATE)
    _check_names(f"the parameters of {name}", parameters, cls._get_param_names())
    model = cls(**{key: decoder(one) for key, one in parameters.items()})
    try:
        model._validate_params()
    except InvalidParameterError as error:
        raise SchemaError(f"it has an invalid parameter: {error}") from error
    if attributes == {} and schema is None and consensus_map is None:
        return model  # not fitted
    types, needed = fitted_attributes(cls)
    _check_names(f"the attributes of {name}", attributes, needed, optional=ATTRIBUTES)
    nodes = {**attributes, "input_schema_": schema, "consensus_map_": consensus_map}
    fitted = {key: decoder(one) for key, one in nodes.items()}
    _check_types(name, fitted, types)
    if fitted["consensus_map_"] is None:
        del fitted["consensus_map_"]
    vars(model).update(fitted)
    return model


def encode(value: Any, store: StoreArray, where: str = "model") -> Node:
    """The tree of a value.

    Parameters
    ----------
    value : object
        Made of parts of models, containers, numbers, text and arrays.
    store : callable
        Takes an array and returns its name.
    where : str, default="model"
        What the value is called in errors.

    Returns
    -------
    object
        As JSON takes it.

    Examples
    --------
    >>> from latefusion.outputs.tree import decode, encode
    >>> encode({"a": (1, None)}, lambda array: "")
    {'dict': [['a', {'tuple': [1, None]}]]}
    >>> decode(_, lambda name: None)
    {'a': (1, None)}
    """
    cls = type(value)
    inner = partial(encode, store=store)
    if value is None or cls in PLAIN:
        return value
    if isinstance(value, np.generic) and type(value.item()) in PLAIN:
        return {"scalar": [value.dtype.str, value.item()]}
    if cls is np.ndarray:
        return _encode_array(value, store, where)
    if cls in (list, tuple):
        return {cls.__name__: [inner(one, where=f"{where}[{at}]") for at, one in enumerate(value)]}
    if cls in (slice, range):
        return {cls.__name__: [inner(one, where=where) for one in (value.start, value.stop, value.step)]}
    if cls is dict:
        pairs = [[inner(key, where=where), inner(one, where=f"{where}[{key!r}]")] for key, one in value.items()]
        return {"dict": pairs}
    if cls in SPARSE.values():
        parts = {part: inner(getattr(value, part), where=where) for part in SPARSE_PARTS}
        return {"sparse": {"class": cls.__name__, "shape": [int(side) for side in value.shape], **parts}}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"number_type": np.dtype(value).str}
    if cls is np.random.RandomState:
        return {"random_state": inner(value.get_state(), where=where)}
    if cls in TRANSFORMERS.values():
        attributes = {key: inner(one, where=f"{where}.{key}") for key, one in vars(value).items()}
        return {"transformer": {"class": cls.__name__, "attributes": attributes}}
    kernel = next((name for name, function in KERNELS.items() if function is value), None)
    if kernel is not None:
        return {"kernel": kernel}
    if cls in NAMES:
        name = NAMES[cls]
        found = {field: getattr(value, field) for field in PARTS[name].fields}
        nodes = {key: inner(one, where=f"{where}.{key}") for key, one in found.items()}
        _check_types(where, found, PARTS[name].fields)
        return {"part": name, "fields": nodes}
    raise ValueError(_refusal(value, where))


def _encode_array(value: NDArray[Any], store: StoreArray, where: str) -> Node:
    if value.dtype == object:
        items = [encode(one, store, f"{where}[{at}]") for at, one in enumerate(value.ravel().tolist())]
        return {"objects": {"shape": list(value.shape), "items": items}}
    if value.dtype.kind not in ARRAY_KINDS:
        raise ValueError(f"{where} is an array of type {value.dtype}, which a model file cannot contain.")
    return {"array": store(value)}


def _refusal(value: Any, where: str) -> str:
    what = f"{where} is {'the function' if inspect.isroutine(value) else 'an object of class'} "
    what += getattr(value, "__qualname__", None) or f"{type(value).__module__}.{type(value).__qualname__}"
    if hasattr(value, "predict"):
        return f"{what}. A model file cannot contain it. Give the labels that it predicts as a view instead."
    if hasattr(value, "transform"):
        return (
            f"{what}. A model file can contain these transformers: {list(TRANSFORMERS)}. Use one of them, or apply "
            f"yours to the data before `fit`."
        )
    if callable(value) or hasattr(value, "similarity"):
        return (
            f"{what}. It is your own code, which a model file cannot contain: loading a file executes nothing. Use one "
            f"of the kernels {list(KERNELS)} or a similarity of latefusion, or keep your code and fit again."
        )
    return f"{what}. A model file contains NumPy arrays, sparse matrices, numbers and text only. Fit on such data."


def decode(node: Node, find: FindArray) -> Any:
    """The value that a tree describes.

    Parameters
    ----------
    node : object
        As `encode` returns it, or whatever a file contains instead.
    find : callable
        Returns an array by its name.

    Returns
    -------
    object

    Raises
    ------
    SchemaError
        If the tree contains anything but parts of models.
    """
    return _Decoder(find)(node)


class _Decoder:
    """From nodes to values. Equal parts become one object, as in the model that was saved."""

    def __init__(self, find: FindArray) -> None:
        self.find = find
        self.known: dict[Any, Any] = {}

    def __call__(self, node: Node) -> Any:
        if node is None or type(node) in PLAIN:
            return node
        tag: Any = next(iter(node), None) if isinstance(node, dict) else None
        if tag == "part" and len(node) == 2:
            return self._part(node["part"], node["fields"])
        read = getattr(self, f"_{tag}", None) if tag in TAGS and len(node) == 1 else None
        if read is None:
            raise SchemaError(f"it contains {node!r:.60}, which is not part of a model")
        return read(node[tag])

    def _list(self, content: Any) -> list[Any]:
        return [self(one) for one in content]

    def _tuple(self, content: Any) -> tuple[Any, ...]:
        return tuple(self(one) for one in content)

    def _slice(self, content: Any) -> slice:
        return slice(*self._list(content))

    def _range(self, content: Any) -> range:
        return range(*self._list(content))

    def _dict(self, content: Any) -> dict[Any, Any]:
        return {self(key): self(one) for key, one in content}

    def _array(self, content: Any) -> NDArray[Any]:
        return self.find(content)

    def _scalar(self, content: Any) -> Any:
        dtype, value = content
        found = self._dtype(dtype)
        if found.kind not in SCALAR_KINDS or type(value) not in PLAIN:
            raise SchemaError(f"it contains the scalar {content!r:.60}")
        return found.type(value)

    def _objects(self, content: Any) -> NDArray[Any]:
        items = self._list(content["items"])
        flat = np.empty(len(items), dtype=object)
        for position, item in enumerate(items):  # assigning the list would unpack items that are lists themselves
            flat[position] = item
        return flat.reshape(content["shape"])

    def _sparse(self, content: Any) -> Any:
        parts = tuple(self(content[part]) for part in SPARSE_PARTS)
        matrix = SPARSE[content["class"]](parts, shape=tuple(content["shape"]))
        matrix.check_format(full_check=True)  # products do not check whether indices are in range
        return matrix

    def _dtype(self, content: Any) -> np.dtype[Any]:
        found = np.dtype(str(content))
        if found.kind not in ARRAY_KINDS:
            raise SchemaError(f"it names the type {content!r:.60}")
        return found

    def _number_type(self, content: Any) -> type:
        return self._dtype(content).type

    def _random_state(self, content: Any) -> np.random.RandomState:
        state = np.random.RandomState()
        state.set_state(self(content))
        return state

    def _kernel(self, content: Any) -> Any:
        if content not in KERNELS:
            raise SchemaError(f"it names the kernel {content!r:.60}, which latefusion does not have")
        return KERNELS[content]

    def _transformer(self, content: Any) -> BaseEstimator:
        name, attributes = content["class"], content["attributes"]
        if name not in TRANSFORMERS:
            raise SchemaError(f"it names the transformer {name!r:.60}, which a model file cannot contain")
        _check_names(f"the parameters of {name}", attributes, TRANSFORMERS[name]._get_param_names(), attributes)
        made: Any = object.__new__(TRANSFORMERS[name])
        vars(made).update({str(key): self(one) for key, one in attributes.items()})
        try:
            made._validate_params()
        except InvalidParameterError as error:
            raise SchemaError(f"it has a transformer with an invalid parameter: {error}") from error
        return made

    def _part(self, name: Any, content: Any) -> Any:
        if not isinstance(name, str) or name not in PARTS:
            raise SchemaError(f"it names the class {name!r:.60}, which is not part of a model")
        part = PARTS[name]
        _check_names(f"the fields of {name}", content, part.fields)
        fields = {key: self(content[key]) for key in part.fields}
        _check_types(name, fields, part.fields)
        # Stored values keep their fields alive, so that an id stays theirs.
        key = (name, *((type(one), one) if type(one) in PLAIN else id(one) for one in fields.values()))
        made = part.cls(**fields)
        return made if issubclass(part.cls, BaseEstimator) else self.known.setdefault(key, made)


def _check_names(what: str, found: Any, needed: Iterable[str], optional: Iterable[str] = ()) -> None:
    if not isinstance(found, dict):
        raise SchemaError(f"{what} are missing")
    missing = sorted({*needed} - {*found})
    unknown = sorted({*found} - {*needed} - {*optional})
    if missing or unknown:
        raise SchemaError(f"{what} differ from those of this version (missing: {missing}, unknown: {unknown})")


def _check_types(name: str, found: dict[str, Any], kinds: dict[str, Any]) -> None:
    for field, value in found.items():
        if not fits(value, kinds[field]):
            raise SchemaError(f"{name}.{field} must not be of type {type(value).__name__}")
