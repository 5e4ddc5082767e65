"""Contents, colours, names, files and folded parts of the report, in a real browser."""

from __future__ import annotations

import base64
import csv
import io
import re
import time

import numpy as np
import pytest

from tests.browser.pages import N_PATIENTS, NASTY, give_names, open_all

pytestmark = pytest.mark.browser


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def labels_link(page):
    """The content of the link, as it stands in the page."""
    url = page.ask("return document.querySelector(\"a[download='labels.csv']\").getAttribute('href')")
    head, content = url.split(",", 1)
    assert head.startswith("data:text/csv")
    return rows_of(base64.b64decode(content).decode())


def test_contents_lead_to_every_section(page, patients):
    page.open(patients)
    links = page.driver.find_elements("css selector", "#contents a")
    headings = page.ask("return Array.from(document.querySelectorAll('main h2')).map((one) => one.textContent)")
    assert [link.text for link in links] == headings
    for link in links[:: len(links) // 4]:
        link.click()
        name = link.get_attribute("href").split("#")[1]
        place = page.ask("return document.getElementById(arguments[0]).getBoundingClientRect().top", name)
        at_end = page.ask("return window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2")
        assert abs(place) < 20 or at_end


def test_the_head_names_date_and_files(page, patients):
    page.open(patients)
    head = page.ask("return document.querySelector('header').innerText")
    assert "2026-01-31" in head
    assert "data/rna.csv" in head


@pytest.mark.parametrize("group", ["annotation", "clinic"])
def test_columns_of_the_user_are_colours(page, patients, patients_data, group):
    _, table, known = patients_data
    page.open(patients)
    frame = known if group == "annotation" else table["clinic"]
    options = page.ask(
        """return Array.from(document.querySelectorAll(`#colour optgroup[label="${arguments[0]}"] option`))
        .map((one) => [one.value, one.textContent])""",
        group,
    )
    assert {name for _, name in options} & set(frame.columns)
    for value, name in options:
        page.choose("colour", value)
        scale = page.text("scale")
        assert scale.startswith(name)
        page.point_at(7)
        shown = page.text("tip").splitlines()
        text = shown[shown.index(name) + 1]
        own = frame[name].iloc[7]
        if frame[name].dtype.kind == "M":
            assert text == str(own.date())
        elif frame[name].dtype.kind in "if":
            assert float(text) == pytest.approx(float(own), rel=1e-3)
        elif own.startswith("$"):
            assert float(text.replace("$", "").replace(",", "")) == pytest.approx(
                float(own.replace("$", "").replace(",", "")), rel=1e-3
            )
        else:
            assert text == own
            for level, count in frame[name].value_counts().items():
                assert f"{level} ({count})" in scale


def test_maps_of_views_follow_or_show_their_own_clusters(page, patients):
    page.open(patients)
    clusters = page.picture("view-4")
    page.choose("colour", "column-1")
    column = page.picture("view-4")
    page.choose("view-colour", "own")
    own = page.picture("view-4")
    assert len({clusters, column, own}) == 3
    page.choose("colour", "confidence")
    page.choose("colour", "column-1")
    assert page.picture("view-4") == own


def test_classes_have_the_colours_of_their_clusters(page, patients):
    """Subtypes are the clusters here, so that nothing changes but the scale."""
    page.open(patients)
    before = page.picture("view-0")
    page.choose("colour", "column-0")
    assert page.picture("view-0") == before
    assert "subtype A (" in page.text("scale")


def test_the_link_to_the_labels_is_the_labels(page, patients, patients_data, tmp_path):
    model, table, _ = patients_data
    page.open(patients)
    rows = labels_link(page)
    assert [row["id"] for row in rows] == table["clinic"].index.tolist()
    assert [int(row["label"]) for row in rows] == model.labels_.tolist()
    saved = page.downloaded("a[download='labels.csv']", tmp_path, "labels.csv").read_text(encoding="utf-8")
    assert rows_of(saved) == rows


def test_profiles_can_be_saved(page, patients, tmp_path):
    page.open(patients)
    saved = page.downloaded("a[download='profiles.csv']", tmp_path, "profiles.csv").read_text(encoding="utf-8")
    assert {"cluster", "view", "feature", "effect", "shown_inside"} <= set(rows_of(saved)[0])


def test_names_appear_everywhere_and_in_the_labels(page, patients, patients_data, tmp_path):
    model = patients_data[0]
    page.open(patients)
    map_before = page.picture("map")
    names = {0: "immune hot", 2: 'com,ma "quoted"', 3: "=1+1"}
    give_names(page, names)
    for section in ("maps", "clusters", "annotation", "outcome"):
        assert "immune hot" in page.text(section)
    assert page.picture("map") != map_before
    i = int(np.flatnonzero(model.labels_ == 0)[0])
    page.point_at(i)
    assert "0 immune hot" in page.text("tip")
    saved = page.downloaded("a[download='labels.csv']", tmp_path, "labels.csv").read_text(encoding="utf-8")
    rows = rows_of(saved)
    written = names | {3: "'=1+1"}  # not a formula in a spreadsheet
    assert [row["name"] for row in rows] == [written.get(label, "") for label in model.labels_.tolist()]
    assert [{key: row[key] for key in row if key != "name"} for row in rows] == labels_link(page)


def test_ids_with_commas_and_line_breaks_keep_their_name(page, strange_ids, tmp_path):
    path, model, ids = strange_ids
    page.open(path)
    give_names(page, {0: "first", 1: "second"})
    saved = page.downloaded("a[download='labels.csv']", tmp_path, "labels.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(saved, newline="")))
    assert [row["id"] for row in rows] == ids
    assert [row["name"] for row in rows] == [("first", "second", "")[label] for label in model.labels_]


@pytest.mark.parametrize("name", ["immune hot", NASTY, '" onmouseover="alert(4)', "</script><!--"])
def test_a_saved_copy_keeps_the_names(page, patients, tmp_path, name):
    page.open(patients)
    give_names(page, {1: name})
    page.choose("colour", "column-0")
    page.driver.find_element("id", "theme").click()
    page.point_at(3, click=True)
    elements = page.ask("return document.querySelectorAll('*').length")
    copy = page.downloaded("#copy", tmp_path, "report.html")
    page.open(copy)
    assert page.ask("return document.querySelectorAll('input.name')[1].value") == name
    assert name in page.text("clusters")
    assert page.complaints() == []
    assert page.ask("return document.scripts.length") == 2
    assert page.ask("return document.querySelectorAll('[onmouseover], [onerror]').length") == 0
    assert page.painted("map") > 0
    assert not page.text("sample")
    assert page.ask("return document.querySelectorAll('*').length") <= elements
    assert [url for url in page.requests() if not url.startswith("data:")] == [copy.as_uri()]
    again = page.downloaded("#copy", tmp_path / "again", "report.html")
    assert again.read_bytes() == copy.read_bytes()


def test_a_copy_without_names_is_the_page(page, patients, tmp_path):
    """But for how a browser writes HTML, which a second copy does not change."""
    page.open(patients)
    copy = page.downloaded("#copy", tmp_path, "report.html").read_text(encoding="utf-8")
    original = patients.read_text(encoding="utf-8")
    scripts = [re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL) for text in (copy, original)]
    assert scripts[0] == scripts[1]
    policy = [re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text) for text in (copy, original)]
    assert policy[0] == policy[1]


