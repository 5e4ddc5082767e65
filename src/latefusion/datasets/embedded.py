"""Multi-view data sets made from the tables that come with scikit-learn, so they need no download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import affine_transform, convolve, zoom
from sklearn.datasets import load_breast_cancer, load_digits

from latefusion.types import MultiViewDataset, Views

Images = NDArray[np.float64]

GREATEST_INK = 16


@overload
def load_digits_views(*, return_X_y: Literal[False] = False) -> MultiViewDataset: ...
@overload
def load_digits_views(*, return_X_y: Literal[True]) -> tuple[Views, NDArray[Any]]: ...
def load_digits_views(*, return_X_y: bool = False) -> MultiViewDataset | tuple[Views, NDArray[Any]]:
    """Handwritten digits, 1797 images of 8 × 8 pixels, as five views.

    ========= ======= ==================================================================================
    view      columns features
    ========= ======= ==================================================================================
    pixels         61 grey values
    upright        64 grey values after centering the digit and removing its slant
    fourier       144 magnitudes of the spatial frequencies, independent of the position of the digit
    gradients      72 histograms of the direction of grey-value changes, on a 3 × 3 grid of overlapping cells
    strokes        96 strength of lines in six directions, on a 4 × 4 grid
    ========= ======= ==================================================================================

    Constant columns are removed. Within a view all columns have the same unit and keep their scale: with unit variance,
    border pixels, which are almost always empty, would count as much as the others. The views differ in unit and width.
    Scale each view before concatenating them.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair of views and digits in place of the data set object.

    Returns
    -------
    MultiViewDataset or (Views, ndarray of shape (1797,))
        The target is the digit, 0 to 9.

    Examples
    --------
    >>> from latefusion.datasets import load_digits_views
    >>> load_digits_views().views
    Views(1797 samples; pixels: 61, upright: 64, fourier: 144, gradients: 72, strokes: 96)
    """
    source = load_digits()
    images = source.images / GREATEST_INK
    views = Views({name: _varying(describe(images)) for name, describe in DIGIT_VIEWS.items()})
    dataset = MultiViewDataset(
        views=views,
        target=source.target,
        name="digits",
        target_names=tuple(str(digit) for digit in source.target_names),
        description=(
            "1797 handwritten digits of 8 x 8 pixels (scikit-learn's load_digits, the test part of the UCI optical "
            "recognition of handwritten digits set), described by " + ", ".join(views.names) + "."
        ),
    )
    return (dataset.views, source.target) if return_X_y else dataset


@overload
def load_breast_cancer_views(*, scale: bool = True, return_X_y: Literal[False] = False) -> MultiViewDataset: ...
@overload
def load_breast_cancer_views(*, scale: bool = True, return_X_y: Literal[True]) -> tuple[Views, NDArray[Any]]: ...
def load_breast_cancer_views(
    *, scale: bool = True, return_X_y: bool = False
) -> MultiViewDataset | tuple[Views, NDArray[Any]]:
    """Breast cancer cell nuclei, 569 samples: the mean, the standard error and the worst value of ten measurements.

    Every view has the same ten columns (radius, texture, perimeter, area, smoothness, compactness, concavity, concave
    points, symmetry, fractal dimension), summarized over the nuclei of one image.

    Parameters
    ----------
    scale : bool, default=True
        Bring every column to mean 0 and standard deviation 1. The raw columns differ by factors of up to a million, so
        without scaling the areas dominate all distances.
    return_X_y : bool, default=False
        Return the pair of views and diagnoses in place of the data set object.

    Returns
    -------
    MultiViewDataset or (Views, ndarray of shape (569,))
        The target is 0 for malignant, 1 for benign.

    Examples
    --------
    >>> from latefusion.datasets import load_breast_cancer_views
    >>> load_breast_cancer_views().views
    Views(569 samples; mean: 10, error: 10, worst: 10)
    """
    source = load_breast_cancer()
    columns = list(source.feature_names)
    wanted = {
        "mean": [position for position, column in enumerate(columns) if column.startswith("mean ")],
        "error": [position for position, column in enumerate(columns) if column.endswith(" error")],
        "worst": [position for position, column in enumerate(columns) if column.startswith("worst ")],
    }
    parts = {name: source.data[:, positions] for name, positions in wanted.items()}
    views = Views({name: _standardized(part) if scale else part for name, part in parts.items()})
    dataset = MultiViewDataset(
        views=views,
        target=source.target,
        name="breast_cancer",
        target_names=tuple(str(name) for name in source.target_names),
        description=(
            "569 breast masses (scikit-learn's load_breast_cancer, the Wisconsin diagnostic set): ten measurements of "
            "cell nuclei as mean, standard error and worst value. Columns: "
            + ", ".join(columns[position].removeprefix("mean ") for position in wanted["mean"])
            + "."
        ),
    )
    return (dataset.views, source.target) if return_X_y else dataset


def _varying(columns: NDArray[Any]) -> NDArray[Any]:
    return columns[:, np.ptp(columns, axis=0) > 0]


def _standardized(columns: NDArray[Any]) -> NDArray[np.float64]:
    varying = _varying(columns)
    scaled: NDArray[np.float64] = (varying - varying.mean(axis=0)) / varying.std(axis=0)
    return scaled


def _pixels(images: Images) -> Images:
    return images.reshape(len(images), -1)


def _fourier(images: Images) -> Images:
    # Padding to twice the side keeps the transform from wrapping around.
    return np.abs(np.fft.rfft2(images, s=(16, 16))).reshape(len(images), -1)


def _gradients(images: Images, n_shared_components: int = 8, cell: int = 4, step: int = 2) -> Images:
    padded = _framed(images)
    down = padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]
    right = padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]
    direction = np.arctan2(down, right) / (2 * np.pi) * n_shared_components
    # Every pixel shares its strength between the two nearest directions, so a small turn changes the histogram little.
    apart = np.abs(direction[..., np.newaxis] - np.arange(n_shared_components)) % n_shared_components
    share = np.maximum(1 - np.minimum(apart, n_shared_components - apart), 0)
    strength = np.hypot(down, right)[..., np.newaxis] * share
    cells = np.lib.stride_tricks.sliding_window_view(strength, (cell, cell), axis=(1, 2))[:, ::step, ::step]
    histograms: Images = cells.sum(axis=(-2, -1))
    return histograms.reshape(len(images), -1)


def _upright(images: Images, fineness: int = 3) -> Images:
    # On a finer grid, averaged back afterwards: the shear alone would blur a digit of eight pixels.
    side = images.shape[1] * fineness
    rows, columns = np.mgrid[:side, :side]
    middle = np.full(2, (side - 1) / 2)
    turned = []
    for image in zoom(images, (1, fineness, fineness), order=1):
        weights = image / image.sum()
        center = np.array([(weights * rows).sum(), (weights * columns).sum()])
        height = rows - center[0]
        slant = (weights * height * (columns - center[1])).sum() / (weights * height**2).sum()
        shear = np.array([[1.0, 0.0], [slant, 1.0]])
        turned.append(affine_transform(image, shear, offset=center - shear @ middle, order=1))
    cells = np.stack(turned).reshape(len(images), *[images.shape[1], fineness] * 2)
    return cells.mean(axis=(2, 4)).reshape(len(images), -1)


def _strokes(images: Images, n_shared_components: int = 6, wavelength: float = 4.0, cell: int = 2) -> Images:
    down, right = np.mgrid[-2:3, -2:3]
    described = []
    for direction in np.arange(n_shared_components) * np.pi / n_shared_components:
        across = right * np.cos(direction) + down * np.sin(direction)
        line = np.exp(-(right**2 + down**2) / 3) * np.cos(2 * np.pi * across / wavelength)
        response = np.maximum(convolve(images, (line - line.mean())[np.newaxis], mode="constant"), 0)
        n_cells = images.shape[1] // cell
        cells = response.reshape(len(images), n_cells, cell, n_cells, cell).mean(axis=(2, 4))
        described.append(cells.reshape(len(images), -1))
    return np.hstack(described)


def _framed(images: Images) -> Images:
    return np.pad(images, ((0, 0), (1, 1), (1, 1)))


DIGIT_VIEWS: dict[str, Callable[[Images], Images]] = {
    "pixels": _pixels,
    "upright": _upright,
    "fourier": _fourier,
    "gradients": _gradients,
    "strokes": _strokes,
}
