"""Kernels against their formulas written naively, for every kind of input."""

import functools

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from latefusion.arrays import to_numpy
from latefusion.kernels import (
    KERNELS,
    fit_kernel,
    functions,
    gaussian_kernel,
    laplace_kernel,
    linear_kernel,
    mean_distance,
    polynomial_kernel,
    sigmoid_kernel,
)
from latefusion.kernels.functions import fit_gram
from tests.properties import examples

generator = np.random.default_rng(0)
X = generator.standard_normal((9, 4)) + 1.0
Y = generator.standard_normal((5, 4))

NAMES = sorted(KERNELS)


def naive_mean_distance(X):
    return np.mean([np.linalg.norm(X[i] - X[j]) for i in range(len(X)) for j in range(i)])


def naive_kernel(name, X, Y):
    """The table of the module docstring, entry by entry; parameters come from X."""
    squared_norm = np.mean([x @ x for x in X])
    sigma = naive_mean_distance(X)
    formula = {
        "linear": lambda x, y: x @ y,
        "polynomial": lambda x, y: (x @ y / squared_norm) ** 2,
        "gaussian": lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * sigma**2)),
        "laplace": lambda x, y: np.exp(-np.sqrt(np.sum((x - y) ** 2)) / sigma),
        "sigmoid": lambda x, y: np.tanh(x @ y / squared_norm - 0.1),
    }[name]
    return np.array([[formula(x, y) for y in Y] for x in X])