def test_folded_parts_open(page, full):
    page.open(full)
    folded = page.driver.find_elements("css selector", "details.expert, details.terms")
    assert len(folded) >= 8
    for one in folded:
        if not one.is_displayed():
            continue  # within another one
        inside = one.find_element("xpath", "./*[not(self::summary)][1]")
        assert not inside.is_displayed()
        page.ask("arguments[0].querySelector('summary').click()", one)
        assert inside.is_displayed()


def test_paper_has_what_is_folded(page, full):
    page.open(full)
    page.ask("window.dispatchEvent(new Event('beforeprint'))")
    assert page.ask("return document.querySelectorAll('details:not([open])').length") == 0
    page.ask("window.dispatchEvent(new Event('afterprint'))")
    assert page.ask("return document.querySelectorAll('details[open]').length") == 0


def test_every_column_has_a_meaning_that_a_phone_can_show(page, full):
    """A head is explained below its table, or is a name of the user, or a bar."""
    page.open(full)
    heads = page.ask(
        """return Array.from(document.querySelectorAll("thead abbr")).map((one) => {
          const part = one.closest("section");
          const known = Array.from(part.querySelectorAll("dd")).map((dd) => dd.textContent);
          return [one.textContent, known.includes(one.title)];
        })"""
    )
    assert len(heads) > 20
    assert [text for text, known in heads if not known] == []


