import numpy as np
import pytest

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.experiments import compare_methods, comparison_table, fit_and_score, honest_lines
from latefusion.progress import progress_listener


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(60, 3, noise=0.5, random_state=0)


def test_rows_come_in_order_with_scores(data):
    methods = {name: METHODS[name](n_clusters=3, random_state=0) for name in ("MKKM", "A-MKKM")}
    reports = []
    with progress_listener(lambda *report: reports.append(report)):
        rows = compare_methods(data.views, methods, target=data.target)
    assert [row.method for row in rows] == ["MKKM", "A-MKKM"]
    assert [report for report in reports if ":" not in report[0]] == [("MKKM", 0.0), ("A-MKKM", 0.5)]
    assert all(row.scores["accuracy"] > 0.9 for row in rows)
    assert not hasattr(methods["MKKM"], "labels_")


def test_a_refusal_becomes_a_note(data):
    rows = compare_methods(data.views, {"too many": METHODS["A-MKKM"](n_clusters=61)}, target=data.target)
    assert rows[0].labels is None
    assert "n_samples=60 should be >= n_clusters=61" in rows[0].note
    assert "failed" in comparison_table(rows)


def test_a_warning_becomes_a_note(data):
    row = fit_and_score("GAM", lf.GlobalAlignmentClustering(3, max_iter=1), data.views)
    assert "did not converge in 1 iterations" in row.note
    assert row.scores == {}


def test_honest_lines_name_what_needs_labels(data):
    rows = honest_lines(data.views, 3, target=data.target, random_state=0)
    assert [row.method for row in rows[1:]] == ["concat-kmeans", "concat-spectral", "A-MKKM"]
    assert rows[0].note == "view chosen with the classes"
    without = honest_lines(data.views, 3, random_state=0)
    assert [row.method for row in without[:3]] == [f"KMeans on view_{view}" for view in range(3)]
    assert not any(row.note for row in without[:3])


def test_table_shows_scores_only_where_there_are_classes(data):
    rows = honest_lines(data.views, 3, random_state=0)
    assert "ACC" not in comparison_table(rows)
    scored = comparison_table(honest_lines(data.views, 3, target=data.target, random_state=0))
    assert "ACC" in scored
    assert len(scored.splitlines()) == 2 + 4
    assert np.all(["concat" in line for line in scored.splitlines()[3:5]])


def test_views_that_cannot_be_clustered_alone_say_why():
    rows = honest_lines(lf.Views([np.ones((1, 2))]), 2, target=[0])
    assert rows[0].method == "KMeans on view_0"
    assert "n_samples=1 should be >= n_clusters=2" in rows[0].note
