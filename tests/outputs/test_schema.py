"""The tables of model files: they cover all that fitted models contain, and nothing else."""

import dataclasses
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.outputs.schema import ATTRIBUTES, MODELS, NAMES, PARTS, PREDICTING, fits
from latefusion.outputs.tree import encode_model

OURS = [
    lf.LateFusionClustering,
    lf.GlobalAlignmentClustering,
    lf.LocalAlignmentClustering,
    lf.ConsensusClustering,
]


def test_models_are_the_four_estimators_and_the_comparison_methods():
    assert list(PREDICTING) == OURS
    assert set(MODELS.values()) == {*OURS, *METHODS.values()}
    assert all(name == cls.__name__ and not hasattr(cls, "__post_init__") for name, cls in MODELS.items())
    assert {cls for cls in MODELS.values() if hasattr(cls, "predict")} == set(OURS)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_has_exactly_the_fields_of_its_class(name):
    """A field that a class gains, loses or renames must change the table, and with it the format version."""
    part = PARTS[name]
    assert part.cls.__module__.startswith("latefusion.")
    assert list(part.fields) == list(inspect.signature(part.cls).parameters)
    if dataclasses.is_dataclass(part.cls):
        assert part.cls.__dataclass_params__.frozen
    else:
        assert issubclass(part.cls, (tuple, BaseEstimator))


def test_every_class_has_one_name():
    assert len(NAMES) == len(PARTS)
    assert not set(NAMES) & set(MODELS.values())


def named_in(node):
    """Names of all parts in a tree."""
    if isinstance(node, dict):
        yield from [node["part"]] if "part" in node else []
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from named_in(inner)


def fitted_models(conflicting):
    """Models that together have every attribute and every part."""
    data = lf.datasets.make_views(60, 3, random_state=0)
    views, rng = data.views, np.random.default_rng(0)
    gaps = lf.Views(dict(views.items()), mask=rng.random((60, 3)) > np.array([0.0, 0.3, 0.3]))
    kernels = [lf.kernels.gaussian_kernel(view) for view in views.arrays]
    labels = [f"group {label}" for label in data.target]
    frame = pd.DataFrame(np.hstack(views.arrays), index=labels).rename(columns="c{}".format)
    factors = [lf.KernelSimilarity("linear", method="factor"), lf.KernelSimilarity(method="factor", n_landmarks=20)]
    for method in METHODS.values():
        yield method(3), views
    yield lf.LateFusionClustering(range(2, 4)), gaps
    yield lf.LateFusionClustering(3, assign_labels="rotation"), views
    yield lf.LateFusionClustering(3, random_state=0), conflicting
    yield lf.LateFusionClustering(3, similarity="precomputed"), kernels
    yield lf.GlobalAlignmentClustering(3, similarity=[*factors, lf.GraphSimilarity(method="anchors")]), views
    yield lf.GlobalAlignmentClustering(3, similarity=lf.PrecomputedSimilarity()), kernels
    yield lf.GlobalAlignmentClustering(3, reference="graph"), views
    yield lf.GlobalAlignmentClustering(3, similarity=["kernel", lf.GivenPartition()]), [views.arrays[0], labels]
    yield lf.GlobalAlignmentClustering(3, views={"a": slice(10), "b": slice(10, 30)}), frame.reset_index(drop=True)
    yield lf.GlobalAlignmentClustering(3), {"a": frame.set_axis(range(100, 160)), "b": frame.set_axis(range(100, 160))}
    words = pd.DataFrame({"size": ["small", "large"] * 30, "age": [*range(20, 79), None]})
    words["note"] = [f"a note about the {['first', 'second', 'third'][one]} group {one}" for one in data.target]
    words["note"] += [f" number {row % 7}" for row in range(60)]
    yield lf.GlobalAlignmentClustering(3, column_kinds={"note": "text"}), {"a": words, "b": frame.set_axis(range(60))}
    yield lf.GlobalAlignmentClustering(3), [csr_array(views.arrays[0]), views.arrays[1]]
    yield lf.LocalAlignmentClustering(3), gaps
    yield lf.ConsensusClustering(3), {"a": labels, "b": np.eye(3)[data.target]}


def test_the_tables_are_all_that_fitted_models_contain(conflict):
    """Saving refuses what the tables do not have; here, they have nothing that no model contains."""
    parts, attributes = set(), set()
    for model, X in fitted_models(conflict[0]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether a method converges is not the point
            model.fit(X, **({"must_link": [(0, 1)]} if isinstance(model, lf.LocalAlignmentClustering) else {}))
            if isinstance(model, lf.ConsensusClustering):
                model = model.update(X).model
                model.memberships_  # noqa: B018  # computed when it is first read
        state = encode_model(model, lambda array: "")
        parts |= set(named_in(state))
        attributes |= set(state["attributes"])
    assert parts == set(PARTS)
    assert attributes == set(ATTRIBUTES)


def classes_of(kind):
    """All classes that an annotation names."""
    inner = getattr(kind, "__args__", ())
    yield from (one for part in inner for one in classes_of(part))
    if isinstance(kind, type) and not inner:
        yield kind


def test_fields_name_no_class_of_this_package_outside_the_table():
    kinds = [*ATTRIBUTES.values(), *(kind for part in PARTS.values() for kind in part.fields.values())]
    ours = {cls for kind in kinds for cls in classes_of(kind) if cls.__module__.startswith("latefusion.")}
    parameters = {"KernelSimilarity", "GraphSimilarity", "PrecomputedSimilarity", "GivenPartition"}
    roots = {"InputSchema", "PartitionSchema", "ConsensusMap"}
    assert {NAMES[cls] for cls in ours} == set(PARTS) - parameters - roots


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1, int, True),
        (np.int32(1), int, True),
        (True, int, False),
        (1.5, int, False),
        (1, float, True),
        (np.float32(1), float, True),
        ("1", float, False),
        (None, float | None, True),
        (None, None, True),
        (0, None, False),
        (True, bool, True),
        (1, bool, False),
        ((1, 2), tuple[int, ...], True),
        ([1, 2], tuple[int, ...], False),
        ((1, "a"), tuple[int, ...], False),
        ([np.eye(2)], list[NDArray[np.number]], True),
        ({"a": "b"}, dict[str, str], True),
        ({1: "b"}, dict[str, str], False),
        ({"a": 1}, dict[str, str], False),
        (np.eye(2), NDArray[np.number], True),
        (np.array([True]), NDArray[np.number], False),
        (np.array([True]), NDArray[np.bool_], True),
        (np.array([None]), NDArray[np.number], False),
        (np.array(["a"], dtype=object), NDArray[np.generic], True),
        (np.array(["a"]), NDArray[np.generic], True),
        (1.0, NDArray[np.generic], False),
        (scipy.sparse.csr_array(np.eye(2)), scipy.sparse.csr_array | scipy.sparse.csc_array, True),
    ],
    ids=str,
)
def test_values_fit_annotations(value, kind, expected):
    assert fits(value, kind) is expected
