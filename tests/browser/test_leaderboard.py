"""The leaderboard in a real browser: sorting, filtering, navigation, both themes, phone and paper."""

from __future__ import annotations

import html
import re
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from latefusion.report.leaderboard import write_leaderboard
from latefusion.report.leaderboard.boards import METRICS, gather_boards
from latefusion.report.leaderboard.ranking import matrix, ranking, size_group
from latefusion.report.widgets import decimal
from tests.report.leaderboard.drawn import NASTY, drawn_results

pytestmark = pytest.mark.browser

RANKING = "#board-complete .ranking"
# Contrast of text with what is behind it (WCAG AA), as the browser draws it: all parents with their opacity.
FAINT = """
const parse = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const over = (top, below) => {
  const share = top.length > 3 ? top[3] : 1;
  return [0, 1, 2].map((one) => share * top[one] + (1 - share) * below[one]);
};
const luminance = (colour) => {
  const linear = (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = colour.map((one) => linear(one / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  const chain = [];
  for (let one = element; one; one = one.parentElement) chain.unshift(parse(getComputedStyle(one).backgroundColor));
  return chain.reduce((below, top) => over(top, below), [255, 255, 255]);
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  if (!element.checkVisibility() || element.closest("script, style, option")) continue;
  if (!Array.from(element.childNodes).some((one) => one.nodeType === 3 && one.data.trim())) continue;
  const style = getComputedStyle(element), inDrawing = element instanceof SVGElement;
  const below = inDrawing ? behind(element.closest("svg").parentElement) : behind(element);
  const ink = over(parse(inDrawing ? style.fill : style.color), below);
  const [light, dark] = [luminance(ink), luminance(below)].sort((one, other) => other - one);
  const contrast = (light + 0.05) / (dark + 0.05);
  if (contrast < 4.5) found.push([element.tagName, element.textContent.trim().slice(0, 30), contrast]);
}
return found;"""


@pytest.fixture(scope="module")
def results():
    return drawn_results(missing=5)


@pytest.fixture(scope="module")
def complete(results):
    return gather_boards(results)[0]


@pytest.fixture(scope="module")
def board(results, tmp_path_factory):
    return write_leaderboard(tmp_path_factory.mktemp("board") / "leaderboard.html", results)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    results = drawn_results(46, 45, missing=30)
    return write_leaderboard(tmp_path_factory.mktemp("large") / "leaderboard.html", results)


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    results = drawn_results(6, 4, missing=3, failing=0.4, rename=lambda name: f"{NASTY} {name}")
    return write_leaderboard(tmp_path_factory.mktemp("nasty") / "leaderboard.html", results)


def go(page, name):
    """Follow the address of a part of the page."""
    page.ask("location.hash = arguments[0]", name)
    for _ in range(50):
        if page.ask("return !document.getElementById(arguments[0]).closest('.page').hidden", name):
            return
        time.sleep(0.02)
    raise AssertionError(f"#{name} is not shown after a second.")


def choose(page, tool, value):
    page.ask(
        """const tool = document.querySelector("#board-complete [data-tool=" + arguments[0] + "]");
        tool.value = arguments[1];
        for (const kind of ["input", "change"]) tool.dispatchEvent(new Event(kind));""",
        tool,
        value,
    )


def table_of(page, table=RANKING):
    """Texts of the cells that are shown."""
    return page.ask(
        """return Array.from(document.querySelector(arguments[0]).tBodies[0].rows)
        .filter((row) => !row.hidden)
        .map((row) => Array.from(row.cells, (cell) => cell.textContent.trim().replace(/\\s+/g, " ")))""",
        table,
    )


def column_of(page, column):
    return [row[column] for row in table_of(page)]


def shown_parts(page):
    return page.ask("return Array.from(document.querySelectorAll('.page:not([hidden])'), (one) => one.id)")


