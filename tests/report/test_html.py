import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from latefusion.cli import main
from latefusion.interpretation.annotation import Annotation, category_column
from latefusion.interpretation.gather import gather
from latefusion.interpretation.importance import Explanation
from latefusion.interpretation.outcome_table import OutcomeColumn
from latefusion.report import write_report
from latefusion.report.annotation import annotation_section
from latefusion.report.colors import color_columns, known_columns
from latefusion.report.html import FORBIDDEN, LEADERBOARD, REPORT, environment, json_text, render, style_and_script
from latefusion.report.maps import draw
from latefusion.report.outcome import outcome_section
from latefusion.report.reproduce import reproduction
from tests.properties import examples

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><!--",
    "\" onload='x'",
    "a & b",
    "\u2028\u2029",
    "]]>",
    "\x00\x1b",
    "\ud800",
    "{{ 7 * 7 }}{% raw %}{# no comment #}",
    "</style></title></code></textarea>",
    "javascript:alert(1)",
    "&lt;b&gt;",
]
ALL = "".join(HOSTILE)


class Reader(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data):
        self.text += data


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1))


def named(data, name):
    """The same data with a name in place of every name that a user can choose."""
    views = [
        replace(view, name=f"{name}{place}", columns=[name] * 4, label_names=[name] * 3)
        for place, view in enumerate(data.views)
    ]
    clusters = [f"{name}{place}" for place in range(3)]
    return replace(data, views=views, ids=[f"{name}{i}" for i in range(90)], clusters=clusters)


def full_page(page_of, data, name):
    kinds = [f"{name}{one % 3}" for one in range(90)]
    known = named(replace(data, target=np.array(kinds, dtype=object)), name)
    columns = (category_column(name, kinds), OutcomeColumn(name, "number", np.arange(90.0), unit=name))
    annotation = Annotation(columns, (name,))
    clinic = {"t": np.arange(90.0) + 1, "e": np.arange(90) % 2, "kind": kinds}
    outcome = lf.outcome(known.labels, clinic, survival=("t", "e"), n_permutations=19)
    survival = outcome.survival._replace(
        curves={f"{name}{one}": curve for one, curve in outcome.survival.curves.items()},
        hazard_ratios={f"{name}{one}": ratio for one, ratio in outcome.survival.hazard_ratios.items()},
        time_name=name,
        event_name=name,
    )
    compared = outcome.clustering._replace(clusters=tuple(known.clusters))
    tested = outcome_section(replace(outcome, survival=survival, notes=(name,), clustering=compared), known)
    return page_of(
        known,
        annotation=annotation_section(annotation, known),
        outcome=tested,
        files=[name],
        title=name,
        warnings=[name],
        summary=[name],
        method=name,
        explanation=Explanation(notes=(name,)),
        reproduce=reproduction(named(data, name), command=name, loading=f"views = {name!r}"),
        drawing=draw(known, "pca", color_columns(known, [], [], known_columns(columns))),
    )


@pytest.mark.parametrize("name", [*HOSTILE, ALL])
def test_hostile_names_make_no_element_and_no_attribute(page_of, incomplete, name):
    """The page has the same elements and attributes as with a harmless name, and shows the name as text."""
    text = full_page(page_of, incomplete, name)
    text.encode("utf-8")
    page = Reader(text)
    assert page.tags == Reader(full_page(page_of, incomplete, "harmless")).tags
    assert FORBIDDEN.sub("\ufffd", name) in page.text
    assert data_of(text)["columns"][0]["name"] == name.replace("\x7f", "\ufffd")
    assert data_of(text)["views"][0]["name"] == f"{name}0".replace("\x7f", "\ufffd")


def test_every_name_is_on_the_page(page_of, incomplete):
    """So that the test above says something about each of them."""
    marks = {"title": "aaa", "warnings": ["bbb"], "summary": ["ccc"], "method": "ddd"}
    data = named(incomplete, "eee")
    data = replace(data, ids=[f"fff{i}" for i in range(90)], clusters=["ggg", "hhh", "iii"])
    data = replace(data, views=[replace(view, name="jjj", columns=["kkk"] * 4) for view in data.views])
    reproduce = reproduction(data, command="lll", loading="mmm")
    page = page_of(
        data, explanation=Explanation(notes=("nnn",)), reproduce=reproduce, drawing=draw(data, "pca"), **marks
    )
    shown = page.partition('<script type="application/json"')[0]
    assert [mark for mark in "abcdefghijklmn" if 3 * mark not in shown] == []


@examples(60)
@given(st.text())
def test_any_title_arrives_as_it_is(title):
    template = environment().from_string('<p title="{{ title }}">{{ title }}</p>')
    page = Reader(FORBIDDEN.sub("\ufffd", template.render(title=title)))
    assert page.tags == [("p", ("title",))]
    # HTML reads a carriage return as a line break
    assert page.text.replace("\r", "\n") == FORBIDDEN.sub("\ufffd", title).replace("\r", "\n")


