"""Kernel similarities of one view, computed or given, and their extension to new samples."""

from time import perf_counter

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

from latefusion.arrays import memory
from latefusion.kernels import KERNELS, gaussian_kernel, linear_kernel, standardize_kernel
from latefusion.similarities import KernelSimilarity, PrecomputedSimilarity
from latefusion.similarities.factor import LinearMap

NAMES = sorted(KERNELS)
VIEW = np.random.default_rng(0).standard_normal((20, 3)) + 1.0


@pytest.mark.parametrize("kernel", NAMES)
def test_similarity_is_the_standardised_kernel(kernel):
    matrix, _ = KernelSimilarity(kernel).similarity(VIEW, 3)
    np.testing.assert_allclose(matrix, standardize_kernel(KERNELS[kernel](VIEW))[0], atol=1e-10)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-3)])
def test_training_samples_get_their_rows_back(kernel, container, dtype, tolerance):
    view = container(np.where(VIEW > 1.0, VIEW, 0.0).astype(dtype))
    matrix, extension = KernelSimilarity(kernel).similarity(view, 3)
    assert matrix.dtype == dtype
    again = extension.features(view[2:9])
    assert again.dtype == dtype
    np.testing.assert_allclose(again, matrix[2:9], atol=tolerance)
    assert extension.closeness(view[2:9], again) is again


def test_parameters_reach_the_kernel_and_survive_clone():
    partition = clone(KernelSimilarity("gaussian", kernel_params={"sigma": 0.3}))
    matrix, _ = partition.similarity(VIEW, 3)
    np.testing.assert_allclose(matrix, standardize_kernel(gaussian_kernel(VIEW, sigma=0.3))[0], atol=1e-10)


@pytest.mark.parametrize("kernel", [rbf_kernel, cosine_similarity, lambda left, right: left @ right.T])
def test_callables(kernel):
    matrix, extension = KernelSimilarity(kernel).similarity(VIEW, 3)
    np.testing.assert_allclose(matrix, standardize_kernel(kernel(VIEW, VIEW))[0], atol=1e-12)
    np.testing.assert_allclose(extension.features(VIEW[:4]), matrix[:4], atol=1e-9)


def test_the_memory_of_a_callable_is_its_own():
    stored = linear_kernel(VIEW)
    before = stored.copy()
    KernelSimilarity(lambda left, right: stored).similarity(VIEW, 3)
    np.testing.assert_array_equal(stored, before)


@pytest.mark.parametrize(
    ("partition", "words"),
    [
        (KernelSimilarity("rbf"), ["'rbf'", "gaussian"]),
        (KernelSimilarity("gaussian", kernel_params={"sigma": 1e12}), ["(20, 3)", "constant", "kernel_params"]),
        (
            KernelSimilarity("polynomial", kernel_params={"degree": 10_000}),
            ["(20, 3)", "NaN or infinite", "parameters"],
        ),
        (KernelSimilarity(lambda left, right: np.full((20, 20), np.nan)), ["(20, 3)", "NaN or infinite"]),
        (KernelSimilarity(lambda left, right: np.ones(3)), ["(20, 20)", "(3,)"]),
        (KernelSimilarity(lambda left, right: np.triu(np.ones((20, 20)))), ["not symmetric", "k(y, x)"]),
        (KernelSimilarity(lambda left, right: np.ones((20, 20))), ["constant"]),
    ],
)
def test_what_a_kernel_partition_refuses(partition, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        partition.similarity(VIEW, 3)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_precomputed_equals_computed(dtype):
    raw = gaussian_kernel(VIEW).astype(dtype)
    raw.setflags(write=False)
    matrix, extension = PrecomputedSimilarity().similarity(raw, 3)
    assert matrix.dtype == dtype
    tolerance = 1e-12 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(matrix, KernelSimilarity("gaussian").similarity(VIEW, 3)[0], atol=tolerance)
    assert extension.self_similarity == pytest.approx(1.0)
    np.testing.assert_allclose(extension.features(raw[:5]), matrix[:5], atol=tolerance)


def test_precomputed_kernels_without_constant_diagonal_need_that_of_new_samples():
    raw = linear_kernel(VIEW)
    matrix, extension = PrecomputedSimilarity().similarity(raw, 3)
    assert extension.self_similarity is None
    np.testing.assert_allclose(extension.features(raw[:5], np.diagonal(raw)[:5]), matrix[:5], atol=1e-10)


def test_prepared_kernels_are_left_alone():
    prepared = standardize_kernel(gaussian_kernel(VIEW))[0]
    matrix, extension = PrecomputedSimilarity(standardize=False).similarity(prepared, 3)
    assert matrix is prepared
    np.testing.assert_array_equal(extension.features(prepared[:5]), prepared[:5])
    # The switch has a point: standardising twice is something else.
    assert np.abs(standardize_kernel(prepared)[0] - prepared).max() > 1e-3


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_exact_kernel_is_refused_before_it_is_formed(monkeypatch, dtype):
    view, size = VIEW.astype(dtype), 2 * 20 * 20 * np.dtype(dtype).itemsize
    monkeypatch.setattr(memory, "available_memory", lambda like=None: size)
    KernelSimilarity().similarity(view, 3)
    monkeypatch.setattr(memory, "available_memory", lambda like=None: size - 1)
    with pytest.raises(MemoryError, match=r"shape \(20, 3\), 20 x 20 .*method='factor'.*float32"):
        KernelSimilarity().similarity(view, 3)
    KernelSimilarity(method="factor").similarity(view, 3)


def test_three_million_samples_are_refused_at_once():
    view = np.broadcast_to(np.float32(1.0), (3_000_000, 4))
    start = perf_counter()
    with pytest.raises(MemoryError, match=r"3000000 x 3000000 numbers .* needs at least 65\.5 TiB of memory"):
        KernelSimilarity(method="exact").similarity(view, 3)
    assert perf_counter() - start < 1


@pytest.mark.parametrize(
    ("shape", "density", "method", "formed"),
    [
        ((900, 40), None, "auto", True),
        ((1100, 40), None, "auto", False),
        ((1100, 1200), None, "auto", True),
        ((2100, 2200), None, "auto", False),
        ((900, 40), 0.1, "auto", True),
        ((1100, 5000), 0.01, "auto", False),
        ((300, 40), 0.1, "factor", False),
        ((1100, 40), 0.1, "exact", True),
    ],
)
def test_when_a_linear_kernel_is_formed(shape, density, method, formed, monkeypatch):
    """Not where its features are cheaper, nor beyond some size; sparse views stay sparse."""
    monkeypatch.setattr("latefusion.similarities.kernel.NYSTROM_SAMPLES", 2000)
    if density is None:
        view = np.broadcast_to(np.random.default_rng(0).standard_normal(shape[1]), shape)
        view = view * np.linspace(1, 2, shape[0])[:, None]
    else:
        view = sp.random_array(shape, density=density, format="csr", random_state=0)
    matrix, _ = KernelSimilarity("linear", method=method).similarity(view, 3)
    assert isinstance(matrix, np.ndarray) == formed
    if not formed:
        assert isinstance(matrix.feature_map, LinearMap)
        assert matrix.view is view
