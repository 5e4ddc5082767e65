"""Kernels of any view and scores of any labels: the right answer, or an error that says what is wrong.

Right is what the definition gives in extended precision, or in whole numbers.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from tests.properties import examples
from tests.trust.inputs import seeds, snapshot, views

NAMED = (ValueError, TypeError)
KERNELS = [name for name in lf.kernels.__all__ if name.endswith("_kernel") and name.split("_")[0] in lf.kernels.KERNELS]


def attempt(function, *arguments):
    """The result or the error; every warning is an error."""
    error = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # scikit-learn looks for infinite values by their sum, and NumPy remarks on it, before they are refused.
        warnings.filterwarnings("ignore", message="invalid value encountered in reduce")
        try:
            return function(*arguments), None
        except NAMED as refusal:
            error = refusal
    assert type(error) in NAMED, repr(error)
    assert len(str(error)) > 15
    return None, error


def distances(X):
    """Of all pairs of rows, in extended precision."""
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.longdouble)
    return np.sqrt(np.sum((rows[:, None] - rows) ** 2, axis=2))


@pytest.mark.parametrize("name", KERNELS)
@examples(40)
@given(X=views().map(lambda views: views[0]))
def test_a_kernel_is_symmetric_and_finite_or_refused(name, X):
    before = snapshot(X)
    kernel, error = attempt(getattr(lf.kernels, name), X)
    assert snapshot(X) == before
    if error is None:
        n = np.shape(X)[0]
        assert kernel.shape == (n, n)
        assert np.isfinite(kernel).all()
        np.testing.assert_allclose(kernel, kernel.T, rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize(("name", "power"), [("gaussian_kernel", 2), ("laplace_kernel", 1)])
@examples(40)
@given(
    X=views(containers=("array", "read only", "columns", "float32", "sparse", "backwards")).map(lambda views: views[0])
)
def test_kernels_of_distances_are_their_definition(name, power, X):
    kernel, error = attempt(getattr(lf.kernels, name), X)
    if error is not None:
        return
    exact = distances(X)
    n = len(exact)
    sigma = exact.sum() / (n * (n - 1))
    if sigma == 0:
        np.testing.assert_allclose(kernel, 1.0, atol=1e-5)
        return
    expected = np.exp(-((exact / sigma) ** power) / power).astype(float)
    # Squared distances carry the rounding error of squared norms, which may be much larger than they are.
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.longdouble)
    rounding = float(np.finfo(X.dtype).eps * rows.shape[1] * (np.abs(rows).max() / sigma) ** 2)
    np.testing.assert_allclose(kernel, expected, atol=1e-9 + 30 * (rounding if power == 2 else np.sqrt(rounding)))


LABELS = {
    "numbers": lambda codes: codes,
    "small": lambda codes: codes.astype(np.int8),
    "unsigned": lambda codes: codes.astype(np.uint64) + np.uint64(2**63),
    "negative": lambda codes: -codes,
    "huge": lambda codes: codes * 2**60,
    "floats": lambda codes: codes + 0.5,
    "tiny floats": lambda codes: codes * 5e-324,
    "single": lambda codes: codes.astype(np.float32),
    "booleans": lambda codes: codes > 0,
    "words": lambda codes: np.array(["a", "b\0c", "ä", "", " "])[codes],
    "bytes": lambda codes: np.array([b"a", b"bb", b"c", b"d", b"e"])[codes],
    "list": lambda codes: codes.tolist(),
    "list of words": lambda codes: [f"c{one}" for one in codes],
    "objects": lambda codes: codes.astype(object),
    "categories": lambda codes: pd.Categorical(codes),
    "series": lambda codes: pd.Series(codes, index=codes * 7),
    "nullable": lambda codes: pd.Series(codes, dtype="Int64"),
    "strings": lambda codes: pd.Series([f"c{one}" for one in codes], dtype="string"),
    "backwards": lambda codes: codes.copy()[::-1],
    "every second": lambda codes: np.repeat(codes, 2)[::2],
}
NOT_LABELS = {
    "missing": lambda codes: pd.Series([pd.NA, *codes[1:]], dtype="Int64"),
    "none": lambda codes: [None, *codes[1:].tolist()],
    "not a number": lambda codes: np.where(np.arange(len(codes)) == 0, np.nan, codes),
    "infinite": lambda codes: np.where(np.arange(len(codes)) == 0, np.inf, codes),
    "mixed": lambda codes: ["a", *codes[1:].tolist(), 1],
    "complex": lambda codes: codes + 1j,
    "dates": lambda codes: codes.astype("M8[D]"),
    "table": lambda codes: np.stack([codes, codes], axis=1),
    "empty": lambda codes: codes[:0],
    "lists": lambda codes: [[one] for one in codes.tolist()] + [[]],
    "one number": lambda codes: 3,
    "nothing": lambda codes: None,
}


@examples(150)
@given(seed=seeds, n=st.integers(1, 30), k=st.integers(1, 5), types=st.tuples(*[st.sampled_from(list(LABELS))] * 2))
def test_scores_are_those_of_the_same_labels_as_numbers(seed, n, k, types):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(k, size=(2, n))
    y_true, y_pred = (LABELS[kind](codes) for kind, codes in zip(types, (first, second), strict=True))
    before = [snapshot(one) for one in (y_true, y_pred)]
    found, error = attempt(lf.metrics.clustering_scores, y_true, y_pred)
    assert error is None, f"{types}: {error}"
    assert [snapshot(one) for one in (y_true, y_pred)] == before

    def numbers(kind, codes):
        codes = np.minimum(codes, 1) if kind == "booleans" else codes
        return codes[::-1] if kind == "backwards" else codes

    expected = lf.metrics.clustering_scores(numbers(types[0], first), numbers(types[1], second))
    assert found == pytest.approx(expected, abs=1e-12)
    assert all(-0.5 <= value <= 1 for value in found.values())


@examples(60)
@given(seed=seeds, kind=st.sampled_from(list(NOT_LABELS)), first=st.booleans())
def test_what_is_no_labelling_is_refused(seed, kind, first):
    codes = np.random.default_rng(seed).integers(3, size=9)
    pair = (NOT_LABELS[kind](codes), codes)
    _, error = attempt(lf.metrics.clustering_scores, *(pair if first else pair[::-1]))
    assert error is not None