@examples(60)
@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.dictionaries(st.text(), inner) | st.lists(inner)
    )
)
def test_json_comes_back_and_cannot_end_its_element(data):
    text = json_text(data)
    assert json.loads(text) == data
    assert text.isascii()
    assert not set("<>&") & set(text)


def test_json_refuses_numbers_that_javascript_cannot_read():
    with pytest.raises(ValueError, match="JSON"):
        json_text([float("nan")])


def test_a_variable_that_is_not_given_is_an_error():
    import jinja2

    with pytest.raises(jinja2.UndefinedError):
        render(title="only")


def test_only_the_script_of_the_page_may_run(page_of, gathered):
    text = page_of(gathered, drawing=draw(gathered, "pca"))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    allowed = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}'" in text
    assert "default-src 'none'" in text


def test_nothing_comes_from_elsewhere(page_of, gathered):
    text = page_of(gathered, drawing=draw(gathered, "pca"))
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", text)
    assert not re.search(r'\s(src|href)="(?!#|data:)', text)


def test_the_script_writes_no_html():
    script = str(style_and_script(REPORT)["script"])
    assert len(re.findall("outerHTML", script)) == len(re.findall(r"copy\.outerHTML;", script)) == 1  # is read
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", script)


def test_templates_mark_no_variable_as_safe():
    """Only literals may be HTML; style, script and JSON come as such from Python."""
    made = environment()
    for name in made.list_templates(["html"]):
        source = made.loader.get_source(made, name)[0]
        assert not re.search(r"autoescape|Markup", source)
        for before in re.findall(r"(\S+)\s*\|\s*safe", source):
            assert before.endswith("'"), f"{name}: {before} | safe"


def test_sections_come_in_one_order_and_empty_ones_are_left_out(page_of, gathered):
    text = page_of(gathered, drawing=draw(gathered, "pca"))
    found = re.findall(r'<section id="(\w+)"', text)
    assert found == ["summary", "sizes", "maps", "clusters", "check", "views", "convergence", "reproduce"]


def test_maps_have_a_key_per_cluster_and_a_canvas_per_view(page_of, section, gathered):
    html = section(page_of(gathered, drawing=draw(gathered, "pca")), "maps")
    assert html.count('class="key"') == html.count('aria-pressed="true"') == 3
    assert all(f'id="{name}"' in html for name in ("map", "view-0", "view-1", "find", "colour"))
    assert "random" not in html


def test_a_subset_is_stated(page_of, section, gathered):
    drawing = draw(gathered, "pca")._replace(n_samples=50, n_view_samples=20)
    html = section(page_of(gathered, drawing=drawing), "maps")
    assert "50 random samples are shown" in html
    assert "Each map shows 20 random samples" in html


def test_views_that_are_labels_are_coloured_by_them(page_of, section, agreed, labelings):
    data = gather(agreed, labelings)
    html = section(page_of(data, drawing=draw(data, "pca")), "maps")
    assert '<option value="own" selected>' in html
    assert "The same map for every view" in html


def test_without_maps_there_is_no_canvas(page_of, gathered):
    text = page_of(gathered)
    assert "<canvas" not in text
    assert data_of(text) is None


def test_warnings_are_left_out_where_there_are_none(page_of, section, gathered):
    assert section(page_of(gathered), "warnings") is None
    assert "beware" in section(page_of(gathered, warnings=["beware"]), "warnings")


def test_the_extra_is_named_where_jinja2_is_missing(gathered, planted, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    advice = r"The report needs Jinja2: pip install 'latefusion\[report\]'\."
    with pytest.raises(ImportError, match=advice):
        write_report(gathered.model, planted.views, tmp_path / "page.html")
    # The command line says so before it reads any file.
    assert main(["cluster", "absent.csv", "--report", str(tmp_path / "page.html")]) == 1
    assert re.search(advice, capsys.readouterr().err)


def test_contents_name_all_sections(page_of, gathered):
    text = page_of(gathered, drawing=draw(gathered, "pca"), warnings=["beware"])
    contents = re.search(r'<nav id="contents".*?</nav>', text, re.DOTALL).group()
    links = re.findall(r'<a href="#(\w+)">([^<]+)</a>', contents)
    headings = re.findall(r'<h2 id="(\w+)-title"[^>]*>([^<]+)</h2>', text)
    assert links == headings
    assert [name for name, _ in links] == re.findall(r'<section id="(\w+)"', text)


def test_date_and_files_are_in_the_head(page_of, gathered):
    head = page_of(gathered, files=["a.csv", "b/c.csv"]).partition("<main")[0]
    assert "2026-01-31" in head
    assert "a.csv" in head
    assert "b/c.csv" in head
    assert "Input:" not in page_of(gathered)


def test_every_cluster_can_be_named(page_of, section, gathered):
    html = section(page_of(gathered), "sizes")
    assert re.findall(r'<input[^>]* data-id="([^"]*)"', html) == gathered.clusters
    assert html.count('class="bar"') == 3


def test_the_parts_of_scripts_and_styles_are_all_used():
    files = {name for name in environment().list_templates() if name.endswith((".js", ".css"))}
    assert files == {part for page in (REPORT, LEADERBOARD) for part in page.scripts + page.styles}
