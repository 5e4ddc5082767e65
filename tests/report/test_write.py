import base64
import datetime
import re

import numpy as np
import pytest

import latefusion as lf
from latefusion.interpretation.importance import explain_views
from latefusion.progress import progress_listener
from latefusion.report import write as module
from latefusion.report import write_report


def headings(path):
    return re.findall(r'<h2 id="(\w+)-title">', path.read_text(encoding="utf-8"))


def test_a_model_that_decides_has_all_sections(deciding, planted, tmp_path):
    path = write_report(deciding, planted.views, tmp_path / "all.html", target=planted.target)
    assert headings(path) == [
        "sizes", "maps", "clusters", "annotation", "check", "views", "baselines", "choices", "convergence", "reproduce",
    ]  # fmt: skip


def test_a_consensus_of_labels(agreed, labelings, tmp_path):
    path = write_report(agreed, labelings, tmp_path / "labels.html", embedding="pca")
    assert headings(path) == [
        "warnings", "sizes", "maps", "clusters", "check", "views", "missing", "convergence", "reproduce",
    ]  # fmt: skip


@pytest.mark.parametrize("similarity", ["kernel", "graph"])
def test_local_alignment(planted, tmp_path, similarity):
    model = lf.LocalAlignmentClustering(3, similarity=similarity, random_state=0).fit(planted.views)
    path = write_report(model, planted.views, tmp_path / "local.html", baselines=False, embedding="pca")
    assert "LocalAlignmentClustering" in path.read_text(encoding="utf-8")


def test_one_view(planted, tmp_path):
    table = planted.views.arrays[0]
    model = lf.LateFusionClustering(3, random_state=0).fit(table)
    path = write_report(model, table, tmp_path / "one.html", embedding="pca")
    assert 'id="view-0"' not in path.read_text(encoding="utf-8")


def test_two_runs_write_the_same(aligned, planted, tmp_path):
    options = {"baselines": False, "sample_ids": range(90), "title": "t", "date": datetime.date(2026, 1, 31)}
    first, second = (write_report(aligned, planted.views, tmp_path / f"{i}.html", **options) for i in range(2))
    assert first.read_bytes() == second.read_bytes()


def test_given_baselines_are_taken(aligned, planted, tmp_path):
    rows = lf.compare_baselines(planted.views, 3, random_state=0)
    path = write_report(aligned, planted.views, tmp_path / "rows.html", baselines=rows, embedding="pca")
    assert "baselines" in headings(path)
    assert "baselines" not in headings(write_report(aligned, planted.views, path, baselines=[], embedding="pca"))


