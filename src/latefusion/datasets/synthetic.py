"""Synthetic clusters in several views, with one parameter per difficulty of real data."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from latefusion.types import MultiViewDataset, Views

# Number of random draws of centers if a view has too few columns for equidistant centers; the best draw is used.
CENTER_DRAWS = 50


def make_views(
    n_samples: int = 300,
    n_clusters: int = 3,
    *,
    n_views: int = 3,
    n_features: int | Sequence[int] = 10,
    noise: float | Sequence[float] = 1.0,
    separation: float = 4.0,
    n_uninformative: int = 0,
    complementary: bool = False,
    balance: Sequence[float] | None = None,
    missing: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> MultiViewDataset:
    """Generate Gaussian clusters in several independent views.

    Every view has its own cluster centers; a sample is the center of its cluster plus Gaussian noise. The nearest two
    centers of a view are ``separation`` apart, so ``separation / noise`` controls the difficulty of a view. At the
    default 4 a single view separates the clusters well but not perfectly; all views together separate them.

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples.
    n_clusters : int, default=3
        Number of clusters, at most ``n_samples``.
    n_views : int, default=3
        Number of views that show the clusters, named ``view_0``, ``view_1``, ...
    n_features : int or sequence of int, default=10
        Columns of all views, or one number per view, those of the uninformative views last.
    noise : float or sequence of float, default=1.0
        Standard deviation around the centers, one for all or one per informative view.
    separation : float, default=4.0
        Distance between the nearest two centers of a view.
    n_uninformative : int, default=0
        Number of views without any clusters, standard normal, named ``noise_0``, ``noise_1``, ... and put last.
    complementary : bool, default=False
        Whether every view separates some clusters only, while the others share one center: no view shows all clusters,
        all views together do. View v separates the clusters j < n_clusters − 1 with
        ``j % n_views == v % (n_clusters - 1)``. Needs at least three clusters and two views.
    balance : sequence of float, default=None
        Proportion of every cluster, summing to 1; None makes the clusters as equal as possible.
    missing : float, default=0.0
        Fraction of the samples for which each view is missing. Missing rows are NaN, with False in the mask. Every
        sample keeps at least one view, which may be an uninformative one.
    random_state : int, RandomState or None, default=None
        Seed of all random draws. With the same seed, ``missing`` only removes rows and ``n_uninformative`` only adds
        views; everything else stays the same.

    Returns
    -------
    MultiViewDataset
        Samples in random order; the target is the cluster, 0 to ``n_clusters`` − 1.

    Examples
    --------
    >>> from latefusion.datasets import make_views
    >>> make_views(100, n_views=2, n_features=[5, 8, 4], n_uninformative=1, random_state=0).views
    Views(100 samples; view_0: 5, view_1: 8, noise_0: 4)
    """
    _check_counts(n_samples, n_clusters, n_views, n_uninformative, complementary)
    n_all = n_views + n_uninformative
    widths = _one_per_view("n_features", n_features, n_all, "n_views + n_uninformative")
    deviations = _one_per_view("noise", noise, n_views, "n_views")
    _check_values(widths, deviations, separation)
    sizes = _cluster_sizes(n_samples, n_clusters, balance)
    n_missing = _missing_rows(n_samples, n_all, missing)

    generator = check_random_state(random_state)
    target = generator.permutation(np.repeat(np.arange(n_clusters), sizes))
    arrays = {}
    for view in range(n_views):
        centers = _centers(generator, n_clusters, widths[view], separation)
        if complementary:
            centers = _share_center(centers, view, n_views)
        arrays[f"view_{view}"] = centers[target] + deviations[view] * generator.normal(size=(n_samples, widths[view]))
    for extra in range(n_uninformative):
        arrays[f"noise_{extra}"] = generator.normal(size=(n_samples, widths[n_views + extra]))
    mask = None
    if n_missing:
        mask = _draw_mask(generator, n_samples, n_all, n_missing)
        for array, observed in zip(arrays.values(), mask.T, strict=True):
            array[~observed] = np.nan
    return MultiViewDataset(
        views=Views(arrays, mask=mask),
        target=target,
        name="planted",
        description=f"{n_clusters} Gaussian clusters in {n_views} views, {n_uninformative} views of pure noise.",
    )


def _check_counts(n_samples: int, n_clusters: int, n_views: int, n_uninformative: int, complementary: bool) -> None:
    _check_count("n_samples", n_samples, 1)
    _check_count("n_clusters", n_clusters, 1)
    _check_count("n_views", n_views, 1)
    _check_count("n_uninformative", n_uninformative, 0)
    if n_clusters > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} must be <= n_samples={n_samples}, since every cluster needs a sample."
        )
    if complementary and (n_clusters < 3 or n_views < 2):
        raise ValueError(
            f"complementary=True requires n_clusters >= 3 and n_views >= 2; got n_clusters={n_clusters} and "
            f"n_views={n_views}."
        )


def _check_values(widths: list[Any], deviations: list[Any], separation: Any) -> None:
    for width in widths:
        _check_count("n_features", width, 1)
    for name, value in [("separation", separation), *(("noise", deviation) for deviation in deviations)]:
        if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
            raise ValueError(f"{name} must be a finite number >= 0; got {value!r}.")


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}; got {value!r}.")


def _one_per_view(name: str, value: Any, n_views: int, rule: str) -> list[Any]:
    if isinstance(value, Real):
        return [value] * n_views
    values = list(value)
    if len(values) != n_views:
        raise ValueError(
            f"{name} has {len(values)} entries, but there are {rule} = {n_views} views. Give {n_views} values, or one "
            f"number for all views."
        )
    return values


def _cluster_sizes(n_samples: int, n_clusters: int, balance: Sequence[float] | None) -> NDArray[np.intp]:
    proportions = np.full(n_clusters, 1 / n_clusters) if balance is None else np.asarray(balance, dtype=float)
    if proportions.shape != (n_clusters,):
        raise ValueError(
            f"balance must contain one proportion for each of n_clusters={n_clusters}; got shape {proportions.shape}."
        )
    if not (proportions > 0).all() or not np.isclose(proportions.sum(), 1):
        raise ValueError(
            f"balance must contain positive proportions that sum to 1; got {proportions.tolist()}, which sum to "
            f"{proportions.sum():g}. Divide them by their sum."
        )
    # Largest remainders get the samples that rounding down leaves over; the shift keeps exact shares exact.
    shares = proportions * n_samples + 1e-9
    sizes = np.floor(shares).astype(np.intp)
    left_over = n_samples - int(sizes.sum())
    sizes[np.argsort(sizes - shares, kind="stable")[:left_over]] += 1
    if (sizes == 0).any():
        empty = int(np.flatnonzero(sizes == 0)[0])
        raise ValueError(
            f"Cluster {empty} with proportion {proportions[empty]:g} gets none of n_samples={n_samples} samples. "
            f"Increase its proportion or n_samples."
        )
    return sizes


def _missing_rows(n_samples: int, n_views: int, missing: float) -> int:
    if not isinstance(missing, Real) or not 0 <= float(missing) < 1:
        raise ValueError(f"missing must be a fraction >= 0 and < 1; got {missing!r}.")
    n_missing = int(missing * n_samples + 0.5)
    most = n_samples - -(-n_samples // n_views)
    if n_missing > most:
        raise ValueError(
            f"missing={missing!r} removes {n_missing} of {n_samples} samples from each of {n_views} views, but every "
            f"sample keeps at least one view, which allows {most}. Use missing <= {most / n_samples:.3g} or more views."
        )
    return n_missing


def _centers(
    generator: np.random.RandomState, n_clusters: int, n_features: int, separation: float
) -> NDArray[np.float64]:
    if n_features >= n_clusters:
        basis, _ = np.linalg.qr(generator.normal(size=(n_features, n_clusters)))
        simplex: NDArray[np.float64] = basis.T * (separation / np.sqrt(2))
        return simplex
    draws = generator.normal(size=(CENTER_DRAWS, n_clusters, n_features))
    distances = [pdist(draw) for draw in draws]
    best = int(np.argmax([distance.min() / distance.max() for distance in distances]))
    scaled: NDArray[np.float64] = draws[best] * (separation / distances[best].min())
    return scaled


def _share_center(centers: NDArray[np.float64], view: int, n_views: int) -> NDArray[np.float64]:
    # The last cluster has no center of its own: it is identified by sharing the common center in every view.
    n_clusters = len(centers)
    cluster = np.arange(n_clusters)
    singled = (cluster % n_views == view % (n_clusters - 1)) & (cluster < n_clusters - 1)
    return np.where(singled[:, np.newaxis], centers, centers[-1])


def _draw_mask(generator: np.random.RandomState, n_samples: int, n_views: int, n_missing: int) -> NDArray[np.bool_]:
    # First every sample gets a view that it keeps, evenly over views. Then rows are removed from every view among the
    # samples that keep another one.
    kept = generator.permutation(np.arange(n_samples) % n_views)
    mask = np.ones((n_samples, n_views), dtype=bool)
    for view in range(n_views):
        candidates = np.flatnonzero(kept != view)
        mask[generator.choice(candidates, n_missing, replace=False), view] = False
    return mask
