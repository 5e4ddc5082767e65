import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from latefusion.report import page
from latefusion.report.findings import gather
from latefusion.report.page import draw, render, shorten_id

NASTY = "<script>alert(1)</script>\u2028</script><!--"


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1))


def numbers(packed, kind):
    return np.frombuffer(base64.b64decode(packed), dtype=kind)


@pytest.fixture
def drawing(findings):
    return draw(findings, "pca")


def test_labels_confidence_and_own_clusters_travel(findings, drawing):
    data = drawing.data
    np.testing.assert_array_equal(numbers(data["labels"], "<u2"), findings.labels)
    np.testing.assert_allclose(numbers(data["confidence"], "u1") / 255, findings.confidence, atol=0.5 / 255 + 1e-9)
    for sent, view in zip(data["views"], findings.views, strict=True):
        np.testing.assert_array_equal(numbers(sent["own"], "u1").astype(int) - 1, view.own)
    assert numbers(data["positions"], "<u2").shape == (180,)


def test_subsets_are_those_of_the_samples(findings, monkeypatch):
    monkeypatch.setattr(page, "MOST_SAMPLES", 50)
    monkeypatch.setattr(page, "MOST_VIEW_SAMPLES", 20)
    named = replace(findings, ids=[f"s{i}" for i in range(90)])
    drawing = draw(named, "pca")
    rows = numbers(drawing.data["rows"], "<u4")
    assert (drawing.n_samples, drawing.n_view_samples, len(rows)) == (50, 20, 50)
    assert drawing.data["ids"] == [f"s{i}" for i in rows]
    np.testing.assert_array_equal(numbers(drawing.data["labels"], "<u2"), findings.labels[rows])
    assert numbers(drawing.data["small"], "<u4").max() < 50
    assert len(numbers(drawing.data["views"][0]["positions"], "<u2")) == 40


def test_many_own_clusters_need_two_bytes(findings):
    view = replace(findings.views[0], own=np.arange(90) + 300, own_names=[str(i) for i in range(400)])
    sent = draw(replace(findings, views=[view]), "pca").data["views"][0]
    assert sent["wide"]
    np.testing.assert_array_equal(numbers(sent["own"], "<u2") - 1, view.own)


def test_views_with_holes_say_who_is_seen(findings):
    seen = np.arange(90) >= 9
    sent = draw(replace(findings, views=[replace(findings.views[0], observed=seen)]), "pca").data["views"][0]
    np.testing.assert_array_equal(numbers(sent["seen"], "u1"), seen)


def test_without_a_consensus_there_are_no_maps(content_of, findings):
    bare = replace(findings, consensus=None)
    assert draw(bare) is None
    text = render(content_of(bare), None)
    assert "<canvas" not in text
    assert data_of(text) is None


def test_labelings_share_the_large_map(agreed, labelings):
    drawing = draw(gather(agreed, labelings), "pca")
    assert {view["positions"] for view in drawing.data["views"]} == {drawing.data["positions"]}
    assert drawing.view_method == ""


def test_only_the_page_s_own_script_may_run(content_of, findings, drawing):
    text = render(content_of(findings), drawing)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    allowed = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}'" in text
    assert "default-src 'none'" in text


def test_nothing_comes_from_elsewhere(content_of, findings, drawing):
    text = render(content_of(findings), drawing)
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", text)
    assert not re.search(r'\s(src|href)="(?!#|data:)', text)


def test_the_script_writes_no_html():
    script = page.TEMPLATES.joinpath("script.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", script)


def test_names_of_the_user_do_nothing(content_of, findings):
    views = [
        replace(view, name=f"{NASTY}{place}", columns=[NASTY] * 4, own_names=[NASTY] * 3)
        for place, view in enumerate(findings.views)
    ]
    nasty = replace(findings, views=views, ids=[f"{NASTY}{i}" for i in range(90)], clusters=[NASTY, "b", "c"])
    text = render(content_of(nasty, title=NASTY, warnings=[NASTY], command=NASTY), draw(nasty, "pca"))
    assert len(re.findall("<script", text)) == 2
    assert len(re.findall("</script", text)) == 2
    assert "\u2028" not in re.search(r'id="data">(.*?)</script>', text).group(1)
    assert data_of(text)["views"][0]["name"] == f"{NASTY}0"


def test_sections_come_in_one_order_and_empty_ones_are_left_out(content_of, findings, drawing):
    text = render(content_of(findings), drawing)
    assert re.findall(r'<section id="(\w+)"|<section [^>]*?id="(\w+)"', text)
    found = re.findall(r'<h2 id="(\w+)-title">', text)
    assert found == ["maps", "clusters", "views", "convergence", "reproduce"]


def test_labelings_take_the_colours_of_the_clusters_they_are_most_like(agreed, labelings):
    found = gather(agreed, labelings)
    for view in found.views:
        colors = page.paint(view, found.labels, len(found.clusters))
        assert len(set(colors)) == len(view.own_names)
    text = found.views[0]
    painted = np.array(page.paint(text, found.labels, 3))[text.own]
    assert np.mean(painted == found.labels) > 0.95
    fine = replace(text, own=np.arange(90) % 5, own_names=list("abcde"))
    assert sorted(page.paint(fine, found.labels, 3)) == [0, 1, 2, 3, 4]


def test_long_identifiers_lose_their_middle():
    assert shorten_id("short") == "short"
    assert len(shorten_id("x" * 500)) <= 64
    assert shorten_id("start" + "x" * 500 + "end").startswith("start")


def test_a_hundred_thousand_samples_stay_small(content_of, findings):
    """Fifty views, long names: what grows with the samples stays below fifteen million bytes."""
    generator = np.random.default_rng(0)
    n_samples = 100_000
    labels = generator.integers(0, 3, n_samples)
    view = replace(
        findings.views[0],
        array=None,
        kind="kernel",
        own=labels,
        observed=np.ones(n_samples, dtype=bool),
        rows=generator.standard_normal((n_samples, 2)).astype(np.float32),
    )
    large = replace(
        findings,
        labels=labels,
        confidence=generator.random(n_samples),
        consensus=generator.standard_normal((n_samples, 2)),
        ids=[f"AAACCTGAGAAACCAT{i:06d}-1" for i in range(n_samples)],
        views=[replace(view, name=f"view {i}") for i in range(50)],
    )
    drawing = draw(large, "pca")
    assert len(json.dumps(drawing.data)) < 14.5e6
    assert drawing.n_samples == n_samples
