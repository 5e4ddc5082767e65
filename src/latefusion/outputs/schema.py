"""What a model file may contain: the classes of models, their fitted attributes, and the parts that these consist of.

A model file names classes and fields by the keys of the tables below and by nothing else. Changing a key, a field or
the meaning of one changes the format: raise `FORMAT_VERSION` then.

The type of a field is written as an annotation, which `fits` checks: unions, ``tuple[X, ...]``, ``list[X]``,
``dict[X, Y]``, arrays by the type of their entries, and classes.
"""

from __future__ import annotations

from types import FunctionType, UnionType
from typing import Any, NamedTuple, get_args, get_origin

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from latefusion.assignment import LargestVote, LinearDiscriminant, Membership, NearestCenter, RotatedAxes
from latefusion.assignment.cluster_ids import RuleWithIds
from latefusion.baselines import METHODS
from latefusion.encoding.codings import LevelCoding, NumberCoding
from latefusion.encoding.coordinates import ImputedCoordinates, SideBySide, Unchanged
from latefusion.encoding.gaps import GapFilling, SparseFilling
from latefusion.encoding.label_coding import LabelCoding
from latefusion.encoding.preparation import Preparation
from latefusion.encoding.table_encoding import TableEncoding
from latefusion.encoding.text_coding import TextCoding
from latefusion.estimators import (
    ConsensusClustering,
    GlobalAlignmentClustering,
    LateFusionClustering,
    LocalAlignmentClustering,
)
from latefusion.estimators.calibration import Calibration
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.given_partitions import PartitionSchema
from latefusion.estimators.novelty import Novelty, Sketch
from latefusion.kernels.functions import FittedKernel
from latefusion.kernels.scaling import KernelStatistics
from latefusion.metrics import CalibrationCurve
from latefusion.partitions.imputation import FactorModel, Fill
from latefusion.partitions.neighborhoods import NeighborCounts, NeighborWeights
from latefusion.partitions.partitions import Block
from latefusion.selection.alternatives import Alternative
from latefusion.selection.cluster_number import NumberEvidence, NumberOfClusters
from latefusion.selection.hints import HintResult
from latefusion.selection.table import Selection
from latefusion.similarities import GivenPartition, GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.similarities.anchors import AnchorExtension, AnchorMap, CoordinateTransform
from latefusion.similarities.factor import FactorExtension, LinearMap, NystromMap
from latefusion.similarities.given import GivenMap
from latefusion.similarities.graph import GraphExtension
from latefusion.similarities.info import PartitionInfo
from latefusion.similarities.kernel import KernelExtension, KernelPoints, PrecomputedExtension
from latefusion.validation import InputSchema, ViewSchema
from latefusion.validation.hints import Hints

FORMAT_VERSION = 1

Numbers = NDArray[np.number]
Flags = NDArray[np.bool_]
Values = NDArray[np.generic]
Sparse = csr_array | csc_array | csr_matrix | csc_matrix
Samples = Numbers | Sparse
RandomState = int | np.random.RandomState | None
Encoding = Unchanged | SideBySide | ImputedCoordinates | Preparation | GivenMap | KernelPoints
Rule = NearestCenter | RotatedAxes | LinearDiscriminant | LargestVote
Extension = KernelExtension | PrecomputedExtension | GraphExtension | FactorExtension | AnchorExtension


class Part(NamedTuple):
    """A class whose objects models consist of, and the types of its fields, in the order of its constructor."""

    cls: Any
    fields: dict[str, Any]


def _part(cls: Any, **fields: Any) -> Part:
    return Part(cls, fields)


# The estimators that label new samples.
PREDICTING: tuple[type[BaseEstimator], ...] = (
    LateFusionClustering, GlobalAlignmentClustering, LocalAlignmentClustering, ConsensusClustering,
)  # fmt: skip
MODELS: dict[str, type[BaseEstimator]] = {cls.__name__: cls for cls in (*PREDICTING, *METHODS.values())}

