"""Dataclasses as values of JSON, and back, with a check of every key and type."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

# Decimals of numbers in a file.
DIGITS = 6


def packed(value: Any) -> Any:
    """A value as JSON has it: dataclasses become objects, numbers are rounded.

    Parameters
    ----------
    value : dataclass, list, tuple or plain value

    Returns
    -------
    dict, list or plain value
        Without fields that have their default value.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kept = {key: getattr(value, one.name) for key, one in _keys(type(value)).items()}
        optional = {key: one.default for key, one in _keys(type(value)).items() if _is_optional(one)}
        return {key: packed(one) for key, one in kept.items() if key not in optional or one != optional[key]}
    if isinstance(value, (list, tuple)):
        return [packed(one) for one in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def built(kind: Any, value: Any, where: str) -> Any:
    """A value of a type from JSON.

    Parameters
    ----------
    kind : type
        A dataclass, a list or tuple of one type, a type or None, or a plain type.
    value : dict, list or plain value
    where : str
        Where the value stands, for messages; "file" for the whole.

    Returns
    -------
    kind

    Raises
    ------
    ValueError
        For a wrong type, an unknown key, or a missing key whose field has no default.
    """
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        plain = next(one for one in inside if one is not types.NoneType)
        return None if value is None else built(plain, value, where)
    if dataclasses.is_dataclass(kind):
        return _built_entry(kind, value, where)
    if origin in (list, tuple):
        _check_type(value, list, where)
        return origin(built(inside[0], one, f"{where}[{position}]") for position, one in enumerate(value))
    if kind is float:
        _check_type(value, (int, float), where)
        return float(value)
    _check_type(value, origin or kind, where)
    return value


def _built_entry(kind: Any, value: Any, where: str) -> Any:
    _check_type(value, dict, where)
    keys = _keys(kind)
    needed = {key for key, one in keys.items() if not _is_optional(one)}
    wrong = sorted((needed - {*value}) | ({*value} - {*keys}))
    if wrong:
        problem = "has no" if wrong[0] in keys else "has the unknown"
        raise ValueError(f"{where} {problem} key {wrong[0]!r}")
    hints = typing.get_type_hints(kind)
    inner = {key: key if where == "file" else f"{where}.{key}" for key in keys}
    return kind(
        **{one.name: built(hints[one.name], value[key], inner[key]) for key, one in keys.items() if key in value}
    )


def _keys(kind: type) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a dataclass by their keys in the file."""
    return {one.metadata.get("key", one.name): one for one in dataclasses.fields(kind)}


def _is_optional(one: dataclasses.Field[Any]) -> bool:
    return one.default is not dataclasses.MISSING


def _check_type(value: Any, kind: Any, where: str) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        expected = "number" if isinstance(kind, tuple) else kind.__name__
        raise ValueError(f"{where} must be of type {expected}, got {value!r:.60}")
