"""Fitted models and what reports say about them, made once."""

from __future__ import annotations

import numpy as np
import pytest

import latefusion as lf
from latefusion.report.content import ReportContent
from latefusion.report.findings import gather
from latefusion.report.judgement import Explanation, ViewJudgement, agreement_table
from latefusion.report.profiles import cluster_traits


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
    """Three partitions of the same samples; the second does not know ten of them."""
    names = np.array(["a", "b", "c"])[planted.target]
    second = np.where(np.arange(90) < 10, -1, planted.target)
    return {"text": names, "partial": second, "coarse": (planted.target > 0).astype(int)}


@pytest.fixture(scope="session")
def agreed(labelings):
    return lf.ConsensusClustering(3, random_state=0).fit(labelings)


@pytest.fixture
def findings(aligned, planted):
    return gather(aligned, planted.views)


@pytest.fixture
def content_of():
    """What the sections of a report on some findings are written from, without costly parts."""

    def make(findings, **options):
        names, agreement = agreement_table(findings)
        given = {
            "findings": findings,
            "title": "a title",
            "warnings": [],
            "names": names,
            "agreement": agreement,
            "judgement": ViewJudgement([], []),
            "explanation": Explanation(),
            "traits": cluster_traits(findings),
        }
        return ReportContent(**(given | options))

    return make