# Fitted attributes of all models, besides `input_schema_` and `consensus_map_`.
ARRAY_ATTRIBUTES = (
    "adjusted_rand_", "agreement_", "base_labels_", "cluster_centers_", "confidence_", "consensus_", "eigenvalues_",
    "labels_", "n_features_per_view_", "n_observed_views_", "neighbor_counts_", "normalized_mutual_info_", "objective_",
    "partition_weights_", "rotations_", "sample_weights_", "view_consensus_", "view_embeddings_", "view_labels_",
    "view_losses_", "view_objectives_", "view_weights_",
)  # fmt: skip
INTEGER_ATTRIBUTES = ("n_anchors_", "n_clusters_", "n_components_", "n_features_in_", "n_iter_", "n_views_", "view_")
ATTRIBUTES: dict[str, Any] = {
    **dict.fromkeys(ARRAY_ATTRIBUTES, Numbers),
    **dict.fromkeys(INTEGER_ATTRIBUTES, int),
    **dict.fromkeys(("feature_names_in_", "sample_ids_", "view_names_"), Values),
    "calibration_": Calibration,
    "converged_": bool,
    "anchor_graph_": Samples,
    "graph_": Samples,
    "hints_": HintResult,
    "n_neighbors_": int | Numbers,
    "n_shared_components_": int | None,
    "neighbor_count_error_": float,
    "regularization_": float,
    "novelty_": Numbers | None,
    "number_selection_": NumberOfClusters,
    "observed_": Flags,
    "partition_info_": dict[str, PartitionInfo],
    "partition_names_": list[tuple[str, ...]],
    "partitions_": list[Numbers],
    "selection_": Selection,
    "alternatives_": tuple[Alternative, ...],
    "assign_labels_": str,
    "similarity_": str,
    "unrelated_views_": list[str],
    "weighting_": str,
    "view_kinds_": dict[str, str],
}

