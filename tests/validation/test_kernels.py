"""Precomputed kernels: what passes unharmed, and what is refused with advice."""

import numpy as np
import pytest
import scipy.sparse as sp

import latefusion as lf
from latefusion.arrays import memory
from latefusion.kernels import KERNELS, gaussian_kernel, laplace_kernel, linear_kernel
from latefusion.validation import check_diagonals
from latefusion.validation.kernels import FULL_SPECTRUM_LIMIT, check_cross_kernel, check_kernel

ROWS = np.random.default_rng(0).standard_normal((30, 4))
MANY = np.random.default_rng(0).standard_normal((FULL_SPECTRUM_LIMIT + 200, 3))


@pytest.mark.parametrize("name", ["linear", "polynomial", "gaussian", "laplace"])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e-290, 1.0, 1e140])
def test_kernels_pass(name, container, scale):
    kernel = KERNELS[name](ROWS) * scale
    checked = check_kernel(container(kernel), "a")
    np.testing.assert_allclose(checked / scale, kernel / scale, rtol=1e-12)
    np.testing.assert_array_equal(checked, checked.T)


def test_precision_is_kept_and_the_input_is_not_touched():
    kernel = gaussian_kernel(ROWS).astype(np.float32)
    kernel.setflags(write=False)
    assert check_kernel(kernel, "a").dtype == np.float32


def test_rounding_errors_are_made_good():
    kernel = gaussian_kernel(ROWS)
    noisy = kernel + 1e-9 * np.random.default_rng(0).standard_normal(kernel.shape)
    checked = check_kernel(noisy, "a")
    np.testing.assert_array_equal(checked, checked.T)
    np.testing.assert_allclose(checked, kernel, atol=1e-7)


def test_a_sample_without_similarities_passes():
    kernel = gaussian_kernel(ROWS)
    kernel[0] = kernel[:, 0] = 0.0
    assert check_kernel(kernel, "a").shape == kernel.shape


GOOD_LARGE = {
    "smooth": lambda: gaussian_kernel(MANY),
    "rough": lambda: laplace_kernel(MANY, sigma=0.1),
    "low rank": lambda: linear_kernel(MANY),
    "identity": lambda: np.eye(len(MANY)),
    "blocks": lambda: np.kron(np.eye(6), np.ones((100, 100))),
    "single precision": lambda: gaussian_kernel(MANY.astype(np.float32)),
}


@pytest.mark.parametrize("kind", GOOD_LARGE)
def test_large_kernels_pass(kind):
    """A smooth kernel has a lowest eigenvalue of zero up to rounding; no iteration may wait for its digits."""
    kernel = GOOD_LARGE[kind]()
    np.testing.assert_allclose(check_kernel(kernel, "a"), kernel, atol=1e-6)


def indefinite(n):
    """Random similarities: everybody resembles themselves most, and yet no features have such inner products."""
    half = np.tril(np.random.default_rng(0).uniform(-0.5, 0.5, size=(n, n)), -1)
    return np.eye(n) + half + half.T


def distances(rows):
    return np.sqrt(np.maximum(-2 * np.log(gaussian_kernel(rows, sigma=1.0)), 0))


