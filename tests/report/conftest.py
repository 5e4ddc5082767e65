"""Pages without the parts that take time."""

from __future__ import annotations

import html
import re

import pytest

from latefusion.interpretation.annotation import read_annotation
from latefusion.interpretation.effects import model_effects
from latefusion.interpretation.importance import Explanation, Importance, agreement_table
from latefusion.interpretation.traits import traits_of
from latefusion.report import sections_method, sections_samples
from latefusion.report.annotation import annotation_section
from latefusion.report.downloads import downloads
from latefusion.report.heatmap import heatmap, top_features
from latefusion.report.html import render
from latefusion.report.memberships import memberships_section
from latefusion.report.reproduce import reproduction
from latefusion.report.widgets import cluster_styles
from tests.interpretation.conftest import (  # noqa: F401
    agreed,
    aligned,
    deciding,
    gathered,
    incomplete,
    labelings,
    planted,
)


@pytest.fixture
def page_of():
    """The page about some data; options replace the content of sections."""

    def make(data, **options):
        names, agreement = agreement_table(data)
        explanation = options.pop("explanation", Explanation())
        compared = options.pop("compared", None)
        effects = model_effects(data, test=True)
        clusters = sections_samples.clusters(data, traits_of(effects, data))
        given = {
            "data": data,
            "title": "a title",
            "method": type(data.model).__name__,
            "date": "2026-01-31",
            "files": [],
            "styles": cluster_styles(len(data.clusters)),
            "summary": sections_samples.summary(data, Importance([], {}), explanation, compared),
            "warnings": [],
            "drawing": None,
            "clusters": clusters,
            "largest_effect": sections_samples.largest_effect(clusters),
            "heatmap": heatmap(effects, top_features(effects, len(data.clusters))),
            "downloads": downloads(data, effects),
            "annotation": annotation_section(read_annotation(None, data), data),
            "outcome": None,
            "update": None,
            "memberships": memberships_section(data),
            "samples": sections_samples.samples_to_check(data),
            "views": sections_method.views_section(data, explanation, names, agreement),
            "baselines": sections_method.baselines_section(compared),
            "choices": sections_method.choices(data),
            "convergence": sections_method.convergence(data),
            "missing": sections_samples.missing_views(data),
            "reproduce": reproduction(data),
        }
        return render(**(given | options))

    return make


@pytest.fixture(scope="session")
def section():
    """The HTML of one section of a page, or None."""

    def find(page, name):
        found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
        return found and found.group()

    return find


@pytest.fixture(scope="session")
def text_of():
    """The words of some HTML."""
    return lambda page: " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
