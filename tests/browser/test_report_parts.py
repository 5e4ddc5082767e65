"""Contents, colours, names, files and folded parts of the report, in a real browser."""

from __future__ import annotations

import base64
import csv
import io
import re
import shutil
import subprocess
import time
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import latefusion as lf
from latefusion.report.downloads import MOST_FEATURES
from latefusion.report.outcome import MOST_COLOURED, SurvivalChart
from tests.browser.pages import N_PATIENTS, NASTY, Reader, give_names, open_all, option_of, patients_tables

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
    for link in links:
        link.click()
        name = link.get_attribute("href").split("#")[1]
        place, scrolled, most = page.ask(
            """const root = document.documentElement;
            const top = document.getElementById(arguments[0]).getBoundingClientRect().top;
            return [top + window.scrollY, window.scrollY, root.scrollHeight - window.innerHeight]""",
            name,
        )
        assert scrolled == pytest.approx(min(place - 8, most), abs=1)  # the last sections are shorter than the window


def test_the_head_names_date_and_files(page, patients):
    page.open(patients)
    head = page.ask("return document.querySelector('header').innerText")
    assert "2026-01-31" in head
    assert "data/rna.csv" in head


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("annotation", ["subtype", "purity", "sampled"]),
        ("clinic", ["age", "income", "first seen", "region"]),
        ("outcome", ["time", "event"]),
    ],
)
def test_columns_of_the_user_are_colours(page, patients, patients_data, group, names):
    _, table, known, _ = patients_data
    page.open(patients)
    frame = {"annotation": known, "clinic": table["clinic"], "outcome": patients_tables()[2]}[group]
    if group == "outcome":
        frame = frame.assign(event=np.where(frame["event"] == 1, "event", "no event"))
    options = page.ask(
        """return Array.from(document.querySelectorAll(`#colour optgroup[label="${arguments[0]}"] option`))
        .map((one) => [one.value, one.textContent])""",
        group,
    )
    assert sorted(name for _, name in options) == sorted(names)
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
    page.choose("colour", option_of(page, "purity"))
    column = page.picture("view-4")
    page.choose("view-colour", "own")
    own = page.picture("view-4")
    assert len({clusters, column, own}) == 3
    page.choose("colour", "confidence")
    page.choose("colour", option_of(page, "purity"))
    assert page.picture("view-4") == own


def test_classes_have_the_colours_of_their_clusters(page, patients):
    """Subtypes are the clusters here, so that nothing changes but the scale."""
    page.open(patients)
    before = page.picture("view-0")
    page.choose("colour", option_of(page, "subtype"))
    assert page.picture("view-0") == before
    assert "subtype A (" in page.text("scale")


def test_the_link_to_the_labels_is_the_labels(page, patients, patients_data, tmp_path):
    model, table, _, _ = patients_data
    page.open(patients)
    rows = labels_link(page)
    assert [row["id"] for row in rows] == table["clinic"].index.tolist()
    assert [int(row["label"]) for row in rows] == model.labels_.tolist()
    saved = page.downloaded("a[download='labels.csv']", tmp_path, "labels.csv").read_text(encoding="utf-8")
    assert rows_of(saved) == rows


def test_profiles_can_be_saved_with_names(page, patients, patients_data, tmp_path):
    """The largest effects of `latefusion.profiles`, with all its columns, and the names of the reader."""
    model, table, _, _ = patients_data
    page.open(patients)
    give_names(page, {3: "third"})
    saved = page.downloaded("a[download='profiles.csv']", tmp_path, "profiles.csv").read_text(encoding="utf-8")
    rows, expected = rows_of(saved), lf.profiles(model, table).top(MOST_FEATURES)
    assert list(rows[0]) == [*expected.columns, "name"]
    found = {(row["cluster"], row["view"], row["feature"]): row for row in rows}
    assert len(found) == len(rows) == len(expected)
    for one in expected:
        row = found[str(one["cluster"]), one["view"], one["feature"]]
        assert row["shown_inside"] == one["shown_inside"]
        for name in ("effect", "auc", "p", "p_adjusted", "inside", "outside"):
            assert float(row[name]) == pytest.approx(one[name], rel=1e-5)
        assert row["name"] == ("third" if one["cluster"] == 3 else "")


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
    copy, original = Reader(page.downloaded("#copy", tmp_path, "report.html")), Reader(patients)
    unnamed = [
        (tag, tuple(pair for pair in attributes if not (tag == "input" and pair == ("value", ""))))
        for tag, attributes in copy.tags
    ]
    assert unnamed == original.tags
    assert copy.words == original.words


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


