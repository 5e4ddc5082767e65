"""`LateFusionClustering` of views that are chunked by rows: the search on a sample, one fit on all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from latefusion import estimators
from latefusion.arrays import root_of_products, top_eigenpairs
from latefusion.base import warn_not_converged
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import RowFeatures, feature_products
from latefusion.distributed.recipes import Recipe, recipe_of
from latefusion.distributed.rows import ProjectedRows, lazy_map
from latefusion.distributed.shell import ChunkedMixin, draw_competition
from latefusion.distributed.stores import is_chunked
from latefusion.distributed.survey import ColumnSums, Survey, lacking_views, survey
from latefusion.encoding.coordinates import SideBySide
from latefusion.encoding.preparation import Preparation, describe_view
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.late_fusion import check_numbers
from latefusion.estimators.novelty import fit_novelty
from latefusion.partitions.fitting import root_values
from latefusion.partitions.imputation import Fill, PatternSums, fit_factor_model
from latefusion.partitions.operators import inverse_values
from latefusion.partitions.partitions import Block, PartitionKey
from latefusion.partitions.sources import Source, joint_scales, mean_squared_distance
from latefusion.partitions.spectra import Spectrum
from latefusion.selection import SearchOptions, Selected, TrainingState, select
from latefusion.selection.search import draw_search_samples, number_of_vectors
from latefusion.solvers.late_fusion_spectra import WeightedSpectrum, fuse_spectra
from latefusion.types import Array, Views


@dataclass(frozen=True)
class PreparedPlaces:
    """Every feature map takes the scaled rows of its view, or those of all views side by side.

    Attributes
    ----------
    views : tuple of int
        The view of every feature map; the number of views stands for all of them together.
    preparations : tuple of Encoding
    joint : SideBySide or None
    """

    views: tuple[int, ...]
    preparations: tuple[Any, ...]
    joint: SideBySide | None

    def __call__(self, blocks: Sequence[Array]) -> list[Array]:
        """The scaled rows for every feature map."""
        placed: dict[int, Array] = {}
        for view in self.views:
            if view in placed:
                continue
            if view < len(self.preparations):
                placed[view] = self.preparations[view](blocks[view])
            elif self.joint is not None:
                placed[view] = self.joint(blocks, [None] * len(blocks))
        return [placed[view] for view in self.views]


class LateFusionClustering(ChunkedMixin, estimators.LateFusionClustering):
    """`latefusion.LateFusionClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `partitions_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything else is small and concrete, and
    `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    What a view holds is told from sampled rows, and its scaling is taken from all. The number of clusters, the kinds of
    partition and λ are chosen on 3000 sampled rows, as in memory; what was chosen is fitted on all rows, kernels
    through a factor and graphs through anchors. Passes over the views are those of
    `latefusion.distributed.GlobalAlignmentClustering`. Samples that lack views are refused.

    Examples
    --------
    >>> import dask.array as da
    >>> from latefusion.datasets import make_views
    >>> from latefusion.distributed import LateFusionClustering
    >>> data = make_views(n_samples=300, n_clusters=3, random_state=0)
    >>> views = {name: da.from_array(view, chunks=(100, -1)) for name, view in data.views.items()}
    >>> model = LateFusionClustering(n_clusters=3, random_state=0).fit(views)
    >>> model.labels_.compute().shape
    (300,)
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Cluster the samples.

        Parameters
        ----------
        X : list or dict of chunked views, or one of them
            Dask arrays or data frames, Zarr arrays, memory-mapped arrays, or paths of Zarr stores, Parquet folders and
            ``.npy`` files, with the same rows in any chunks. Views in memory only are fitted in memory.
        y : ignored
            Present by convention.

        Returns
        -------
        self
        """
        if not is_chunked(X):
            return super().fit(X, y)
        with self._all_or_nothing():
            self._fit_chunked(X)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def _fit_chunked(self, X: Any) -> None:
        numbers = check_numbers(self.n_clusters)
        views = self._read_chunked(X, numbers if isinstance(numbers, int) else min(numbers))
        options = self._search_options(numbers)
        generator = check_random_state(options.seed)
        most = max(options.numbers_for(views.n_samples))
        subset = draw_competition(views, most, generator)
        seen = draw_search_samples(views.n_samples, most, options.seed)
        similarities = self._named_similarities(views, options)
        recipes = _Recipes(similarities, self._together(similarities, options), views, most)
        found = survey(views, [[seen, *recipes.rows]] * views.n_views, subset, spreads=True)
        if found.presence.has_holes:
            raise lacking_views(
                views.names,
                found.presence,
                "the search would judge by neighbours in views that were filled in. Use GlobalAlignmentClustering",
            )
        sources = self._sampled_sources(views, found, seen, similarities)
        selected, _ = select(sources, options)
        self._store_choices(selected, {name: one.kind for name, one in zip(views.names, sources, strict=True)})
        self._state = TrainingState(sources, options, selected)
        rows, fitted = self._fit_plan(views, found, recipes, selected)
        rule = self._label_rows(views, rows, found, subset, self.n_clusters_, generator)
        drawn = Views([found.draw(view, subset) for view in range(views.n_views)], views.names)
        novelty = fit_novelty(drawn, [source.encoding for source in sources])
        self.consensus_map_, self.novelty_ = replace(fitted, rule=rule, novelty=novelty), None

    def weight_intervals(self, n_bootstrap: int = 200, level: float = 0.95) -> Any:
        """As in memory; refused after a fit on chunked views.

        Parameters
        ----------
        n_bootstrap : int, default=200
        level : float, default=0.95

        Returns
        -------
        WeightIntervals
        """
        self._refuse_if_chunked()
        return super().weight_intervals(n_bootstrap, level)

    def leave_one_view_out(self) -> Any:
        """As in memory; refused after a fit on chunked views.

        Returns
        -------
        list of ViewVerdict
        """
        self._refuse_if_chunked()
        return super().leave_one_view_out()

    def _refuse_if_chunked(self) -> None:
        if hasattr(getattr(self, "labels_", None), "dask"):
            raise ValueError(
                f"This {type(self).__name__} was fitted on chunked views, whose base partitions are not in memory, as "
                f"what was asked for needs them. Fit it on a sample of the rows in memory."
            )

    def _named_similarities(self, views: ChunkedViews, options: SearchOptions) -> list[dict[str, Any]]:
        """The similarities of every view by name, as far as chunked views allow them."""
        own = options.named
        known = {"auto": own.all, "graph": own.graphs, "kernel": own.kernels}
        return [
            known[spec] if isinstance(spec, str) and spec in known else {"given": spec}
            for spec in self._similarity_specs(views)
        ]

    def _together(self, similarities: Sequence[Mapping[str, Any]], options: SearchOptions) -> dict[str, Any]:
        """Those of all views side by side."""
        plain = Preparation("given")
        sources = [Source(plain.kind, np.empty((0, 0)), one, plain) for one in similarities]
        return options.named.joint(sources, self.missing)

    def _sampled_sources(
        self, views: ChunkedViews, found: Survey, seen: NDArray[np.intp], similarities: Sequence[Mapping[str, Any]]
    ) -> list[Source]:
        """Sources of the samples that the search uses, scaled by statistics of all rows."""
        sources = []
        for view, own in enumerate(similarities):
            preparation = (
                Preparation("given") if "given" in own else prepare(found.views[view], views.arrays[view].dtype)
            )
            sources.append(Source(preparation.kind, preparation(found.take(view, seen)), own, preparation))
        return sources

    def _fit_plan(
        self, views: ChunkedViews, found: Survey, recipes: _Recipes, selected: Selected
    ) -> tuple[ProjectedRows, ConsensusMap]:
        """Fuse the chosen similarities of all rows; everything is stored but what needs labels."""
        n_clusters, plan, sources = selected.n_clusters, selected.plan, self._state.sources
        joint = None
        if any(key.view == views.n_views for key in plan):
            joint = _joint_encoding(sources, found, selected.shares)
        used = recipes.distinct(plan)
        places = PreparedPlaces(tuple(recipes.view(one) for one in used), tuple(one.encoding for one in sources), joint)
        extensions = []
        for one in used:
            sample = _PlacedSample(found, recipes.view(one), places)
            extensions.append(recipes.recipes[one].fit(sample, sample.mean(views), views.dtype))
        features, products = feature_products(views, RowFeatures(places, extensions, views.dtype), n_clusters)
        n_components = number_of_vectors(n_clusters, views.n_samples)
        parts = [slice(int(start), int(stop)) for start, stop in pairwise(features.edges)]
        spectra = {}
        for one, extension, part in zip(used, features.extensions, parts, strict=True):
            spectra[one] = _spectrum(products.gram[part, part], extension, n_components, views.dtype)
        projection = np.zeros((int(features.edges[-1]), n_components * len(plan)))
        members, columns = [], []
        for position, (key, factor) in enumerate(plan.items()):
            columns.append(slice(position * n_components, (position + 1) * n_components))
            one = recipes.position(key)
            projection[parts[used.index(one)], columns[-1]] = spectra[one].projection
            members.append(WeightedSpectrum(columns[-1], spectra[one].values, factor))
        inner = projection.T @ products.gram @ projection
        root = root_of_products((inner + inner.T) / 2)
        (fused,) = fuse_spectra(
            root, members, members, n_clusters, [self.regularization_], **self._state.options.solver
        )
        leading = np.concatenate([np.arange(own.start, own.start + n_clusters) for own in columns])
        together = lazy_map(
            views,
            ProjectedRows(features, projection[:, leading].astype(views.dtype)),
            "partitions",
            width=len(leading),
            dtype=views.dtype,
        )
        self.partitions_ = [together[:, n_clusters * p : n_clusters * (p + 1)] for p in range(len(plan))]
        cross = inner @ fused.coefficients
        agreement = [np.linalg.svd(cross[own][:n_clusters], compute_uv=False).sum() / n_clusters for own in columns]
        self._store_alignment(plan, fused, np.minimum(agreement, 1.0))
        blocks = []
        for key in plan:
            encoding: Any = joint if key.view == views.n_views else sources[key.view].encoding
            spectrum = spectra[recipes.position(key)]
            blocks.append(Block(key.view, key.name, encoding, spectrum.extension, spectrum.projection))
        fill = self._fill_of(members, [key.view for key in plan], inner, views.n_samples)
        fitted = ConsensusMap(views.n_views, tuple(blocks), fused.coefficients, None, fill)
        return ProjectedRows(features, (projection @ fused.coefficients).astype(views.dtype)), fitted

    def _fill_of(
        self, members: Sequence[WeightedSpectrum], owners: Sequence[int], products: NDArray[np.float64], n_samples: int
    ) -> Fill:
        """What becomes of views that new samples lack, from the inner products of all eigenvectors."""
        columns = np.repeat(owners, [len(one.values) for one in members])
        if self.missing != "impute" or self.n_views_ == 1:
            return Fill(np.full(len(columns), self.missing != "impute"))
        sums = [PatternSums(np.ones(int(columns.max()) + 1, dtype=bool), n_samples, products)]
        scales = np.concatenate([root_values(one.values, self.n_clusters_) for one in members])
        model = fit_factor_model(sums, columns, self.n_clusters_, scales=scales)
        return Fill(np.zeros(len(columns), dtype=bool), model)


def _joint_encoding(sources: Sequence[Source], found: Survey, shares: NDArray[np.float64]) -> SideBySide:
    """All views side by side, each scaled to the same mean squared distance of all rows."""
    distances = np.array([_squared_distance(one, sums) for one, sums in zip(sources, found.views, strict=True)])
    return SideBySide(tuple(one.encoding for one in sources), joint_scales(distances, shares))


class _Recipes:
    """Recipes of all similarities that may be chosen; equal ones, as graphs that differ in their neighbours, once.

    A graph with anchors does not depend on the number of neighbours.
    """

    def __init__(
        self,
        similarities: Sequence[Mapping[str, Any]],
        together: Mapping[str, Any],
        views: ChunkedViews,
        n_clusters: int,
    ) -> None:
        self.recipes: list[Recipe] = []
        self._known: list[tuple[int, Any, dict[str, Any]]] = []
        self._positions: dict[PartitionKey, int] = {}
        names = [*views.names, "all views"]
        for view, own in enumerate([*similarities, together]):
            for name, similarity in own.items():
                recipe = recipe_of(similarity, names[view], views.n_samples, n_clusters)
                params = {key: value for key, value in similarity.get_params().items() if key != "n_neighbors"}
                kind = (view, type(similarity), params)
                if kind not in self._known:
                    self._known.append(kind)
                    self.recipes.append(recipe)
                self._positions[PartitionKey(view, name)] = self._known.index(kind)

    @property
    def rows(self) -> list[NDArray[np.intp]]:
        """Numbers of the rows that they must see."""
        return [one.rows for one in self.recipes]

    def position(self, key: PartitionKey) -> int:
        """Which of the recipes belongs to a similarity."""
        return self._positions[key]

    def view(self, position: int) -> int:
        """The view of a recipe."""
        return self._known[position][0]

    def distinct(self, plan: Mapping[PartitionKey, float]) -> list[int]:
        """The recipes that a plan needs."""
        return sorted({self._positions[key] for key in plan})


@dataclass(frozen=True)
class _PlacedSample:
    """Sampled rows of one view, or of all of them side by side, in their places."""

    found: Survey
    view: int
    places: PreparedPlaces

    def __call__(self, rows: NDArray[np.intp]) -> Array:
        """Some of the rows."""
        blocks = [self.found.take(view, rows) for view in range(len(self.found.views))]
        return PreparedPlaces((self.view,), self.places.preparations, self.places.joint)(blocks)[0]

    def mean(self, views: ChunkedViews) -> NDArray[np.float64]:
        """Means of the columns: of all rows where the scaling is linear, of the sampled rows otherwise."""
        if self.view < views.n_views:
            preparation, sums = self.places.preparations[self.view], self.found.views[self.view]
            if preparation.kind == "measurements":
                shift = 0.0 if preparation.shift is None else preparation.shift
                return (sums.mean - shift) * preparation.weights
            if preparation.kind in ("coordinates", "given"):
                return sums.mean
        sample = self(self.found.wanted[0])
        return np.asarray(sample.mean(axis=0, dtype=np.float64)).ravel()


def prepare(sums: ColumnSums, dtype: Any) -> Preparation:
    """The scaling of a view, from the sums over all of its rows; what it holds is told from the sampled rows.

    Parameters
    ----------
    sums : ColumnSums
        With scatter and present.
    dtype : dtype
        Of the view.

    Returns
    -------
    Preparation
    """
    kind = describe_view(sums.sample)
    if kind == "counts":
        weights = np.log((1 + sums.n_rows) / (1 + sums.present)) + 1
        return Preparation(kind, weights.astype(dtype))
    if kind == "measurements":
        spreads = np.sqrt(sums.scatter / sums.n_rows)
        rounding = np.finfo(np.float64).eps * sums.n_rows * np.abs(sums.mean)
        real = spreads > np.maximum(rounding, np.finfo(dtype).tiny)
        weights = np.where(real, 1 / np.where(real, spreads, 1.0), 0.0).astype(dtype)
        return Preparation(kind, weights, None if scipy.sparse.issparse(sums.sample) else sums.mean.astype(dtype))
    return Preparation(kind)


def _squared_distance(source: Source, sums: ColumnSums) -> float:
    """Mean squared distance of two rows: twice the sum of the variances, of all rows where the scaling is linear."""
    preparation: Any = source.encoding
    if preparation.kind in ("coordinates", "given", "measurements"):
        weights = np.ones(1) if preparation.weights is None else preparation.weights.astype(np.float64)
        return float(2 * np.sum(sums.scatter / sums.n_rows * weights**2))
    return mean_squared_distance(preparation(sums.sample))


def _spectrum(gram: NDArray[np.float64], extension: Any, n_components: int, dtype: Any) -> Spectrum:
    """Leading eigenpairs of ΦΦᵀ from ΦᵀΦ; those that are not there are zero."""
    n_pairs = min(n_components, len(gram))
    found, vectors = top_eigenpairs(gram, n_pairs)
    inverse = inverse_values(found, dtype)
    values, projection = np.zeros(n_components), np.zeros((len(gram), n_components))
    values[:n_pairs] = np.where(inverse > 0, found, 0.0)
    projection[:, :n_pairs] = vectors * np.sqrt(inverse)
    return Spectrum(values, np.empty((0, n_components), dtype=dtype), extension, projection.astype(dtype))