def test_a_failure_leaves_the_old_file_and_nothing_else(aligned, planted, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(aligned, planted.views, path, baselines=False, embedding="pca", force=True)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_what_cannot_work_is_refused_before_any_work(aligned, planted, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"does not exist\. Create it first"):
        write_report(aligned, planted.views, tmp_path / "nowhere" / "report.html")
    with pytest.raises(ValueError, match="embedding must be one of"):
        write_report(aligned, planted.views, tmp_path / "report.html", embedding="umap")
    with pytest.raises(ValueError, match=r"report\.pdf' ends in '\.pdf'"):
        write_report(aligned, planted.views, tmp_path / "report.pdf")
    (tmp_path / "report.html").write_text("my own page")
    with pytest.raises(ValueError, match="exists and is not a report of latefusion"):
        write_report(aligned, planted.views, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == "my own page"


def test_an_older_report_is_replaced(aligned, planted, tmp_path):
    for title in ("first", "second"):
        path = write_report(aligned, planted.views, tmp_path / "a.html", title=title, baselines=False, embedding="pca")
    assert "second" in path.read_text(encoding="utf-8")


def test_given_explanation_and_warnings_are_not_computed_again(deciding, planted, tmp_path, monkeypatch):
    explanation = explain_views(deciding)
    own = write_report(deciding, planted.views, tmp_path / "own.html", baselines=False, embedding="pca")

    def refuse(*_):
        raise AssertionError("computed again")

    for name in ("explain_views", "data_warnings"):
        monkeypatch.setattr(module, name, refuse)
    options = {"explain": explanation, "warnings": [], "baselines": False, "embedding": "pca"}
    given = write_report(deciding, planted.views, tmp_path / "given.html", **options)
    assert given.read_bytes() == own.read_bytes()
    options["warnings"] = ["beware"]
    assert "<li>beware</li>" in write_report(deciding, planted.views, given, **options).read_text(encoding="utf-8")


def test_a_comparison_method(planted, tmp_path):
    model = lf.baselines.METHODS["GMC"](n_clusters=3).fit(planted.views)
    path = write_report(model, planted.views, tmp_path / "gmc.html", baselines=False, embedding="pca")
    assert "GraphBasedClustering" in path.read_text(encoding="utf-8")


def test_annotation_outcome_and_colours_reach_the_page(aligned, planted, tmp_path):
    known = {"stage": ["I", "II", "III"] * 30, "age": np.linspace(20.5, 80, 90)}
    outcome = lf.outcome(aligned, {"time": range(1, 91), "event": [0, 1, 1] * 30}, n_permutations=19)
    options = {"annotation": known, "outcome": outcome, "color_by": ["view_1: column 3"]}
    path = write_report(
        aligned, planted.views, tmp_path / "all.html", **options, baselines=False, embedding="pca",
        files=[tmp_path / "a.csv"], date=datetime.date(2026, 1, 31),
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    assert {"annotation", "outcome"} <= set(headings(path))
    assert re.findall(r'<option value="column-\d">(.*?)</option>', text) == [
        "column 3", "stage", "age", "time", "event",
    ]  # fmt: skip
    assert "a.csv" in text
    assert '<time datetime="2026-01-31">' in text


def test_wrong_annotation_outcome_and_colours_are_refused_before_any_work(aligned, planted, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("work")

    for name in ("explain_views", "run_baselines", "draw", "agreement_table"):
        monkeypatch.setattr(module, name, refuse)
    for options, error in (
        ({"annotation": {"a": [1, 2]}}, "one value per sample"),
        ({"color_by": ["nowhere"]}, "color_by contains 'nowhere'"),
        ({"outcome": {"time": [1]}}, "the result of latefusion.outcome"),
    ):
        with pytest.raises((ValueError, TypeError), match=error):
            write_report(aligned, planted.views, tmp_path / "no.html", **options)
    assert not list(tmp_path.iterdir())


def test_one_cluster_has_a_page(planted, tmp_path):
    model = lf.GlobalAlignmentClustering(1, random_state=0).fit(planted.views)
    path = write_report(model, planted.views, tmp_path / "one.html", annotation={"kind": ["a", "b"] * 45})
    assert "heatmap effects" not in path.read_text(encoding="utf-8")
    assert {"sizes", "annotation"} <= set(headings(path))


def test_new_samples_have_a_page_of_their_own(deciding, planted, tmp_path):
    rows = slice(0, 40)
    path = write_report(deciding, planted.views[rows], tmp_path / "new.html", new=True, target=planted.target[rows])
    text = path.read_text(encoding="utf-8")
    found = [one for one in headings(path) if one != "check"]  # only if samples are novel
    assert found == ["sizes", "maps", "clusters", "annotation", "views", "choices", "convergence", "reproduce"]
    assert "of 40 new samples</h1>" in text
    labels = base64.b64decode(re.search(r'download="labels.csv" href="data:[^,]*base64,([^"]*)"', text)[1]).decode()
    own = deciding.predict(planted.views[rows]).tolist()
    assert [int(line.split(",")[-3]) for line in labels.splitlines()[1:]] == own
    assert "Maps of the single views" not in text
    assert "new=True" in text


def test_a_page_shows_verdicts_on_clusterings(agreed, labelings, tmp_path, text_of):
    path = write_report(agreed, labelings, tmp_path / "labels.html", embedding="pca")
    text = text_of(path.read_text(encoding="utf-8"))
    assert "agreement with the others" in text
    assert "Adjusted Rand index of the clustering and the consensus of the others" in text
    assert "Stability is" not in text


def test_new_samples_may_lack_a_view(aligned, planted, tmp_path):
    """Without a warning of NumPy about the mean of nothing."""
    part = {"view_0": planted.views.arrays[0]}
    path = write_report(aligned, part, tmp_path / "part.html", new=True, embedding="pca")
    assert "of 90 new samples</h1>" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="X does not have the view 'view_1'"):
        write_report(aligned, part, path)


def test_progress_follows_the_maps(aligned, planted, tmp_path):
    """Maps take most of the time."""
    seen = []
    with progress_listener(lambda message, fraction: seen.append((message, fraction))):
        write_report(aligned, planted.views, tmp_path / "page.html", baselines=False, explain=False, embedding="pca")
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    maps = [message for message, _ in seen if message.startswith("map of")]
    assert maps == ["map of the samples", "map of view_0", "map of view_1"]