@pytest.mark.parametrize("name", ["full", "patients", "forty"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(page, request, name, scheme):
    """Contrast of at least 4.5 between every text and what is behind it (WCAG AA)."""
    page.open(request.getfixturevalue(name), scheme=scheme)
    open_all(page)
    page.choose("colour", "column-0")
    poor = page.ask(CONTRAST)
    assert poor == []


CONTRAST = """
const parts = (color) => color.match(/[\\d.]+/g).map(Number);
const over = (top, under) => {
  const alpha = top.length > 3 ? top[3] : 1;
  return [0, 1, 2].map((k) => alpha * top[k] + (1 - alpha) * under[k]);
};
const luminance = (color) => {
  const [r, g, b] = color.map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (one) => {
  const layers = [];
  for (let e = one; e; e = e.parentElement) layers.push(parts(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
};
const found = new Set();
for (const one of document.querySelectorAll("body *")) {
  const own = Array.from(one.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !one.getClientRects().length || ["SCRIPT", "OPTION"].includes(one.tagName)) continue;
  if (one.closest(".tree")) continue; // texts on bars have their own test
  const style = getComputedStyle(one), ground = behind(one);
  const color = over(parts(one instanceof SVGElement ? style.fill : style.color), ground);
  const [low, high] = [luminance(color), luminance(ground)].sort((a, b) => a - b);
  if ((high + 0.05) / (low + 0.05) < 4.5) {
    found.add(`${one.tagName}.${one.className} ${one.textContent.trim().slice(0, 20)}`);
  }
}
return Array.from(found);
"""


def test_numbers_on_the_tree_can_be_read(page, full):
    page.open(full)
    pairs = page.ask(
        """const fill = (one, what) => getComputedStyle(one.querySelector(what)).fill;
        return Array.from(document.querySelectorAll(".tree g")).filter((one) => one.querySelector("text"))
        .map((one) => [fill(one, "rect"), fill(one, "text")])"""
    )
    assert pairs
    for ground, ink in pairs:
        assert ink in ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
        assert ground != ink


def test_curves_of_survival_are_drawn(page, patients):
    page.open(patients)
    boxes = page.ask(
        """return Array.from(document.querySelectorAll(".survival .curve")).map((one) => {
          const box = one.getBBox(), frame = one.ownerSVGElement.viewBox.baseVal;
          return [box.x, box.y, frame.width - box.x - box.width, frame.height - box.y - box.height];
        })"""
    )
    assert len(boxes) == 12
    assert all(min(box) >= 0 for box in boxes)


def test_a_page_about_two_thousand_patients_is_small_and_quick(page, patients):
    """Five views, twelve clusters: less than one mebibyte, and drawn within two seconds."""
    assert patients.stat().st_size < 2**20
    page.open(patients)  # the browser is warm
    start = time.perf_counter()
    page.open(patients)
    assert page.painted("map") > N_PATIENTS
    assert time.perf_counter() - start < 2
    assert page.complaints() == []
