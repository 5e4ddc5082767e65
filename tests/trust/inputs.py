"""Views as an adversary would choose them: any type, order of memory and scale, with little in them or too much."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


def plain(rng, n, d):
    return rng.standard_normal((n, d))


def clustered(rng, n, d):
    return 8.0 * rng.standard_normal((3, d))[rng.integers(3, size=n)] + rng.standard_normal((n, d))


def rank_one(rng, n, d):
    return np.outer(rng.standard_normal(n), rng.standard_normal(d))


def repeated(rng, n, d):
    return plain(rng, max(1, n // 3), d)[rng.integers(max(1, n // 3), size=n)]


def constant(rng, n, d):
    return np.full((n, d), rng.standard_normal())


def nearly_tied(rng, n, d):
    return rng.integers(2, size=(n, d)) + 1e-15 * rng.standard_normal((n, d))


def denormal(rng, n, d):
    return 5e-324 * rng.integers(0, 1000, size=(n, d))


def one_far_off(rng, n, d):
    view = plain(rng, n, d)
    view[rng.integers(n)] *= 1e12
    return view


def counts(rng, n, d):
    return rng.poisson(0.5, size=(n, d)).astype(float)


SHAPES = [plain, clustered, rank_one, repeated, constant, nearly_tied, denormal, one_far_off, counts]
SCALES = [1.0, 1.0, 1e-300, 1e-150, 1e-8, 1e8, 1e100, 1e150, 1e300]


def read_only(view):
    view = view.copy()
    view.flags.writeable = False
    return view


def nullable(view):
    return pd.DataFrame(view).convert_dtypes()


CONTAINERS = {
    "array": np.asarray,
    "list": np.ndarray.tolist,
    "columns": np.asfortranarray,
    "every second": lambda view: np.repeat(view, 2, axis=0)[::2],
    "backwards": lambda view: view[::-1, ::-1],
    "read only": read_only,
    "float32": lambda view: view.astype(np.float32),
    "float16": lambda view: view.astype(np.float16),
    "big endian": lambda view: view.astype(">f8"),
    "long double": lambda view: view.astype(np.longdouble),
    "integers": lambda view: np.clip(view, -1e6, 1e6).astype(np.int32),
    "bytes": lambda view: (np.abs(np.clip(view, -99, 99)) * 2).astype(np.uint8),
    "booleans": lambda view: view > 0,
    "objects": lambda view: view.astype(object),
    "sparse": sp.csr_array,
    "sparse columns": sp.csc_matrix,
    "sparse coordinates": sp.coo_array,
    "frame": pd.DataFrame,
    "nullable": nullable,
    "matrix of one word": lambda view: np.where(view > 0, "yes", view.astype("U5")),
    "complex": lambda view: view + 1j,
    "with NaN": lambda view: np.where(np.arange(view.size).reshape(view.shape) == view.size // 2, np.nan, view),
    "with infinity": lambda view: np.where(np.arange(view.size).reshape(view.shape) == 0, np.inf, view),
    "one dimension": lambda view: view[:, 0],
    "three dimensions": lambda view: view[:, :, None],
    "no columns": lambda view: view[:, :0],
}


@st.composite
def views(draw, containers=tuple(CONTAINERS)):
    """One to three views of the same samples, most of them in order."""
    n, m = draw(st.integers(2, 16)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(seeds))
    found = []
    for _ in range(m):
        shape, scale = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(SCALES))
        container = CONTAINERS[draw(st.sampled_from(["array", "array", *containers]))]
        with np.errstate(all="ignore"):
            found.append(container(scale * shape(rng, n, draw(st.integers(1, 4)))))
    return found


def snapshot(view):
    """What must be the same afterwards."""
    if sp.issparse(view):
        return [view.toarray().tobytes(), view.dtype, view.shape]
    array = np.asarray(view)
    return [array.tobytes() if array.dtype != object else repr(array.tolist()), array.dtype, array.shape]
