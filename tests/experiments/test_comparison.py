import json
from html.parser import HTMLParser

import numpy as np
import pytest

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.experiments import Comparison, ComparisonRow, compare_methods, fit_and_score, run_baselines
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
    assert "failed" in repr(rows)


def test_a_warning_becomes_a_note(data):
    row = fit_and_score("GAM", lf.GlobalAlignmentClustering(3, max_iter=1), data.views)
    assert "did not converge in 1 iterations" in row.note
    assert row.scores == {}


def test_baselines_name_what_needs_labels(data):
    rows = run_baselines(data.views, 3, target=data.target, random_state=0)
    assert [row.method for row in rows[1:]] == ["concat-kmeans", "concat-spectral", "A-MKKM"]
    assert rows[0].note == "view chosen with the classes"
    without = run_baselines(data.views, 3, random_state=0)
    assert [row.method for row in without[:3]] == [f"KMeans on view_{view}" for view in range(3)]
    assert not any(row.note for row in without[:3])


ROWS = [
    ComparisonRow("first <b>", np.array([0, 1, 1]), 0.25, {"accuracy": 0.5, "agreement": 1.0}),
    ComparisonRow("second", None, 1.0, {}, "failed: views & kernels"),
]

TEXT = """\
method       ACC  ARI with ours  clusters  seconds  note
---------  -----  -------------  --------  -------  -----------------------
first <b>  0.500          1.000         2     0.25
second         -              -         -     1.00  failed: views & kernels

One remark.
Another."""


class Cells(HTMLParser):
    """The text of all cells of a table and of the paragraphs below it."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.paragraphs, self.tags = [], [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "p":
            self.paragraphs.append("")

    def handle_data(self, data):
        if self.paragraphs:
            self.paragraphs[-1] += data.strip()
        elif self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


def test_a_comparison_prints_itself():
    assert repr(Comparison(ROWS, ["One remark.", "Another."])) == TEXT


def test_the_html_of_a_comparison_has_the_cells_of_its_text():
    found = Cells(Comparison(ROWS, ["a < b"])._repr_html_())
    assert found.rows == [
        ["method", "ACC", "ARI with ours", "clusters", "seconds", "note"],
        ["first <b>", "0.500", "1.000", "2", "0.25", ""],
        ["second", "-", "-", "-", "1.00", "failed: views & kernels"],
    ]
    assert found.paragraphs == ["a < b"]
    assert found.tags == {"table", "thead", "tbody", "tr", "th", "td", "p"}


def test_a_comparison_is_a_sequence_of_its_rows():
    comparison = Comparison(ROWS)
    assert len(comparison) == 2
    assert list(comparison) == ROWS
    assert comparison[-1] is ROWS[1]
    assert comparison[:1] == (ROWS[0],)


def test_columns_are_selected_by_name():
    comparison = Comparison(ROWS)
    assert list(comparison.columns) == ["method", "accuracy", "agreement", "clusters", "seconds", "note"]
    assert comparison["seconds"].tolist() == [0.25, 1.0]
    assert comparison["method"].tolist() == ["first <b>", "second"]
    np.testing.assert_array_equal(comparison["accuracy"], [0.5, np.nan])
    with pytest.raises(KeyError, match=r"Unknown column 'time'\. The columns are method, accuracy"):
        comparison["time"]


def test_records_survive_json_and_the_frame_has_a_column_per_score():
    comparison = Comparison(ROWS)
    records = comparison.records()
    assert json.loads(json.dumps(records)) == records
    assert records[0] == {
        "method": "first <b>",
        "clusters": 2,
        "seconds": 0.25,
        "scores": {"accuracy": 0.5, "agreement": 1.0},
        "note": "",
    }
    frame = comparison.to_frame()
    assert list(frame.index) == ["first <b>", "second"]
    assert list(frame.columns) == ["accuracy", "agreement", "clusters", "seconds", "note"]
    assert frame.loc["first <b>", "clusters"] == 2
    assert frame.loc["second", ["accuracy", "agreement", "clusters"]].isna().all()


def test_columns_are_the_scores_that_some_row_has(data):
    rows = Comparison(run_baselines(data.views, 3, random_state=0))
    assert repr(rows).splitlines()[0].split() == ["method", "clusters", "seconds"]
    scored = Comparison(run_baselines(data.views, 3, target=data.target, random_state=0))
    names = ["method", "ACC", "NMI", "purity", "ARI", "clusters", "seconds", "note"]
    assert repr(scored).splitlines()[0].split() == names
    assert len(repr(scored).splitlines()) == 2 + 4


def test_views_that_cannot_be_clustered_alone_say_why():
    rows = run_baselines(lf.Views([np.ones((1, 2))]), 2, target=[0])
    assert rows[0].method == "KMeans on view_0"
    assert "n_samples=1 should be >= n_clusters=2" in rows[0].note