TRIANGLE = np.triu(gaussian_kernel(ROWS))
REFUSED = {
    "not square": (gaussian_kernel(ROWS)[:, :9], ["'a'", "square", "(30, 9)", "precomputed"]),
    "asymmetric": (gaussian_kernel(ROWS) + 0.1 * TRIANGLE, ["'a'", "not symmetric", "(K + K.T) / 2"]),
    "distances": (distances(ROWS), ["'a'", "self-similarity", "positive", "distances", "np.exp"]),
    "squared distances": (distances(ROWS) ** 2, ["'a'", "self-similarity", "np.exp"]),
    "negative": (-gaussian_kernel(ROWS), ["'a'", "self-similarity -1 in row 0", "positive"]),
    "one negative": (np.diag([1.0, -2.0, 1.0]), ["'a'", "self-similarity -2 in row 1"]),
    "zero": (np.zeros((5, 5)), ["'a'", "self-similarity 0", "positive"]),
    "constant": (np.ones((5, 5)), ["'a'", "constant", "cannot separate", "Remove"]),
    "large constant": (np.ones((len(MANY), len(MANY))), ["'a'", "constant", "Remove"]),
    "indefinite": (indefinite(30), ["'a'", "indefinite", "eigenvalues", "clip"]),
    "more like others": (
        distances(ROWS) + 0.1 * np.eye(30),
        ["'a'", "indefinite", "row ", "more similar to it than"],
    ),
    "one more like others": (np.eye(5) + 2 * np.eye(5, k=1) + 2 * np.eye(5, k=-1), ["'a'", "indefinite"]),
    "large indefinite": (indefinite(len(MANY)), ["'a'", "indefinite", "eigenvalues", "clip"]),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_kernel_is_refused(kind):
    kernel, words = REFUSED[kind]
    with pytest.raises(ValueError, match=r"\w") as caught:
        check_kernel(kernel, "a")
    assert all(word in str(caught.value) for word in words), caught.value


def test_the_two_ways_to_find_extreme_eigenvalues_agree(monkeypatch):
    kernel = indefinite(len(MANY))
    messages = []
    for limit in (0, len(kernel)):
        monkeypatch.setattr("latefusion.validation.kernels.FULL_SPECTRUM_LIMIT", limit)
        with pytest.raises(ValueError, match="indefinite") as caught:
            check_kernel(kernel, "a")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_cross_kernels():
    cross = gaussian_kernel(ROWS[:4], ROWS)
    np.testing.assert_array_equal(check_cross_kernel(sp.csr_array(cross), "a", 30), cross)
    with pytest.raises(ValueError, match=r"'a' has 29 columns.*30 training samples.*\(n_new, 30\)"):
        check_cross_kernel(cross[:, :29], "a", 30)


def test_diagonals_by_position_by_name_and_none():
    assert check_diagonals(None, ["a", "b"], 3) == [None, None]
    for given in ({"b": [1, 2, 3]}, [None, [1.0, 2.0, 3.0]], (None, np.array([1, 2, 3]))):
        first, second = check_diagonals(given, ["a", "b"], 3)
        assert first is None
        np.testing.assert_array_equal(second, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("diagonals", "words"),
    [
        ({"c": np.ones(3)}, ["diagonals", "['c']", "['a', 'b']"]),
        ([np.ones(3)], ["1 entries", "2 views", "['a', 'b']"]),
        ([np.ones(2), None], ["'a'", "3 finite self-similarities", "(2,)"]),
        ([None, np.ones((3, 1))], ["'b'", "3 finite self-similarities", "(3, 1)"]),
        ([None, [1.0, np.nan, 1.0]], ["'b'", "finite", "nan"]),
        ([None, [1.0, -1.0, 1.0]], ["'b'", ">= 0", "-1"]),
    ],
)
def test_what_diagonals_are_refused(diagonals, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        check_diagonals(diagonals, ["a", "b"], 3)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_kernels_that_do_not_fit_twice_are_refused(monkeypatch, container):
    kernel = container(np.eye(30))
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 2 * 30 * 30 * 8 - 1)
    with pytest.raises(MemoryError, match=r"view 'a', 30 x 30 numbers .* similarity='kernel'"):
        check_kernel(kernel, "a")


def test_samples_of_a_kernel_with_missing_rows_are_named_as_the_user_names_them():
    kernel = gaussian_kernel(ROWS)
    kernel[20, 20] = -1.0
    mask = np.ones((30, 2), dtype=bool)
    mask[:5, 0] = False
    ids = [f"p{row}" for row in range(30)]
    for given, sample in ((None, "sample 20"), (ids, "sample 'p20'")):
        X = lf.Views([kernel, gaussian_kernel(ROWS)], mask=mask, sample_ids=given)
        with pytest.raises(ValueError, match=rf"self-similarity -1 in {sample};"):
            lf.GlobalAlignmentClustering(2, similarity="precomputed").fit(X)
