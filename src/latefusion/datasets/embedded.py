"""Multi-view data sets made from the tables that come with scikit-learn, so they need no download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from latefusion.types import MultiViewDataset, Views

Images = NDArray[np.float64]

GREATEST_INK = 16
# A pixel counts as ink where it is at least half covered.
INK_THRESHOLD = 0.5


@overload
def load_digits_views(*, return_X_y: Literal[False] = False) -> MultiViewDataset: ...
@overload
def load_digits_views(*, return_X_y: Literal[True]) -> tuple[Views, NDArray[Any]]: ...
def load_digits_views(*, return_X_y: bool = False) -> MultiViewDataset | tuple[Views, NDArray[Any]]:
    """Handwritten digits, 1797 images of 8 × 8 pixels, seen in five ways.

    ========= ======= ==================================================================================
    view      columns what it sees
    ========= ======= ==================================================================================
    pixels         61 the grey values themselves
    fourier        41 magnitudes of the low spatial frequencies: blind to where the digit stands
    gradients      72 histograms of the direction of grey-value changes, on a 3 × 3 grid of overlapping cells
    moments        15 amount of ink, its centre, and central moments of orders 2 to 4
    contours       48 distance from the four borders to the first ink; number of strokes crossed
    ========= ======= ==================================================================================

    Columns that do not vary are left out, and every remaining column has mean 0 and standard deviation 1. The views
    differ in width: divide each by the root of its width before comparing or joining them.

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
    Views(1797 samples; pixels: 61, fourier: 41, gradients: 72, moments: 15, contours: 48)
    """
    source = load_digits()
    images = source.images / GREATEST_INK
    views = Views({name: _standardized(describe(images)) for name, describe in DIGIT_VIEWS.items()})
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
    points, symmetry, fractal dimension), summarised over the nuclei of one image.

    Parameters
    ----------
    scale : bool, default=True
        Bring every column to mean 0 and standard deviation 1. The raw columns differ by factors of up to a million, so
        without it the areas decide everything.
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


def _standardized(columns: NDArray[Any]) -> NDArray[np.float64]:
    varying = columns[:, np.ptp(columns, axis=0) > 0]
    scaled: NDArray[np.float64] = (varying - varying.mean(axis=0)) / varying.std(axis=0)
    return scaled


def _pixels(images: Images) -> Images:
    return images.reshape(len(images), -1)


def _fourier(images: Images) -> Images:
    # Padding to twice the side keeps the transform from wrapping around. Of the frequencies (u, v) up to 4 the
    # magnitude at (-u, -v) is the same as at (u, v), so half of them suffice.
    spectrum = np.abs(np.fft.rfft2(images, s=(16, 16)))
    falling, rising = spectrum[:, :5, :5], spectrum[:, -4:, 1:5]
    return np.hstack([falling.reshape(len(images), -1), rising.reshape(len(images), -1)])


def _gradients(images: Images, n_directions: int = 8, cell: int = 4, step: int = 2) -> Images:
    padded = _framed(images)
    down = padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]
    right = padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]
    direction = np.arctan2(down, right) / (2 * np.pi) * n_directions
    # Every pixel shares its strength between the two nearest directions, so a small turn changes the histogram little.
    apart = np.abs(direction[..., np.newaxis] - np.arange(n_directions)) % n_directions
    share = np.maximum(1 - np.minimum(apart, n_directions - apart), 0)
    strength = np.hypot(down, right)[..., np.newaxis] * share
    cells = np.lib.stride_tricks.sliding_window_view(strength, (cell, cell), axis=(1, 2))[:, ::step, ::step]
    histograms: Images = cells.sum(axis=(-2, -1))
    return histograms.reshape(len(images), -1)


def _moments(images: Images, highest_order: int = 4) -> Images:
    position = np.arange(images.shape[1], dtype=float)
    ink = images.sum(axis=(1, 2))
    row_center = images.sum(axis=2) @ position / ink
    column_center = images.sum(axis=1) @ position / ink
    rows = position - row_center[:, np.newaxis]
    columns = position - column_center[:, np.newaxis]
    described = [ink, row_center, column_center]
    for order in range(2, highest_order + 1):
        for power in range(order + 1):
            moment = np.einsum("nrc,nr,nc->n", images, rows**power, columns ** (order - power)) / ink
            # The root brings all orders to the unit of a pixel.
            described.append(np.sign(moment) * np.abs(moment) ** (1 / order))
    return np.stack(described, axis=1)


def _contours(images: Images) -> Images:
    ink = images >= INK_THRESHOLD
    side = images.shape[1]
    described = []
    for along in (ink, ink.swapaxes(1, 2)):
        for seen in (along, along[:, :, ::-1]):
            described.append(np.where(seen.any(axis=2), seen.argmax(axis=2), side))
        begins = along & ~np.pad(along, ((0, 0), (0, 0), (1, 0)))[:, :, :-1]
        described.append(begins.sum(axis=2))
    return np.hstack(described).astype(float)


def _framed(images: Images) -> Images:
    return np.pad(images, ((0, 0), (1, 1), (1, 1)))


DIGIT_VIEWS: dict[str, Callable[[Images], Images]] = {
    "pixels": _pixels,
    "fourier": _fourier,
    "gradients": _gradients,
    "moments": _moments,
    "contours": _contours,
}
