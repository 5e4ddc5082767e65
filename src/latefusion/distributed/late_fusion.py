"""`LateFusionClustering` of views that are chunked by rows: the search on a sample, one fit on all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from dask.tokenize import tokenize
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from latefusion import estimators
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import ProjectedFeatures, fit_features, fitter_of
from latefusion.distributed.first_pass import FirstPass, check_observed, first_pass
from latefusion.distributed.shell import ChunkedMixin, draw_start_rows, mean_cosines
from latefusion.encoding import Preparation, fit_preparation
from latefusion.encoding.coordinates import SideBySide
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.partitions.factor_stack import whitened
from latefusion.partitions.fitting import root_values
from latefusion.partitions.imputation import Fill, PatternSums, fit_factor_model
from latefusion.partitions.partitions import Block, PartitionKey
from latefusion.partitions.sources import Source, joint_scales
from latefusion.selection.finalists import find_alternatives
from latefusion.selection.label_assignment import assign_selected
from latefusion.selection.options import SearchOptions
from latefusion.selection.search import select
from latefusion.selection.spaces import draw_search_samples, number_of_vectors
from latefusion.similarities.extension import FeatureFitter
from latefusion.solvers.late_fusion_spectra import Span, WeightedSpectrum, fuse_spectra

# The fitter of every similarity that may be selected, and the view that it takes; similarities may share one.
Fitters = dict[PartitionKey, tuple[int, FeatureFitter]]


class LateFusionClustering(ChunkedMixin, estimators.LateFusionClustering):
    """`latefusion.LateFusionClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `novelty_`, `partitions_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything else is small and in
    memory, and `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    Views are scaled by statistics of all rows. The number of clusters, the similarities and λ are selected on 3000
    sampled rows, as in memory. The selected model is then fitted on all rows, kernels by a factor and graphs by
    anchors. The passes over the views are those of `latefusion.distributed.GlobalAlignmentClustering`. Missing views
    raise an error.

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

    def _fit_chunked(self, X: Any) -> None:
        options = self._search_options()
        views = self._read_chunked(X, options.numbers[0])
        if self.view_weights is not None:
            options = replace(options, prior=self._prior_weights())
        generator = check_random_state(options.seed)
        most = max(options.numbers_for(views.n_samples))
        drawn = draw_start_rows(views, most, generator)
        searched = draw_search_samples(views.n_samples, most, np.random.default_rng(options.seed))
        similarities = [_named_similarities(spec, options) for spec in self._similarity_specs(views)]
        fitters = _fitters([*similarities, _joint_similarities(similarities, options)], views, most)
        wanted = [searched, *(fitter.rows for _, fitter in fitters.values())]
        first = first_pass(views, [wanted] * views.n_views, drawn)
        if first.observed.has_missing:
            reason = "the search cannot compare neighbours in imputed views. Use GlobalAlignmentClustering"
            check_observed(views.names, first.observed, options.numbers[0], reason)
        sources = [_sampled_source(first, view, searched, own) for view, own in enumerate(similarities)]
        selected, _ = select(sources, options)
        self._store_choices(selected)
        self._state = selected
        encodings = [source.encoding for source in sources]
        rows, fitted = self._fit_selected(first, fitters, encodings)
        rule, self.assign_labels_ = None, self.assign_labels
        consensus = rows([first.read(searched, view) for view in range(views.n_views)], searched)
        consensus = consensus.astype(views.dtype, copy=False)
        if self.assign_labels == "auto":
            _, rule, self.assign_labels_ = assign_selected(selected, consensus, None)
        self._store_rows(first, rows, fitted, encodings, generator, rule)
        labels = self.consensus_map_.rule.predict(consensus)
        self.alternatives_ = find_alternatives(selected, labels, searched, list(views.names))
        del self._state  # of the sampled rows only

    def _fit_selected(
        self, first: FirstPass, fitters: Fitters, encodings: list[Any]
    ) -> tuple[ProjectedFeatures, ConsensusMap]:
        """Fuse the selected similarities of all rows; stores all results that need no labels."""
        views, selected = first.views, self._state
        k, plan = selected.candidate.n_clusters, selected.plan
        if any(key.view == views.n_views for key in plan):
            encodings = [*encodings, _joint_encoding(encodings, first, selected.shares)]
        chosen = {fitters[key] for key in plan}
        used = [one for one in dict.fromkeys(fitters.values()) if one in chosen]
        maps, products = fit_features(first, used, encodings, k)
        n_components = number_of_vectors(k, views.n_samples)
        precision = float(np.finfo(views.dtype).eps)
        spectra = {
            one: (part, extension, *whitened(products.gram[part, part], n_components, precision))
            for one, part, extension in zip(used, maps.parts, maps.extensions, strict=True)
        }
        projection = np.zeros((int(maps.edges[-1]), n_components * len(plan)))
        members, blocks = [], []
        for position, (key, factor) in enumerate(plan.items()):
            columns = slice(position * n_components, (position + 1) * n_components)
            part, extension, values, own = spectra[fitters[key]]
            own = own.astype(views.dtype)
            projection[part, columns] = own
            members.append(WeightedSpectrum(columns, values, factor))
            blocks.append(Block(key.view, key.name, encodings[key.view], extension, own))
        inner = projection.T @ products.gram @ projection
        (fused,) = fuse_spectra(
            Span((inner + inner.T) / 2), members, k, [self.regularization_], **self._state.options.solver
        )
        leading = np.concatenate([np.arange(one.columns.start, one.columns.start + k) for one in members])
        cross = np.split((inner @ fused.coefficients)[leading], len(plan))
        self._store_alignment(plan, fused, mean_cosines(cross))
        of_partitions = ProjectedFeatures(maps, projection[:, leading].astype(views.dtype))
        self._store_lazy_partitions(views, of_partitions, len(plan), k)
        fill = self._fill(members, np.repeat([key.view for key in plan], n_components), inner, views.n_samples)
        fitted = ConsensusMap(views.n_views, tuple(blocks), fused.coefficients, None, fill)
        return ProjectedFeatures(maps, (projection @ fused.coefficients).astype(views.dtype)), fitted

    def _fill(
        self, members: Sequence[WeightedSpectrum], owners: NDArray[np.intp], products: NDArray[Any], n_samples: int
    ) -> Fill:
        """Imputation of missing views of new samples, from the inner products of all eigenvectors."""
        imputes, model = self.missing == "impute" and self.n_views_ > 1, None
        if imputes:
            sums = [PatternSums(np.ones(int(owners.max()) + 1, dtype=bool), n_samples, products)]
            scales = np.concatenate([root_values(one.values, self.n_clusters_) for one in members])
            model = fit_factor_model(sums, owners, self.n_clusters_, scales=scales)
        return Fill(np.full(len(owners), not imputes), model)


def _named_similarities(spec: Any, options: SearchOptions) -> dict[str, Any]:
    """The similarities of a view by name."""
    return options.named.of_word(spec) if spec in ("auto", "graph", "kernel") else {"given": spec}


def _joint_similarities(similarities: Sequence[Mapping[str, Any]], options: SearchOptions) -> Mapping[str, Any]:
    """The similarities of all views side by side by name."""
    plain = Preparation("given")
    sources = [Source(plain.kind, np.empty((0, 0)), one, plain) for one in similarities]
    return options.named.joint(sources, options.missing)


def _fitters(named: Sequence[Mapping[str, Any]], views: ChunkedViews, n_clusters: int) -> Fitters:
    """Fitters of all similarities of every view and, last, of all views side by side.

    Graphs that differ only in their number of neighbours share a fitter, since a graph with anchors does not depend on
    that number.
    """
    fitters: Fitters = {}
    known: dict[str, FeatureFitter] = {}
    for view, (name_of_view, own) in enumerate(zip([*views.names, "all views"], named, strict=True)):
        for name, similarity in own.items():
            fitter = fitter_of(similarity, name_of_view, views.n_samples, n_clusters)
            params = {key: value for key, value in similarity.get_params().items() if key != "n_neighbors"}
            shared = known.setdefault(tokenize(view, type(similarity), params), fitter)
            fitters[PartitionKey(view, name)] = view, shared
    return fitters


def _sampled_source(first: FirstPass, view: int, samples: NDArray[np.intp], similarities: Mapping[str, Any]) -> Source:
    """The source of the samples that the search uses, scaled by statistics of all rows."""
    preparation = Preparation("given") if "given" in similarities else fit_preparation(first.statistics[view])
    return Source(preparation.kind, preparation(first.read(samples, view)), similarities, preparation)


def _joint_encoding(encodings: Sequence[Any], first: FirstPass, shares: NDArray[np.float64]) -> SideBySide:
    """All views side by side, each scaled to the same mean squared distance between two rows."""
    pairs = zip(encodings, first.statistics, strict=True)
    distances = np.array([encoding.statistics(raw).mean_squared_distance for encoding, raw in pairs])
    return SideBySide(tuple(encodings), joint_scales(distances, shares))
