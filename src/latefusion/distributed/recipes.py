"""What a similarity must see of a chunked view before its feature map is fitted, and the fitting.

In memory, kernels and graphs of many samples are fitted on a few drawn rows and on means. A recipe draws the numbers of
the same rows beforehand, and fits the same map once they are here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from latefusion.arrays import draw_rows
from latefusion.kernels import fit_kernel, mean_distance
from latefusion.kernels.functions import MEAN_DISTANCE_SAMPLES
from latefusion.similarities import GraphSimilarity, KernelSimilarity
from latefusion.similarities.anchors import MEAN_DISTANCE_SAMPLES as ANCHOR_DISTANCE_SAMPLES
from latefusion.similarities.anchors import (
    SAMPLES_PER_ANCHOR,
    AnchorExtension,
    CoordinateTransform,
    number_of_anchors,
    plain_anchor_map,
)
from latefusion.similarities.centered_rows import centered_lengths
from latefusion.similarities.factor import SUBSET_ROWS, FactorExtension, LinearMap, nystrom_map
from latefusion.similarities.kernel import LEAST_RANK, RANK_PER_CLUSTER
from latefusion.types import Array


class Sample(Protocol):
    """Rows of a view by their numbers, as far as they were asked for."""

    def __call__(self, rows: NDArray[np.intp]) -> Array:
        """Some rows."""
        ...


class Recipe(Protocol):
    """How the feature map of one view comes about."""

    @property
    def rows(self) -> NDArray[np.intp]:
        """Numbers of the rows that it must see."""
        ...

    def fit(self, sample: Sample, mean: NDArray[np.float64], dtype: Any) -> FactorExtension | AnchorExtension:
        """The feature map, by its extension to new samples; that of a graph lacks its scale."""
        ...


@dataclass(frozen=True)
class LinearRecipe:
    """A linear kernel needs the means of the columns."""

    rows: NDArray[np.intp]

    def fit(self, sample: Sample, mean: NDArray[np.float64], dtype: Any) -> FactorExtension:
        """Centre and length, as in `fit_linear_map`."""
        few = sample(self.rows)
        if scipy.sparse.issparse(few):
            largest = float(centered_lengths(few, np.zeros_like(mean)).max())
            floor = (8 * float(np.finfo(np.float64).eps)) ** 0.5 * largest
        else:
            floor = 8 * float(np.finfo(dtype).eps) * float(np.max(np.abs(mean))) * len(mean) ** 0.5
        return FactorExtension(LinearMap(mean.astype(dtype), floor))


@dataclass(frozen=True)
class DrawnRecipe:
    """What goes by drawn rows: some that are spaced evenly tell distances, a random subset tells the rest."""

    similarity: Any
    n_clusters: int
    spaced: NDArray[np.intp]
    subset: NDArray[np.intp]
    generator: np.random.RandomState
    n_samples: int

    @property
    def rows(self) -> NDArray[np.intp]:
        """Numbers of the rows that it must see."""
        return np.concatenate([self.spaced, self.subset])


class NystromRecipe(DrawnRecipe):
    """Any other kernel needs rows for its width, and a subset for landmarks and their mean."""

    def fit(self, sample: Sample, mean: NDArray[np.float64], dtype: Any) -> FactorExtension:
        """Landmarks and what follows from them, as in `fit_nystrom_map`."""
        spaced = sample(self.spaced)
        kernel = fit_kernel(self.similarity.kernel, spaced, self.similarity.kernel_params)
        if kernel.shift is not None:
            kernel = replace(kernel, shift=mean.astype(dtype))
        feature_map = nystrom_map(
            sample(self.subset),
            kernel,
            n_landmarks=self.similarity.n_landmarks,
            landmarks=self.similarity.landmarks,
            max_rank=max(LEAST_RANK, RANK_PER_CLUSTER * self.n_clusters),
            generator=self.generator,
            shape=(self.n_samples, spaced.shape[1]),
        )
        return FactorExtension(feature_map)


class AnchorRecipe(DrawnRecipe):
    """A graph needs a subset for its anchors, and rows for the mean distance."""

    def fit(self, sample: Sample, mean: NDArray[np.float64], dtype: Any) -> AnchorExtension:
        """Anchors and the map to rows of Z, as in `fit_anchor_graph`; the scale comes with the next pass."""
        spaced = sample(self.spaced)
        transform = CoordinateTransform.of(spaced, self.similarity.metric)
        n_anchors = number_of_anchors(self.similarity.n_anchors, self.n_clusters)
        shape = (self.n_samples, spaced.shape[1])
        plain = plain_anchor_map(transform(sample(self.subset)), transform, n_anchors, self.generator, shape)
        return AnchorExtension(plain, mean_distance(transform(spaced)))


def recipe_of(similarity: Any, name: str, n_samples: int, n_clusters: int) -> Recipe:
    """The recipe of a similarity.

    Parameters
    ----------
    similarity : KernelSimilarity or GraphSimilarity
        Kernels go through a factor and graphs through anchors, as in memory with many samples.
    name : str
        Of the view, for error messages.
    n_samples : int
    n_clusters : int

    Returns
    -------
    Recipe
    """
    if type(similarity) not in (KernelSimilarity, GraphSimilarity):
        raise ValueError(
            f"View {name!r} is chunked, and its partition {similarity!r} needs all samples at once. Use 'kernel', "
            f"'graph', a KernelSimilarity or a GraphSimilarity."
        )
    similarity._check_options()
    if similarity.method == "exact":
        raise ValueError(
            f"View {name!r} is chunked, where no similarity of all pairs of samples is formed, got method='exact'. Use "
            f"method='auto'."
        )
    if isinstance(similarity, GraphSimilarity):
        spaced = np.arange(0, n_samples, max(1, n_samples // ANCHOR_DISTANCE_SAMPLES))
        n_drawn = SAMPLES_PER_ANCHOR * number_of_anchors(similarity.n_anchors, n_clusters)
        kind: type[AnchorRecipe | NystromRecipe] = AnchorRecipe
    else:
        spaced = np.unique(np.linspace(0, n_samples - 1, min(n_samples, MEAN_DISTANCE_SAMPLES)).astype(np.intp))
        if isinstance(similarity.kernel, str) and similarity.kernel == "linear":
            return LinearRecipe(spaced)
        n_drawn, kind = SUBSET_ROWS, NystromRecipe
    generator = check_random_state(similarity.random_state)
    subset = draw_rows(n_samples, n_drawn, generator)
    return kind(similarity, n_clusters, spaced, subset, generator, n_samples)