def expected_table(board, metric):
    """The rows of the ranking as the page writes them."""

    def amount(value):
        return "–" if value is None else decimal(value, 2 if value < 10 else 1 if value < 100 else 0)

    return [
        [
            str(row.place),
            row.method.name,
            str(row.method.year),
            decimal(row.mean_rank, 2),
            *(decimal(row.means[one], 3) for one in METRICS),
            "–" if row.against_ours is None else " / ".join(map(str, row.against_ours)),
            f"{row.n_results} of {len(board.sets)}",
            amount(row.seconds),
            amount(row.peak),
            "–" if row.oracle is None else decimal(row.oracle, 3),
        ]
        for row in ranking(board, metric)
    ]


@pytest.mark.parametrize("name", ["board", "large", "nasty"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_loads_without_a_complaint_and_without_the_network(page, request, name, scheme):
    path = request.getfixturevalue(name)
    page.open(path, scheme=scheme)
    time.sleep(0.3)
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith("data:")] == [path.as_uri()]


def test_the_script_changes_no_number_at_the_start(page, board, complete):
    page.open(board)
    assert table_of(page) == expected_table(complete, "acc")
    written = re.search(r'<table class="matrix">.*?</table>', board.read_text(encoding="utf-8"), re.DOTALL).group()
    cells = re.findall(r"<td[^>]*>([^<]*)", written)
    assert [cell for row in table_of(page, "#board-complete .matrix") for cell in row[1:]] == [
        html.unescape(cell).strip() for cell in cells
    ]


@pytest.mark.parametrize("metric", METRICS)
def test_another_score_ranks_anew(page, board, complete, metric):
    page.open(board)
    choose(page, "metric", metric)
    assert table_of(page) == expected_table(complete, metric)
    expected = [
        [row.method.name, *("×" if cell is None else decimal(100 * cell[0], 0) for cell in row.cells)]
        for row in matrix(complete, metric)
    ]
    assert table_of(page, "#board-complete .matrix") == expected
    shown = page.ask(
        """return Array.from(document.querySelectorAll("#board-complete [data-metric]"))
        .filter((one) => one.checkVisibility()).map((one) => one.dataset.metric)"""
    )
    assert shown == [metric] * 3  # verdict, diagram, time against quality
    assert page.complaints() == []


def chosen(results, keep):
    """Results on some data sets only."""
    sets = [entry for entry in results.sets if entry.board == "complete" and keep(entry)]
    names = {entry.name for entry in sets}
    return replace(
        results,
        sets=sets,
        cells=[cell for cell in results.cells if cell.board == "complete" and cell.set in names],
        oracle=[entry for entry in results.oracle if entry.set in names],
    )


@pytest.mark.parametrize(
    ("tool", "value", "keep"),
    [
        ("kind", "kernels", lambda entry: entry.kind == "kernels"),
        ("kind", "features", lambda entry: entry.kind == "features"),
        ("size", "501", lambda entry: size_group(entry.n_samples) == 501),
        ("size", "0", lambda entry: entry.n_samples <= 500),
    ],
)
def test_a_choice_of_data_sets_gives_the_table_of_these_sets(page, board, results, tool, value, keep):
    page.open(board)
    before = table_of(page)
    choose(page, tool, value)
    (expected,) = gather_boards(chosen(results, keep))
    assert len(expected.methods) == len(before)  # so that ranks are among the same methods
    assert table_of(page) == expected_table(expected, "acc")
    assert f"{len(expected.sets)} of 9 data sets" in page.ask("return document.querySelector('.chosen-sets').innerText")
    choose(page, tool, "")
    assert table_of(page) == before


def test_a_choice_without_data_sets_says_so(page, board, results):
    page.open(board)
    kinds = {entry.kind for entry in results.sets if entry.board == "complete" and entry.n_samples > 2000}
    assert kinds == {"features", "kernels"}
    page.ask("document.querySelector('[data-tool=kind]').append(new Option('clusterings'))")
    choose(page, "kind", "clusterings")
    assert not page.ask("return document.querySelector(arguments[0]).checkVisibility()", RANKING)
    assert "No data set" in page.ask("return document.querySelector('.chosen-sets').innerText")


def test_families_and_names_hide_methods(page, board, complete):
    page.open(board)
    everything = column_of(page, 1)
    keys = page.driver.find_elements("css selector", "#board-complete .key")
    keys[1].click()
    assert keys[1].get_attribute("aria-pressed") == "false"
    families = {method.name: method.family for method in complete.methods}
    expected = [name for name in everything if families[name] != "comparison method"]
    assert column_of(page, 1) == expected
    assert [row[0] for row in table_of(page, "#board-complete .matrix")] == expected
    choose(page, "name", "METHOD 1")
    assert column_of(page, 1) == [name for name in expected if name.startswith("method 1")]
    choose(page, "name", "")
    keys[1].click()
    assert column_of(page, 1) == everything


def numbers(texts):
    return [float("nan") if text == "–" else float(text.split()[0].replace("−", "-")) for text in texts]


@pytest.mark.parametrize("column", [0, 2, 3, 4, 6, 7, 8, 9, 11])
def test_a_click_on_a_head_sorts_and_a_second_one_turns_around(page, board, column):
    page.open(board)
    head = page.driver.find_elements("css selector", f"{RANKING} thead th")[column]
    directions = []
    for _ in range(2):
        head.find_element("css selector", "button").click()
        directions.append(head.get_attribute("aria-sort"))
        values = numbers(column_of(page, column))
        known = [one for one in values if not np.isnan(one)]
        assert known == sorted(known, reverse=directions[-1] == "descending")
        assert np.isnan(values[len(known) :]).all()  # what has no value is last
        assert len(page.driver.find_elements("css selector", f"{RANKING} th[aria-sort]")) == 1
    assert set(directions) == {"ascending", "descending"}


def test_names_are_sorted_as_numbers_in_words(page, board):
    page.open(board)
    page.driver.find_elements("css selector", f"{RANKING} thead button")[1].click()
    assert column_of(page, 1) == [f"method {one}" for one in range(12)]


def test_sorting_and_filtering_work_by_keyboard(page, board):
    page.open(board)
    before = column_of(page, 1)
    page.ask("document.querySelectorAll(arguments[0] + ' thead button')[3].focus()", RANKING)
    for kind in ("keyDown", "keyUp"):
        page.command(
            "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13
        )
    assert column_of(page, 3) == sorted(column_of(page, 3), key=float, reverse=True)
    assert column_of(page, 1) != before
    reachable = page.ask(
        """return Array.from(document.querySelectorAll("#board-complete :is(button, select, input, a, .scroll)"))
        .filter((one) => one.checkVisibility() && one.tabIndex < 0).length"""
    )
    assert reachable == 0


def test_a_sorted_table_stays_sorted_when_the_score_changes(page, board):
    page.open(board)
    page.driver.find_elements("css selector", f"{RANKING} thead button")[5].click()
    choose(page, "metric", "ari")
    shown = numbers(column_of(page, 5))
    assert shown == sorted(shown, reverse=True)


def test_tables_of_sections_are_sorted_too(page, board, results):
    page.open(board)
    go(page, "set-complete-set-0")
    table = "#set-complete-set-0 .scores"
    page.driver.find_elements("css selector", f"{table} thead button")[3].click()
    shown = [float(row[3].partition("±")[0]) for row in table_of(page, table)]
    assert len(shown) > 3
    assert shown == sorted(shown, reverse=True)


def test_links_show_one_part_and_back_returns(page, board):
    page.open(board)
    assert shown_parts(page) == ["board-complete"]
    page.driver.find_element("css selector", f"{RANKING} tbody a").click()
    (method,) = shown_parts(page)
    assert method.startswith("method-")
    assert page.ask("return document.activeElement.tagName") == "H2"
    assert page.ask("return document.title").startswith("method ")
    page.driver.find_element("css selector", f"#{method} .scores tbody a").click()
    (dataset,) = shown_parts(page)
    assert dataset.startswith("set-")
    assert page.ask("return window.scrollY") == 0
    page.driver.back()
    assert shown_parts(page) == [method]
    page.driver.back()
    assert shown_parts(page) == ["board-complete"]
    assert page.complaints() == []


@pytest.mark.parametrize(
    ("address", "shown"),
    [("#board-missing", "board-missing"), ("#set-missing-set-2", "set-missing-set-2"), ("#how", "how"),
     ("#nothing", "board-complete"), ("#%", "board-complete")],
)  # fmt: skip
def test_an_address_leads_to_its_part(page, board, address, shown):
    page.open(board, address=address)
    assert shown_parts(page) == [shown]
    current = page.driver.find_elements("css selector", "#contents [aria-current]")
    assert [link.get_attribute("href").partition("#")[2] for link in current] == (
        [shown] if not shown.startswith("set-") else []
    )


def test_the_skip_link_stays_on_its_part(page, board):
    page.open(board)
    go(page, "methods")
    page.ask("document.querySelector('.skip').click()")
    time.sleep(0.2)
    assert shown_parts(page) == ["methods"]


def test_marks_of_figures_lead_to_methods(page, board):
    page.open(board)
    for figure in page.driver.find_elements("css selector", "#board-complete .drawing"):
        targets = page.ask(
            "return Array.from(arguments[0].querySelectorAll('a'), (one) => one.getAttribute('href'))", figure
        )
        assert len(targets) == 12
        assert all(page.ask("return document.querySelector(arguments[0]) !== null", one) for one in targets)


@pytest.mark.parametrize(
    "part", ["board-complete", "board-missing", "set-complete-set-0", "method-method-1", "sets", "methods", "how"]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(page, board, part, scheme):
    page.open(board, scheme=scheme)
    go(page, part)
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.ask(FAINT) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_of_families_can_be_seen_and_differ(page, board, scheme):
    page.open(board, scheme=scheme)
    paper = rgb(page.colour("html"))
    colours = [rgb(page.colour(f".f{one}", "fill")) for one in range(4)]
    assert len(set(colours)) == 4
    assert min(contrast(colour, paper) for colour in colours) >= 3


def rgb(text):
    return tuple(int(one) for one in re.findall(r"\d+", text)[:3])


def contrast(one, other):
    def luminance(colour):
        parts = [part / 255 for part in colour]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_dark_follows_the_system_and_the_switch(page, board):
    page.open(board, scheme="dark")
    dark = page.colour("html"), page.colour(".f0", "fill")
    page.open(board, scheme="light")
    assert page.colour("html") != dark[0]
    page.driver.find_element("id", "theme").click()
    assert (page.colour("html"), page.colour(".f0", "fill")) == dark


@pytest.mark.parametrize("name", ["board", "large", "nasty"])
@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_needs_no_sideways_scrolling(page, request, name, width):
    page.open(request.getfixturevalue(name), width=width, height=800)
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    parts = page.ask("return Array.from(document.querySelectorAll('.page'), (one) => one.id)")
    some = (
        [part for part in parts if not part.startswith(("set-", "method-"))]
        + parts[-2:]
        + [next(part for part in parts if part.startswith("set-"))]
    )
    for part in some:
        go(page, part)
        assert page.ask("return [document.documentElement.scrollWidth, window.innerWidth]") == [width, width], part


def test_the_method_stays_in_sight_on_a_phone(page, large):
    page.open(large, width=390, height=800)
    page.ask("document.querySelector(arguments[0]).closest('.scroll').scrollLeft = 300", RANKING)
    box = page.ask(
        "return document.querySelector(arguments[0] + ' tbody th').getBoundingClientRect().toJSON()", RANKING
    )
    assert 0 <= box["left"] < 100


def test_names_in_figures_stay_inside_the_window(page, large):
    for width in (390, 800, 1280):
        page.open(large, width=width, height=900)
        outside = page.ask(
            """return Array.from(document.querySelectorAll("#board-complete .drawing text"))
            .filter((one) => one.checkVisibility()).map((one) => [one.textContent, one.getBoundingClientRect()])
            .filter(([_, box]) => box.left < 0 || box.right > window.innerWidth).map(([name]) => name)"""
        )
        assert outside == []


@pytest.mark.parametrize("part", ["board-complete", "set-complete-set-0", "methods", "sets"])
def test_tables_and_figures_fit_on_paper(page, large, part):
    page.open(large, width=700)  # A4 with margins
    go(page, part)
    page.ask("window.dispatchEvent(new Event('beforeprint'))")
    page.command("Emulation.setEmulatedMedia", media="print", features=[])
    wide = page.ask(
        """return Array.from(document.querySelectorAll("table, .drawing, .drawing text, pre"))
        .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().right)"""
    )
    hidden = page.ask("return document.querySelector('.tools').checkVisibility()")
    page.command("Emulation.setEmulatedMedia", media="", features=[])
    assert wide
    assert max(wide) <= 700
    assert not hidden


def test_paper_is_white_and_has_the_chosen_part_only(page, board):
    page.open(board, scheme="dark")
    page.command(
        "Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    assert page.colour("html") == "rgb(255, 255, 255)"
    page.command("Emulation.setEmulatedMedia", media="", features=[])
    assert shown_parts(page) == ["board-complete"]
    assert page.printed().startswith(b"%PDF")


def test_names_of_the_file_do_nothing(page, nasty):
    page.open(nasty)
    for part in ("sets", "methods", "board-missing"):
        go(page, part)
    choose(page, "metric", "nmi")
    page.driver.find_elements("css selector", "#sets thead button")
    assert page.ask("return document.scripts.length") == 2
    assert page.ask("return document.images.length") == 0
    assert page.ask("return document.querySelectorAll('[onmouseover], [onerror]').length") == 0
    assert page.complaints() == []


def test_without_javascript_everything_is_there(page, board):
    page.open(board)
    expected = table_of(page)
    page.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.driver.get(board.as_uri())
        assert page.ask("return document.documentElement.dataset.ready || null") is None
        assert page.ask("return document.querySelectorAll('.page[hidden]').length") == 0
        assert not page.ask("return document.querySelector('.tools').checkVisibility()")
        assert page.ask("return document.querySelector('noscript').innerText")
        assert table_of(page) == expected
        assert len(page.ask("return Array.from(document.querySelectorAll('[data-metric]'), (one) => one.id)")) == 18
    finally:
        page.command("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("part", ["board-complete", "set-complete-set-0", "method-method-1", "how"])
def test_headings_and_labels(page, board, part):
    page.open(board)
    go(page, part)
    levels = page.ask(
        """return Array.from(document.querySelectorAll("h1, h2, h3, h4")).filter((one) => one.checkVisibility())
        .map((one) => Number(one.tagName[1]))"""
    )
    assert levels[:2] == [1, 2]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    unnamed = page.ask(
        """return Array.from(document.querySelectorAll("svg:not([aria-hidden]), .scroll, [role=group]"))
        .filter((one) => !one.getAttribute("aria-label")).length"""
    )
    assert unnamed == 0
    unlabelled = page.ask(
        "return Array.from(document.querySelectorAll('select, input')).filter((one) => !one.labels.length).length"
    )
    assert unlabelled == 0
    heads = page.ask("return document.querySelectorAll('thead th:not([scope=col])').length")
    assert heads == 0


def test_a_large_page_is_ready_at_once(page, large):
    start = time.perf_counter()
    page.open(large)
    assert time.perf_counter() - start < 5
    start = time.perf_counter()
    choose(page, "metric", "nmi")
    choose(page, "kind", "features")
    assert time.perf_counter() - start < 2
