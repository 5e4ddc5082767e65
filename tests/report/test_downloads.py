import base64
import csv
import io
from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.interpretation.effects import model_effects
from latefusion.report.downloads import MOST_FEATURES, downloads


def rows_of(file):
    head, content = file.url.split(",", 1)
    assert head == "data:text/csv;charset=utf-8;base64"
    return list(csv.DictReader(io.StringIO(base64.b64decode(content).decode())))


def test_labels_are_those_of_the_model(gathered):
    labels, _ = downloads(gathered, [*model_effects(gathered, test=True)])
    rows = rows_of(labels)
    assert [int(row["id"]) for row in rows] == list(range(90))
    assert [int(row["label"]) for row in rows] == gathered.model.labels_.tolist()
    np.testing.assert_allclose([float(row["confidence"]) for row in rows], gathered.confidence, atol=1e-4)
    np.testing.assert_allclose([float(row["novelty"]) for row in rows], gathered.novelty, atol=1e-4)


def test_ids_are_those_of_the_samples_and_cannot_become_formulas(gathered):
    ids = ["=1+1", 'quo"te', "com,ma", "line\nbreak", "\ud800", *map(str, range(85))]
    rows = rows_of(downloads(replace(gathered, ids=ids), [])[0])
    assert [row["id"] for row in rows] == ["'=1+1", *ids[1:4], "?", *ids[5:]]


def test_profiles_are_the_largest_effects(aligned, planted, gathered):
    _, file = downloads(gathered, model_effects(gathered, test=True))
    rows = rows_of(file)
    expected = lf.profiles(aligned, planted.views).top(MOST_FEATURES)
    assert len(rows) == len(expected)
    known = {(str(one["cluster"]), one["view"], one["feature"]): one for one in expected}
    for row in rows:
        one = known.pop((row["cluster"], row["view"], row["feature"]))
        assert float(row["effect"]) == pytest.approx(one["effect"], rel=1e-5)
        assert (row["shown_inside"], row["kind"]) == (one["shown_inside"], one["kind"])
        for name in ("auc", "p", "p_adjusted"):
            assert float(row[name]) == pytest.approx(one[name], rel=1e-5)
    assert not known


def test_clusters_have_the_names_of_the_page(gathered):
    """Also those that do not sort as numbers do."""
    named = replace(gathered, clusters=["10", "2", "b"])
    rows = rows_of(downloads(named, model_effects(named, test=True))[1])
    assert list(dict.fromkeys(row["cluster"] for row in rows)) == ["10", "2", "b"]


def test_without_features_there_are_labels_only(gathered):
    assert [file.name for file in downloads(gathered, [])] == ["labels.csv"]


def test_the_page_links_to_them(page_of, section, gathered):
    html = section(page_of(gathered), "sizes")
    for file in downloads(gathered, model_effects(gathered, test=True)):
        assert f'download="{file.name}" href="{file.url}"' in html.replace("&#43;", "+")
