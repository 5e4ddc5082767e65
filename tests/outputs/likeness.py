"""Whether two objects, or two models, are equal in all their parts."""

import numpy as np
import scipy.sparse


def same_model(one, other):
    """Equal classes, parameters and public fitted attributes: all that a model file contains."""
    fitted = [{name: value for name, value in vars(model).items() if name.endswith("_")} for model in (one, other)]
    return (
        type(one) is type(other)
        and alike(one.get_params(deep=False), other.get_params(deep=False))
        and set(fitted[0]) == set(fitted[1])
        and all(alike(value, fitted[1][name]) for name, value in fitted[0].items())
    )


def alike(one, other):
    """Equal types, attributes, items and numbers, NaN being equal to itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (np.ndarray, np.generic)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype == object:
            return all(map(alike, np.ravel(one).tolist(), np.ravel(other).tolist()))
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if scipy.sparse.issparse(one):
        parts = ("data", "indices", "indptr")
        return one.shape == other.shape and all(alike(getattr(one, part), getattr(other, part)) for part in parts)
    if isinstance(one, np.random.RandomState):
        return alike(one.get_state(), other.get_state())
    if isinstance(one, dict):
        return alike(list(one.items()), list(other.items()))  # a key that is NaN is not found by looking
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if hasattr(one, "__dict__") and not callable(one):
        # What is computed on demand and kept, as cached properties are, need not be there yet.
        common = [name for name in vars(one) if name in vars(other) or name not in dir(type(one))]
        return all(name in vars(other) and alike(vars(one)[name], vars(other)[name]) for name in common)
    if hasattr(type(one), "__dataclass_fields__"):  # a fitted kernel, which is callable
        return all(alike(getattr(one, name), getattr(other, name)) for name in type(one).__dataclass_fields__)
    if hasattr(type(one), "__slots__"):
        return all(alike(getattr(one, name), getattr(other, name)) for name in type(one).__slots__)
    return one is other or one == other or (one != one and other != other)