PARTS: dict[str, Part] = {
    # The input.
    "InputSchema": _part(
        InputSchema,
        views=tuple[ViewSchema, ...],
        n_samples=int,
        device=str,
        dtype=np.dtype,
        mask=Flags | None,
        table_width=int | None,
        table_columns=list[Any] | None,
        fingerprint=str,
    ),
    "ViewSchema": _part(
        ViewSchema,
        name=str,
        kind=str,
        width=int,
        n_coordinates=int,
        columns=list[Any] | None,
        labels=LabelCoding | None,
        table=TableEncoding | None,
        transformer=BaseEstimator | None,
        gaps=GapFilling | SparseFilling | None,
    ),
    "PartitionSchema": _part(PartitionSchema, maps=tuple[GivenMap, ...], clusterers=tuple[str, ...], fingerprint=str),
    "LabelCoding": _part(LabelCoding, values=Values, unassigned=Any),
    "TableEncoding": _part(
        TableEncoding,
        columns=tuple[str, ...],
        codings=tuple[NumberCoding | LevelCoding | TextCoding, ...],
        left_out=dict[str, str],
        notes=tuple[str, ...],
    ),
    "NumberCoding": _part(
        NumberCoding, name=str, kind=str, how=str, decimal=str, parts=tuple[str, ...], means=Numbers, scales=Numbers
    ),
    "LevelCoding": _part(LevelCoding, name=str, kind=str, levels=tuple[str, ...], coordinates=Numbers),
    "TextCoding": _part(TextCoding, name=str, terms=tuple[str, ...], weights=Numbers, directions=Numbers),
    "GapFilling": _part(
        GapFilling,
        means=Numbers,
        scales=Numbers,
        lower=Numbers,
        upper=Numbers,
        thresholds=Numbers,
        few_valued=Numbers,
        few_values=Numbers,
        offset=Numbers,
        loadings=Numbers,
        noise=Numbers,
        donors=Numbers,
        donors_observed=Flags,
        empty=Flags,
        error=float,
    ),
    "SparseFilling": _part(SparseFilling, means=Numbers),
    # The map from views to labels.
    "ConsensusMap": _part(
        ConsensusMap,
        n_views=int,
        blocks=tuple[Block, ...],
        coefficients=Numbers,
        rule=Rule | RuleWithIds,
        fill=Fill,
        row_weights=NeighborWeights | None,
        directional=Flags | None,
        novelty=Novelty | None,
    ),
    "Block": _part(Block, view=int, name=str, encoding=Encoding, extension=Extension, projection=Numbers),
    "NearestCenter": _part(NearestCenter, centers=Numbers, clusters=Numbers | None),
    "LinearDiscriminant": _part(LinearDiscriminant, directions=Numbers, rows=Numbers, intercept=Numbers),
    "RotatedAxes": _part(RotatedAxes, rotation=Numbers),
    "LargestVote": _part(LargestVote, margins=Numbers),
    "RuleWithIds": _part(RuleWithIds, rule=Rule, ids=Numbers, n_ids=int),
    "Calibration": _part(Calibration, membership=Membership, curve=CalibrationCurve, n_clusterings=int, n_samples=int),
    "Membership": _part(Membership, sharpness=float, lapse=float, discount=float),
    "CalibrationCurve": _part(CalibrationCurve, predicted=Numbers, observed=Numbers, counts=Numbers),
    "Fill": _part(Fill, rescaled=Flags, model=FactorModel | None),
    "FactorModel": _part(FactorModel, loadings=Numbers, noise=Numbers, owners=Numbers, scales=Numbers, scoring=Flags),
    "NeighborWeights": _part(NeighborWeights, counters=tuple[NeighborCounts, ...], mean=NeighborCounts | None),
    "NeighborCounts": _part(NeighborCounts, counts=Numbers, thresholds=Numbers, n_samples=int, samples=Numbers | None),
    "Novelty": _part(Novelty, sketches=tuple[Sketch, ...], references=tuple[Numbers, ...], observed=Flags),
    "Sketch": _part(Sketch, encoding=Encoding, projection=Numbers, shift=Numbers),
    # Encodings.
    "Unchanged": _part(Unchanged, columns=Flags | None),
    "SideBySide": _part(SideBySide, encodings=tuple[Encoding, ...], scales=Numbers),
    "ImputedCoordinates": _part(ImputedCoordinates, columns=Numbers, scales=Numbers, dtype=np.dtype),
    "Preparation": _part(Preparation, kind=str, weights=Numbers | None, shift=Numbers | None, row_sum=float | None),
    "KernelPoints": _part(KernelPoints, kernel=Unchanged, extension=Extension, projection=Numbers, scales=Numbers),
    # Similarities of new samples.
    "KernelExtension": _part(KernelExtension, kernel=FittedKernel, training=Samples, statistics=KernelStatistics),
    "PrecomputedExtension": _part(
        PrecomputedExtension, statistics=KernelStatistics | None, self_similarity=float | None
    ),
    "GraphExtension": _part(
        GraphExtension,
        training=Samples,
        transform=CoordinateTransform,
        n_neighbors=int,
        widths=Numbers,
        radii=Numbers,
        degrees=Numbers,
        columns=Samples | None,
    ),
    "FactorExtension": _part(
        FactorExtension, feature_map=LinearMap | NystromMap | GivenMap | Unchanged, columns=Samples | None
    ),
    "AnchorExtension": _part(AnchorExtension, feature_map=AnchorMap, columns=Samples | None, sigma=float),
    "LinearMap": _part(LinearMap, mean=Numbers, floor=float),
    "NystromMap": _part(
        NystromMap,
        kernel=FittedKernel,
        landmarks=Samples,
        whitening=Numbers,
        mean=Numbers,
        energy=float,
        captured=float,
        floor=float,
    ),
    "AnchorMap": _part(AnchorMap, transform=CoordinateTransform, anchors=Samples, n_neighbors=int, scale=Numbers),
    # A clusterer that predicts labels is not part of latefusion, so a file cannot contain it.
    "GivenMap": _part(GivenMap, weights=Numbers, kind=str, coding=LabelCoding | None, clusterer=None, name=str),
    "CoordinateTransform": _part(CoordinateTransform, unit_length=bool, shift=Numbers | None),
    "FittedKernel": _part(FittedKernel, function=FunctionType, params=dict[str, Any], shift=Numbers | None),
    "KernelStatistics": _part(
        KernelStatistics, column_means=Numbers, mean=float, inverse_root=Numbers, reference=float
    ),
    # Fitted attributes.
    "PartitionInfo": _part(
        PartitionInfo,
        similarity=str,
        rank=int | None,
        n_landmarks=int | None,
        energy=float | None,
        captured=float | None,
    ),
    "Selection": _part(Selection, rows=tuple[dict[str, Any], ...], reason=str, n_samples=int),
    "Alternative": _part(
        Alternative,
        labels=Numbers,
        samples=Numbers,
        moved=Numbers,
        view=str | None,
        similarity=str,
        weighting=str,
        regularization=float,
        n_shared_components=int | None,
        assign_labels=str,
        score=float,
        difference=float,
        standard_error=float,
    ),
    "HintResult": _part(
        HintResult,
        hints=Hints,
        clusters=Numbers,
        kept=Flags,
        class_clusters=Numbers,
        pairs_kept=int,
        followed=bool,
        gain=float,
        standard_error=float,
        agreement_gain=float,
        agreement_error=float,
    ),
    "Hints": _part(
        Hints,
        codes=Numbers,
        classes=Values,
        must_link=Numbers,
        cannot_link=Numbers,
        groups=Numbers,
        apart=Numbers,
    ),
    "NumberOfClusters": _part(NumberOfClusters, evidence=tuple[NumberEvidence, ...], null=tuple[NumberEvidence, ...]),
    "NumberEvidence": _part(NumberEvidence, n_clusters=int, stability=float, standard_error=float, information=float),
    # Parameters.
    "KernelSimilarity": _part(
        KernelSimilarity,
        kernel=str | FunctionType,
        kernel_params=dict[str, Any] | None,
        method=str,
        n_landmarks=int,
        landmarks=str,
        random_state=RandomState,
    ),
    "GraphSimilarity": _part(
        GraphSimilarity, n_neighbors=int, metric=str, method=str, n_anchors=int | None, random_state=RandomState
    ),
    "PrecomputedSimilarity": _part(PrecomputedSimilarity, standardize=bool),
    "GivenPartition": _part(GivenPartition, kind=str, unassigned=Any, clusterer=None),
}
# Transformers of scikit-learn that a model file may contain: their state is numbers and text.
TRANSFORMERS: dict[str, type[BaseEstimator]] = {
    cls.__name__: cls
    for cls in (
        StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Normalizer, PowerTransformer, QuantileTransformer,
        OneHotEncoder, OrdinalEncoder, SimpleImputer, PCA, TruncatedSVD, VarianceThreshold, Pipeline, ColumnTransformer,
    )
}  # fmt: skip
NAMES: dict[type, str] = {part.cls: name for name, part in PARTS.items()}


