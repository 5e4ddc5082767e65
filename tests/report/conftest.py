"""Fitted models and what is gathered from them, made once; pages without the parts that take time."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.report import sections_method, sections_samples
from latefusion.report.gather import gather
from latefusion.report.html import render
from latefusion.report.importance import Explanation, Importance, agreement_table
from latefusion.report.profiles import cluster_traits
from latefusion.report.reproduce import reproduction
from latefusion.report.widgets import cluster_styles


@pytest.fixture(scope="session")
def planted():
    return lf.datasets.make_views(n_samples=90, n_clusters=3, n_views=2, n_features=4, separation=8.0, random_state=0)


@pytest.fixture(scope="session")
def aligned(planted):
    return lf.GlobalAlignmentClustering(3, random_state=0).fit(planted.views)


@pytest.fixture(scope="session")
def deciding(planted):
    return lf.LateFusionClustering(range(2, 5), random_state=0).fit(planted.views)


@pytest.fixture(scope="session")
def labelings(planted):
    """Three partitions of the same samples; in the second, ten of them are unassigned."""
    names = np.array(["a", "b", "c"])[planted.target]
    second = np.where(np.arange(90) < 10, -1, planted.target)
    return {"text": names, "partial": second, "coarse": (planted.target > 0).astype(int)}


@pytest.fixture(scope="session")
def agreed(labelings):
    return lf.ConsensusClustering(3, random_state=0).fit(labelings)


@pytest.fixture
def gathered(aligned, planted):
    return gather(aligned, planted.views)


@pytest.fixture
def incomplete(gathered):
    """The first view is missing for nine samples."""
    first, *others = gathered.views
    return replace(gathered, views=[replace(first, observed=np.arange(90) >= 9), *others])


@pytest.fixture
def page_of():
    """The page about some data; options replace the content of sections."""

    def make(data, **options):
        names, agreement = agreement_table(data)
        explanation = options.pop("explanation", Explanation())
        compared = options.pop("compared", None)
        clusters = sections_samples.clusters(data, cluster_traits(data))
        given = {
            "data": data,
            "title": "a title",
            "method": type(data.model).__name__,
            "styles": cluster_styles(len(data.clusters)),
            "summary": sections_samples.summary(data, Importance([], {}), explanation, compared),
            "warnings": [],
            "drawing": None,
            "clusters": clusters,
            "largest_effect": sections_samples.largest_effect(clusters),
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
