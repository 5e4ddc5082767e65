"""Which similarities a view has, by what the user says about it and by which samples have it."""

import numpy as np
import pytest

from latefusion.selection.sources import GRAPH_SIZES, NamedSimilarities, view_source
from latefusion.similarities import GivenPartition, KernelSimilarity, PrecomputedSimilarity
from latefusion.types import Views

GRAPHS = [f"graph {size}" for size in GRAPH_SIZES]


@pytest.fixture(scope="module")
def known():
    return NamedSimilarities.of("gaussian", None)


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
        (KernelSimilarity("linear"), ["given"]),
    ],
)
def test_features_have_the_similarities_that_were_asked_for(known, views, spec, names):
    source = view_source(views, 0, spec, known, None)
    assert source.kernel is None
    assert list(source.similarities) == names


@pytest.mark.parametrize("spec", ["precomputed", PrecomputedSimilarity()])
def test_a_kernel_has_graphs_of_its_distances_too(known, views, spec):
    source = view_source(views, 1, spec, known, None)
    assert source.kernel is views.arrays[1]
    assert list(source.similarities) == [*GRAPHS, "kernel"]


def test_labels_are_given(known, views):
    by_word = view_source(views, 2, "labels", known, None)
    by_object = view_source(views, 2, GivenPartition("labels"), known, None)
    assert list(by_word.similarities) == ["given"]
    np.testing.assert_array_equal(by_word.coordinates, by_object.coordinates)


@pytest.mark.parametrize(("position", "spec"), [(0, "auto"), (1, "precomputed")])
def test_a_view_of_some_samples_is_compared_among_those(known, views, position, spec):
    observed = np.arange(30) % 3 > 0
    source = view_source(views, position, spec, known, observed)
    np.testing.assert_array_equal(source.observed, observed)
    assert source.coordinates.shape[0] == observed.sum() == 20
    complete = view_source(views, position, spec, known, np.ones(30, dtype=bool))
    assert complete.observed is None


def test_all_views_together_have_what_any_of_them_has(known, views):
    table, graphs = (view_source(views, 0, spec, known, None) for spec in ("auto", "graph"))
    assert list(known.joint([table, graphs], "impute")) == [*GRAPHS, "kernel"]
    assert list(known.joint([graphs, graphs], "impute")) == GRAPHS
    assert known.joint([table], "impute") == {}
    given = view_source(views, 2, "labels", known, None)
    assert known.joint([table, given], "impute") == {}


def test_with_holes_all_views_together_are_compared_by_graphs_or_not_at_all(known, views):
    part = view_source(views, 0, "auto", known, np.arange(30) < 25)
    whole = view_source(views, 0, "auto", known, None)
    assert list(known.joint([part, whole], "impute")) == GRAPHS
    assert known.joint([part, whole], "zero") == {}