@pytest.mark.parametrize("name", ["full", "patients", "forty", "two"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(page, request, name, scheme):
    """Contrast of at least 4.5 between every text and what is behind it (WCAG AA)."""
    page.open(request.getfixturevalue(name), scheme=scheme)
    open_all(page)
    page.choose("colour", "column-0")
    poor = page.ask(CONTRAST)
    assert poor == []


# Contrast of two colours, of which each is a list of red, green and blue.
RATIO = """
const luminance = (color) => {
  const [r, g, b] = color.map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
"""
CONTRAST = (
    RATIO
    + """
const parts = (color) => color.match(/[\\d.]+/g).map(Number);
const over = (top, under) => {
  const alpha = top.length > 3 ? top[3] : 1;
  return [0, 1, 2].map((k) => alpha * top[k] + (1 - alpha) * under[k]);
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
  if (ratio(color, ground) < 4.5) {
    found.add(`${one.tagName}.${one.className} ${one.textContent.trim().slice(0, 20)}`);
  }
}
return Array.from(found);
"""
)


def test_numbers_on_the_tree_can_be_read(page, full):
    page.open(full)
    ratios = page.ask(
        RATIO
        + """const fill = (one, what) => getComputedStyle(one.querySelector(what)).fill.match(/\\d+/g).map(Number);
        return Array.from(document.querySelectorAll(".tree g")).filter((one) => one.querySelector("text"))
        .map((one) => ratio(fill(one, "rect"), fill(one, "text")))"""
    )
    assert ratios
    assert min(ratios) >= 4.5


def test_curves_of_survival_are_those_of_the_outcome(page, patients, patients_data):
    """As high and wide as the estimates, with a step at every event that is visible."""
    page.open(patients)
    curves = patients_data[3].survival.curves
    last = max(curve.times[-1] for curve in curves.values())
    frame = SurvivalChart([], [], [], "", np.nan)
    left, right, bottom, top = frame.left, frame.right, frame.bottom, frame.top
    drawn = page.ask(
        """return Array.from(document.querySelectorAll(".survivors")).map((one) => {
          const line = one.querySelector(".curve"), box = line.getBBox();
          return [one.dataset.cluster, box.x, box.y, box.width, box.height, line.getAttribute("d")];
        })"""
    )
    assert [int(cluster) for cluster, *_ in drawn] == list(range(12))
    for (_, x, y, width, height, path), curve in zip(drawn, curves.values(), strict=True):
        assert (x, y) == pytest.approx((left, top), abs=0.5)
        assert width == pytest.approx(curve.times[-1] / last * (right - left), abs=0.5)
        assert height == pytest.approx((1 - curve.survival[-1]) * (bottom - top), abs=0.5)
        assert path.count("V") > 20  # one step per event, at least those that are visible


def test_curves_are_chosen_and_pointed_at(page, forty, tmp_path):
    page.open(forty)
    keys = page.driver.find_elements("css selector", ".curve-key")
    assert len(keys) == 40
    grey = page.driver.find_elements("css selector", ".survivors.grey")
    assert len(grey) == 40 - MOST_COLOURED
    assert [key.get_attribute("aria-pressed") for key in keys].count("true") == MOST_COLOURED
    key = next(key for key in keys if key.get_attribute("aria-pressed") == "false")
    curve = f".survivors[data-cluster='{key.get_attribute('data-cluster')}']"
    before = page.colour(curve, "stroke")
    page.ask("arguments[0].click()", key)
    assert page.colour(curve, "stroke") != before
    assert page.ask("return document.querySelectorAll('.survivors.grey').length") == len(grey) - 1
    page.ask("arguments[0].focus()", key)
    assert page.colour(curve, "opacity") == "1"
    others = page.colour(".survivors:not(.alone)", "opacity")
    assert float(others) < 0.3
    copy = page.downloaded("#copy", tmp_path, "report.html")
    page.open(copy)
    assert page.colour(curve, "opacity") == page.colour(".survivors.grey", "opacity") == "1"
    assert page.ask("return document.querySelectorAll('.survivors.grey').length") == len(grey) - 1


def test_two_clusters_have_a_map_of_the_plane(page, two, two_page):
    """Not a circle, on which only one direction says something."""
    page.open(two)
    places = page.ask("return Array.from({length: 150}, (_, i) => latefusionReport.onScreen(i))")
    points = np.array([[one["x"], one["y"]] for one in places])
    scaled = 2 * (points - points.min(axis=0)) / np.ptp(points, axis=0) - 1
    assert np.mean(np.linalg.norm(scaled, axis=1) < 0.8) > 0.5
    labels = two_page[1].labels_
    assert LogisticRegression().fit(scaled, labels).score(scaled, labels) > 0.95


def test_hints_and_memberships_are_on_the_page(page, two, two_page):
    model = two_page[1]
    page.open(two)
    assert model.summary().hints.replace("\u00a0", " ") in page.text("summary").replace("\u00a0", " ")
    assert f"Median membership: {np.median(model.memberships_.max(axis=1)):.2f}" in page.text("memberships")
    before = page.picture("map")
    page.choose("colour", option_of(page, "membership"))
    assert page.picture("map") != before
    page.point_at(7)
    shown = page.text("tip").splitlines()
    assert float(shown[shown.index("membership") + 1]) == pytest.approx(model.memberships_[7].max(), abs=1e-3)


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_stay_in_their_heads(page, patients, width):
    page.open(patients, width=width)
    give_names(page, {0: "x" * 90, 1: "another name without blanks".replace(" ", "_") * 4})
    outside = page.ask(
        """return Array.from(document.querySelectorAll("thead .cluster-name")).filter((one) => {
          const own = one.getBoundingClientRect(), head = one.closest("th").getBoundingClientRect();
          return own.left < head.left - 1 || own.right > head.right + 1 || own.bottom > head.bottom + 1;
        }).length"""
    )
    assert outside == 0


@pytest.mark.parametrize("name", ["patients", "forty", "two"])
@pytest.mark.parametrize("space", [0, 400, 800, 990])
def test_cards_are_not_split_on_paper(page, request, name, space, tmp_path):
    """All numbers of a card are below its head in its column, wherever on a page the cards begin."""
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed (Debian: apt-get install poppler-utils)")
    page.open(request.getfixturevalue(name))
    page.ask("document.getElementById('clusters').style.paddingTop = `${arguments[0]}px`", space)
    cards = page.ask(
        """return Object.fromEntries(Array.from(document.querySelectorAll(".card")).map((one) =>
        [one.querySelector("h4").innerText.trim(), (one.innerText.match(/[+\u2212]\\d+\\.\\d\\d/g) || []).sort()]))"""
    )
    pdf = tmp_path / "page.pdf"
    pdf.write_bytes(page.printed())
    text = subprocess.run(["pdftotext", "-bbox", pdf, "-"], capture_output=True, check=True).stdout.decode()
    found = {}
    for sheet in text.split("<page ")[1:]:
        words = re.findall(r'xMin="(.*?)" yMin="(.*?)" .*?>(.*?)</word>', sheet)
        placed = [(float(x), float(y), word) for x, y, word in words]
        heads = [
            (x, y, f"Cluster {after}")
            for (x, y, word), (_, _, after) in pairwise(placed)
            if word == "Cluster" and f"Cluster {after}" in cards
        ]
        found |= {name: [] for _, _, name in heads}
        for x, y, word in placed:
            if re.fullmatch(r"[+\u2212]\d+\.\d\d", word):
                column = max((head[0] for head in heads if head[0] < x), default=None)
                above = [head for head in heads if head[0] == column and head[1] < y]
                assert above, f"{word} is apart from the head of its card"
                found[max(above, key=lambda head: head[1])[2]].append(word)
    assert {name: sorted(effects) for name, effects in found.items()} == cards


@pytest.mark.parametrize("name", ["patients", "forty", "two"])
def test_no_page_on_paper_is_half_empty(page, request, name, tmp_path):
    if not shutil.which("pdftoppm"):
        pytest.skip("pdftoppm is not installed (Debian: apt-get install poppler-utils)")
    page.open(request.getfixturevalue(name))
    pdf = tmp_path / "page.pdf"
    pdf.write_bytes(page.printed())
    subprocess.run(["pdftoppm", "-r", "20", "-gray", pdf, tmp_path / "sheet"], check=True)
    for sheet in sorted(tmp_path.glob("sheet*.pgm"))[:-1]:
        _, size, _, pixels = sheet.read_bytes().split(b"\n", 3)
        width, height = map(int, size.split())
        dark = np.flatnonzero((np.frombuffer(pixels, np.uint8).reshape(height, width) < 200).any(axis=1))
        assert dark.max() > 0.5 * height, sheet.name


def test_a_page_about_two_thousand_patients_is_small_and_quick(page, patients):
    """Five views, twelve clusters: less than one mebibyte, and drawn within two seconds."""
    assert patients.stat().st_size < 2**20
    page.open(patients)  # the browser is warm
    start = time.perf_counter()
    page.open(patients)
    assert page.painted("map") > N_PATIENTS
    assert time.perf_counter() - start < 2
    assert page.complaints() == []