@pytest.mark.parametrize("name", NAMES)
def test_kernel_is_its_formula(name):
    np.testing.assert_allclose(KERNELS[name](X), naive_kernel(name, X, X), rtol=1e-10)
    np.testing.assert_allclose(KERNELS[name](X, Y), naive_kernel(name, X, Y), rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "params", "formula"),
    [
        ("polynomial", {"degree": 3, "scale": 2.0}, lambda x, y: (x @ y / 2.0) ** 3),
        ("gaussian", {"sigma": 0.5}, lambda x, y: np.exp(-np.sum((x - y) ** 2) / 0.5)),
        ("laplace", {"sigma": 2.0}, lambda x, y: np.exp(-np.linalg.norm(x - y) / 2.0)),
        ("sigmoid", {"gamma": 0.3, "theta": 0.2}, lambda x, y: np.tanh(0.3 * x @ y + 0.2)),
    ],
)
def test_given_parameters_are_used(name, params, formula):
    expected = np.array([[formula(x, y) for y in Y] for x in X])
    np.testing.assert_allclose(KERNELS[name](X, Y, **params), expected, rtol=1e-10)
    np.testing.assert_allclose(fit_kernel(name, X, params)(X, Y), expected, rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_sparse_equals_dense(name, container):
    thin = np.where(X > 1.0, X, 0.0)
    np.testing.assert_allclose(KERNELS[name](container(thin)), KERNELS[name](thin), atol=1e-12)
    np.testing.assert_allclose(KERNELS[name](container(thin), container(Y)), KERNELS[name](thin, Y), atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16"])
def test_small_types_neither_overflow_nor_truncate(name, dtype):
    values = (100 * (X > 1.0)).astype(dtype)
    np.testing.assert_allclose(KERNELS[name](values), KERNELS[name](values.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_is_kept(name):
    single = KERNELS[name](X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, KERNELS[name](X), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_nested_lists_and_locked_arrays_are_read(name):
    locked = np.asfortranarray(X)
    locked.setflags(write=False)
    np.testing.assert_allclose(KERNELS[name](locked), KERNELS[name](X.tolist()), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_are_symmetric(name):
    kernel = KERNELS[name](X)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-14)


@pytest.mark.parametrize("name", ["linear", "polynomial", "gaussian", "laplace"])
@examples(20)
@given(seed=st.integers(0, 2**32 - 1), shape=st.tuples(st.integers(2, 12), st.integers(1, 5)))
def test_kernels_are_positive_semidefinite(name, seed, shape):
    kernel = KERNELS[name](np.random.default_rng(seed).standard_normal(shape))
    values = np.linalg.eigvalsh(kernel)
    assert values[0] >= -1e-10 * values[-1]


@pytest.mark.parametrize("name", NAMES)
def test_fitted_kernel_gives_new_samples_the_training_rows(name):
    fitted = fit_kernel(name, X)
    kernel = fitted(X)
    np.testing.assert_allclose(fitted(X[3:6], X), kernel[3:6], atol=1e-12)
    np.testing.assert_allclose(fitted.diagonal(X, block=2), np.diagonal(kernel), atol=1e-12)
    # Parameters are settled: a subset meets the same kernel.
    np.testing.assert_allclose(fitted(X[:4]), kernel[:4, :4], atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "gaussian", "laplace"])
def test_an_offset_does_no_harm(name):
    """Means are taken away first, so that data far from the origin keep their digits."""
    far = X + 2.0**30
    centered = fit_kernel(name, X)(X)
    np.testing.assert_allclose(fit_kernel(name, far)(far), centered, atol=1e-6 * np.abs(centered).max())


def test_statistics_of_the_golden_problems(golden):
    for problem in ("problem_synth", "problem_digits"):
        data = golden(problem)
        for position, sigma in enumerate(data["sigma"]):
            view = data[f"X{position + 1}"]
            assert fit_kernel("gaussian", view).params["sigma"] == pytest.approx(sigma, rel=1e-12)
            assert mean_distance(view) == pytest.approx(sigma, rel=1e-10)


def test_raw_golden_kernels(golden):
    data = golden("problem_synth")
    for position, expected in enumerate(data["K_raw"]):
        view = data[f"X{position + 1}"]
        np.testing.assert_allclose(fit_kernel("gaussian", view)(view), expected, atol=1e-12)


def test_mean_distance_of_few_rows():
    assert mean_distance(np.zeros((1, 3))) == 1.0
    assert mean_distance(np.ones((5, 3))) == 1.0
    assert mean_distance(np.array([[0.0], [3.0]])) == 3.0


def test_mean_distance_of_many_rows_uses_a_subset(monkeypatch):
    monkeypatch.setattr("latefusion.kernels.functions.MEAN_DISTANCE_SAMPLES", 200)
    rows = np.random.default_rng(0).standard_normal((4000, 5))
    subset = rows[np.linspace(0, 3999, 200).astype(int)]
    assert mean_distance(rows) == pytest.approx(naive_mean_distance(subset), rel=1e-12)


def test_callables_get_two_arrays_and_may_return_integers():
    def count_shared_signs(left, right):
        return (left > 0).astype(int) @ (right > 0).astype(int).T

    fitted = fit_kernel(count_shared_signs, X)
    assert fitted(X).dtype == np.float64
    np.testing.assert_array_equal(fitted(X), count_shared_signs(X, X))
    np.testing.assert_array_equal(fitted.diagonal(X), np.diagonal(count_shared_signs(X, X)))
    scaled = fit_kernel(lambda left, right, factor: factor * left @ right.T, X, {"factor": 2.0})
    np.testing.assert_allclose(scaled(X, Y), 2 * linear_kernel(X, Y))


@pytest.mark.parametrize(
    ("kernel", "params", "words"),
    [
        ("rbf", {}, ["'rbf'", "gaussian", "callable"]),
        ("gaussian", {"sgima": 1.0}, ["gaussian", "'sgima'", "['sigma']"]),
        ("linear", {"sigma": 1.0}, ["linear", "'sigma'", "[]"]),
        ("gaussian", {"sigma": 0.0}, ["'sigma'", "above zero", "0.0"]),
        ("laplace", {"sigma": -1.0}, ["'sigma'", "above zero", "-1.0"]),
        ("gaussian", {"sigma": np.nan}, ["'sigma'", "finite", "nan"]),
        ("gaussian", {"sigma": "wide"}, ["'sigma'", "'wide'"]),
        ("polynomial", {"degree": 2.5}, ["'degree'", "integer", "2.5"]),
        ("polynomial", {"scale": 0}, ["'scale'", "above zero"]),
        ("sigmoid", {"gamma": -1}, ["'gamma'", "above zero"]),
        ("sigmoid", {"theta": np.inf}, ["'theta'", "finite"]),
    ],
)
def test_what_a_kernel_refuses(kernel, params, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        fit_kernel(kernel, X, params)
    assert all(word in str(caught.value) for word in words), caught.value


def test_parameters_that_are_none_come_from_the_data():
    assert fit_kernel("gaussian", X, {"sigma": None}).params == fit_kernel("gaussian", X).params
    assert fit_kernel("sigmoid", X, {"theta": -2.0}).params["theta"] == -2.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_every_array_library_gives_the_same_kernel(xp, name, dtype, tolerance):
    left, right = X.astype(dtype), Y.astype(dtype)
    fitted, expected = fit_kernel(name, xp.asarray(left)), fit_kernel(name, left)
    for parameter, value in expected.params.items():
        assert fitted.params[parameter] == pytest.approx(value, rel=tolerance)
    for arguments in ((left,), (left, right)):
        found = fitted(*(xp.asarray(one) for one in arguments))
        assert isinstance(found, type(xp.asarray(left)))
        assert to_numpy(found).dtype == dtype
        np.testing.assert_allclose(to_numpy(found), expected(*arguments), rtol=tolerance, atol=tolerance)


def test_distances_of_single_precision_keep_their_digits_in_every_library(xp):
    """Rows that coincide have distance zero up to the rounding of the data, not up to its root."""
    far = (X + 100.0).astype("float32")
    distances = to_numpy(functions._distances(xp.asarray(far), xp.asarray(far.copy()), squared=False))
    assert np.diagonal(distances).max() < 1e-4


def test_a_statistic_of_many_rows_is_the_same_in_every_library(xp, monkeypatch):
    monkeypatch.setattr(functions, "MEAN_DISTANCE_SAMPLES", 200)
    monkeypatch.setattr(functions, "NORM_ROWS", 64)
    rows = np.random.default_rng(0).standard_normal((1000, 5))
    assert mean_distance(xp.asarray(rows)) == pytest.approx(mean_distance(rows), rel=1e-12)
    for name, parameter in (("gaussian", "sigma"), ("polynomial", "scale"), ("sigmoid", "gamma")):
        found = fit_kernel(name, xp.asarray(rows)).params[parameter]
        assert found == pytest.approx(fit_kernel(name, rows).params[parameter], rel=1e-12)


def test_a_callable_must_return_values_on_the_device_of_the_data():
    rows = array_api_strict.asarray(X)
    fitted = fit_kernel(lambda left, right: to_numpy(left) @ to_numpy(right).T, rows)
    with pytest.raises(ValueError, match=r"array_api_strict on .* returned a ndarray of NumPy"):
        fitted(rows)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize("kernel", [gaussian_kernel, laplace_kernel, polynomial_kernel, sigmoid_kernel])
def test_kernels_that_take_their_width_from_the_view_have_no_unit(kernel, container, dtype):
    """Not even where squares overflow or vanish; by powers of two, every bit is the same."""
    rows = np.random.default_rng(0).standard_normal((12, 3)).astype(dtype)
    expected = kernel(container(rows))
    reach = np.finfo(dtype).maxexp - 8
    for power in (-reach + 16, -reach // 2 - 9, reach // 2 + 9, reach):
        np.testing.assert_array_equal(kernel(container(np.ldexp(rows, power))), expected)


def test_a_width_is_in_the_unit_of_the_view():
    rows = np.random.default_rng(0).standard_normal((12, 3))
    for unit in (2.0**-600, 2.0**600):
        np.testing.assert_array_equal(gaussian_kernel(unit * rows, sigma=2 * unit), gaussian_kernel(rows, sigma=2))
        np.testing.assert_array_equal(laplace_kernel(unit * rows, sigma=2 * unit), laplace_kernel(rows, sigma=2))
        assert mean_distance(unit * rows) == unit * mean_distance(rows)


@pytest.mark.parametrize("kernel", [linear_kernel, functools.partial(polynomial_kernel, scale=1.0)])
def test_values_beyond_all_numbers_are_refused(kernel):
    rows = np.random.default_rng(0).standard_normal((12, 3))
    with pytest.raises(ValueError, match=r"beyond the range of float64. Divide the view by a constant"):
        kernel(1e200 * rows)


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_rows_that_are_all_the_same_have_the_width_one(container):
    """And not that of the rounding errors of their distances."""
    for seed in range(20):
        rows = container(np.tile(np.random.default_rng(seed).standard_normal(3), (4, 1)))
        assert mean_distance(rows) == 1.0
        np.testing.assert_allclose(laplace_kernel(rows), 1.0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [gaussian_kernel, laplace_kernel])
def test_rows_that_are_the_same_are_alike_however_far_out(kernel, dtype):
    rows = np.repeat([[56597340.6, -81732364.5, 156907009.0, -135145929.0]], 3, axis=0).astype(dtype)
    np.testing.assert_array_equal(kernel(rows), 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize(("kernel", "params"), [("gaussian", None), ("gaussian", {"sigma": 2.0}), ("laplace", None)])
def test_a_fitted_kernel_and_its_values_at_once(kernel, params, shift, dtype):
    X = (np.random.default_rng(0).standard_normal((60, 4)) + shift).astype(dtype)
    fitted, gram = fit_gram(kernel, X, params)
    expected = fit_kernel(kernel, X, params)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    assert gram.dtype == X.dtype
    assert fitted.params["sigma"] == pytest.approx(expected.params["sigma"], rel=tolerance)
    np.testing.assert_allclose(gram, fitted(X), atol=tolerance)
    np.testing.assert_allclose(gram, expected(X), atol=10 * tolerance)


def test_mean_distance_in_single_precision_far_from_the_origin():
    X = np.random.default_rng(0).standard_normal((200, 5)) + 100.0
    single = X.astype(np.float32)
    assert mean_distance(single) == pytest.approx(mean_distance(single.astype(np.float64)), rel=1e-6)
