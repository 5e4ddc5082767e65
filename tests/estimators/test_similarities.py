"""Which similarities a view has, by what the user says about it and by which samples have it."""

import numpy as np
import pytest

from latefusion.estimators.similarities import GRAPH_SIZES, Similarities
from latefusion.partitions.sources import FeatureSource, KernelSource, PartialSource
from latefusion.similarities import GivenPartition, KernelPartition, PrecomputedPartition
from latefusion.types import Views

GRAPHS = [f"graph {size}" for size in GRAPH_SIZES]


@pytest.fixture(scope="module")
def known():
    return Similarities.of("gaussian", None)


@pytest.fixture(scope="module")
def views():
    table = np.random.default_rng(0).standard_normal((30, 4))
    return Views({"table": table, "kernel": table @ table.T, "labels": (np.arange(30.0) % 3)[:, None]})


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("auto", [*GRAPHS, "kernel"]),
        ("graph", GRAPHS),
        ("kernel", ["kernel"]),
        (KernelPartition("linear"), ["given"]),
    ],
)
def test_features_have_the_similarities_that_were_asked_for(known, views, spec, names):
    source = known.source(views, 0, spec, None)
    assert isinstance(source, FeatureSource)
    assert list(source.similarities) == names


@pytest.mark.parametrize("spec", ["precomputed", PrecomputedPartition()])
def test_a_kernel_has_graphs_of_its_distances_too(known, views, spec):
    source = known.source(views, 1, spec, None)
    assert isinstance(source, KernelSource)
    assert list(source.similarities) == [*GRAPHS, "kernel"]


def test_labels_are_given(known, views):
    by_word = known.source(views, 2, "labels", None)
    by_object = known.source(views, 2, GivenPartition("labels"), None)
    assert list(by_word.similarities) == ["given"]
    np.testing.assert_array_equal(by_word.coordinates, by_object.coordinates)


@pytest.mark.parametrize(("position", "spec", "kind"), [(0, "auto", FeatureSource), (1, "precomputed", KernelSource)])
def test_a_view_of_some_samples_is_compared_among_those(known, views, position, spec, kind):
    observed = np.arange(30) % 3 > 0
    source = known.source(views, position, spec, observed)
    assert isinstance(source, PartialSource)
    assert isinstance(source.source, kind)
    assert source.source.coordinates.shape[0] == observed.sum() == 20
    complete = known.source(views, position, spec, np.ones(30, dtype=bool))
    assert isinstance(complete, kind)


def test_all_views_together_have_what_any_of_them_has(known, views):
    table, graphs = (known.source(views, 0, spec, None) for spec in ("auto", "graph"))
    assert list(known.joint([table, graphs], "impute")) == [*GRAPHS, "kernel"]
    assert list(known.joint([graphs, graphs], "impute")) == GRAPHS
    assert known.joint([table], "impute") == {}
    given = known.source(views, 2, "labels", None)
    assert known.joint([table, given], "impute") == {}


def test_with_holes_all_views_together_are_compared_by_graphs_or_not_at_all(known, views):
    part = known.source(views, 0, "auto", np.arange(30) < 25)
    whole = known.source(views, 0, "auto", None)
    assert list(known.joint([part, whole], "impute")) == GRAPHS
    assert known.joint([part, whole], "align") == {}


def test_an_unknown_word_is_refused(known, views):
    with pytest.raises(ValueError, match=r"partition must be one of .*'labels'.* got 'spectral'"):
        known.source(views, 0, "spectral", None)