def fitted_attributes(cls: type[BaseEstimator]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The types of the attributes of a fitted model, and the names of those that it cannot work without.

    Parameters
    ----------
    cls : type
        One of `MODELS`.

    Returns
    -------
    types : dict of str to annotation
        With `input_schema_` and `consensus_map_`.
    needed : tuple of str
        Besides these two.
    """
    predicts = cls in PREDICTING
    schema = PartitionSchema if cls is ConsensusClustering else InputSchema
    types = ATTRIBUTES | {"input_schema_": schema, "consensus_map_": ConsensusMap if predicts else None}
    return types, ("view_names_", "n_views_", "view_weights_" if predicts else "labels_")


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type.

    Parameters
    ----------
    value : object
    kind : annotation
        A class, a union, ``tuple[X, ...]``, ``list[X]``, ``dict[X, Y]``, ``NDArray[X]``, None or Any.

    Returns
    -------
    bool

    Examples
    --------
    >>> from latefusion.outputs.schema import fits
    >>> fits((1, 2), tuple[int, ...]), fits((1, None), tuple[int, ...]), fits(None, int | None)
    (True, False, True)
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if kind is None:
        return value is None
    if origin is UnionType:
        return any(fits(value, one) for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and bool(np.issubdtype(value.dtype, get_args(inner[1])[0]))
    if origin is dict:
        return type(value) is dict and all(fits(key, inner[0]) and fits(one, inner[1]) for key, one in value.items())
    if origin in (list, tuple):
        return type(value) is origin and all(fits(one, inner[0]) for one in value)
    if kind in (int, float):
        numbers = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
        return isinstance(value, numbers) and not isinstance(value, bool)
    return isinstance(value, kind)
