"""The report as a reader meets it, in a real browser."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

import latefusion as lf
from latefusion.report import show, write_report
from tests.browser.pages import NASTY, give_names, open_all

pytestmark = pytest.mark.browser

N_SAMPLES = 120
IDS = [f"patient {i}" for i in range(N_SAMPLES)]


@pytest.fixture(scope="module")
def model():
    data = lf.datasets.make_views(N_SAMPLES, 3, n_views=3, separation=7.0, random_state=0)
    return lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views), data


@pytest.fixture(scope="module")
def report(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(model[0], model[1].views, path, sample_ids=IDS, title="Patients")


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """All names that a user can choose try to become code."""
    pandas = pytest.importorskip("pandas")
    data = lf.datasets.make_views(60, 3, n_views=2, n_features=3, separation=7.0, random_state=0)
    names = [
        NASTY,
        "</script><script>alert(2)</script>\u2028<!--<img src=x onerror=alert(3)>",
        '" onmouseover="alert(4)',
    ]
    ids = [f"{names[i % 3]} {i}" for i in range(60)]
    frames = {
        name: pandas.DataFrame(array, index=ids, columns=names)
        for name, array in zip(names[:2], data.views.arrays, strict=True)
    }
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(frames)
    path = tmp_path_factory.mktemp("nasty") / "report.html"
    kinds = [names[i % 3] for i in range(60)]
    clinic = {names[0]: np.arange(60) % 7 + 1.0, names[1]: np.arange(60) % 2, names[2]: kinds}
    outcome = lf.outcome(model, pandas.DataFrame(clinic, index=ids), survival=tuple(names[:2]), n_permutations=19)
    return write_report(
        model,
        frames,
        path,
        title=names[1],
        command=names[1],
        target=kinds,
        annotation={name: kinds for name in names} | {f"{names[1]} number": np.arange(60.0)},
        outcome=outcome,
        files=names,
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    data = lf.datasets.make_views(100_000, 24, n_views=3, n_features=12, separation=6.0, random_state=0)
    model = lf.GlobalAlignmentClustering(24, kernel="linear", n_init=1, random_state=0).fit(data.views)
    path = tmp_path_factory.mktemp("large") / "report.html"
    ids = [f"AAACCTGAGAAACCAT-{i}" for i in range(100_000)]
    return write_report(model, data.views, path, sample_ids=ids, baselines=False, embedding="pca")


@pytest.mark.parametrize("name", ["report", "full", "nasty", "patients", "forty", "two"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_loads_without_a_complaint_and_without_the_network(page, request, name, scheme):
    path = request.getfixturevalue(name)
    page.open(path, scheme=scheme)
    time.sleep(0.3)
    assert page.complaints() == []
    asked = [url for url in page.requests() if not url.startswith("data:")]
    assert asked == [path.as_uri()]


def test_pointing_at_a_sample_shows_it_in_all_maps(page, report, model):
    page.open(report)
    assert page.ask("return document.getElementById('tip').hidden")
    page.point_at(17)
    shown = page.text("tip")
    found = model[0]
    assert shown.splitlines()[0] == "patient 17"
    assert str(found.labels_[17]) in shown
    assert f"{found.confidence_[17]:.2f}" in shown
    assert "view_0 alone" in shown
    rings = page.ask(
        """return Array.from(document.querySelectorAll(".overlay")).map((canvas) =>
        canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((one) => one > 0))"""
    )
    assert rings == [True] * 4


def test_a_click_keeps_the_sample_and_the_pointer_may_leave(page, report):
    page.open(report)
    page.point_at(5, click=True)
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert page.ask("return document.getElementById('tip').hidden")
    assert page.text("sample").startswith("patient 5")


def test_finding_a_sample_by_its_name(page, report):
    page.open(report)
    box = page.driver.find_element("id", "find")
    box.send_keys("Patient 11")
    assert page.text("sample").startswith("patient 11\n")
    box.send_keys("7")
    assert page.text("sample").startswith("patient 117\n")
    box.send_keys("x")
    assert "No sample" in page.text("sample")


def test_a_click_on_a_cluster_hides_its_samples(page, report, model):
    page.open(report)
    sizes = np.bincount(model[0].labels_)
    before = {name: page.painted(name) for name in ("map", "view-0", "view-2")}
    key = page.driver.find_elements("css selector", ".key")[0]
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    assert page.ask("return latefusionReport.shown()") == N_SAMPLES - sizes[0]
    for name, painted in before.items():
        assert 0.4 * painted < page.painted(name) < 0.9 * painted
    # The hidden sample that is farthest from all others: nothing else is near the pointer.
    places = page.ask("return Array.from({length: arguments[0]}, (_, i) => latefusionReport.onScreen(i))", N_SAMPLES)
    points = np.array([[one["x"], one["y"]] for one in places])
    own = model[0].labels_ == 0
    distances = np.linalg.norm(points[own][:, None] - points[~own], axis=2).min(axis=1)
    assert distances.max() > 20
    page.point_at(int(np.flatnonzero(own)[distances.argmax()]))
    assert page.ask("return document.getElementById('tip').hidden")
    page.driver.find_element("id", "none").click()
    assert page.painted("map") == 0
    page.driver.find_element("id", "all").click()
    assert {name: page.painted(name) for name in before} == before


def test_filters_work_by_keyboard(page, report):
    page.open(report)
    page.ask("document.querySelector('.key').focus()")
    for kind in ("keyDown", "keyUp"):
        page.command("Input.dispatchKeyEvent", type=kind, key=" ", code="Space", text=" ")
    assert page.ask("return document.querySelector('.key').getAttribute('aria-pressed')") == "false"


@pytest.mark.parametrize("choice", ["confidence", "novelty", "0", "2", "column-0"])
def test_colours_can_be_changed(page, report, choice):
    page.open(report)
    before = {name: page.picture(name) for name in ("map", "view-0", "view-2")}
    page.choose("colour", choice)
    assert page.painted("map") > 0
    if choice not in ("0", "2"):  # in these views alone the clusters may be the same
        assert all(page.picture(name) != picture for name, picture in before.items())
    assert page.text("scale")
    page.choose("colour", "cluster")
    assert {name: page.picture(name) for name in before} == before
    assert page.text("scale") == ""
    assert page.complaints() == []


def test_dark_follows_the_system_and_the_switch(page, report):
    page.open(report, scheme="dark")
    dark, ink = page.colour("html"), page.colour("body", "color")
    page.open(report, scheme="light")
    light = page.colour("html")
    assert dark != light
    page.driver.find_element("id", "theme").click()
    assert (page.colour("html"), page.colour("body", "color")) == (dark, ink)
    page.driver.find_element("id", "theme").click()
    assert page.colour("html") == light


@pytest.mark.parametrize("name", ["report", "full", "nasty", "large", "patients", "forty", "two"])
def test_a_phone_needs_no_sideways_scrolling(page, request, name):
    page.open(request.getfixturevalue(name), width=360, height=740)
    open_all(page)
    give_names(page, {0: "a name without end " * 4, 1: "x" * 80})
    widths = page.ask("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert widths == [360, 360]


def test_names_of_the_user_do_nothing(page, nasty):
    page.open(nasty)
    page.point_at(1, click=True)
    assert page.ask("return document.scripts.length") == 2
    assert page.ask("return document.images.length") == 0
    assert page.ask("return document.querySelectorAll('[onmouseover], [onerror]').length") == 0
    assert NASTY in page.text("main")
    assert "onerror=alert(3)" in page.text("sample")
    assert page.complaints() == []


def test_a_hundred_thousand_samples(page, large):
    """They load in less than five seconds, are redrawn at once, and fit into fifteen megabytes."""
    assert large.stat().st_size < 15e6
    start = time.perf_counter()
    page.open(large)
    page.painted("map")
    assert time.perf_counter() - start < 5
    page.point_at(99_999)
    assert page.text("tip").splitlines()[0].startswith("AAACCTGAGAAACCAT-")
    start = time.perf_counter()
    page.driver.find_elements("css selector", ".key")[0].click()
    page.painted("map")
    assert time.perf_counter() - start < 2
    assert page.complaints() == []


def test_printing(page, report):
    page.open(report, scheme="dark")
    printed = page.printed()
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Subtype /Image") >= 4  # the maps
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    for theme in ("", "dark", "light"):
        page.ask("document.documentElement.dataset.theme = arguments[0]", theme)
        page.command("Emulation.setEmulatedMedia", media="print", features=dark)
        assert page.colour("html") == "rgb(255, 255, 255)"
        assert page.colour("body", "color") == "rgb(0, 0, 0)"
    assert page.colour("#theme", "display") == "none"
    page.command("Emulation.setEmulatedMedia", media="", features=[])


@pytest.mark.parametrize("name", ["full", "patients", "forty", "two"])
def test_tables_fit_on_paper(page, request, name):
    page.open(request.getfixturevalue(name), width=700)  # A4 with margins
    page.ask("window.dispatchEvent(new Event('beforeprint'))")
    page.command("Emulation.setEmulatedMedia", media="print", features=[])
    wide = page.ask(
        "return Array.from(document.querySelectorAll('table')).map((one) => one.getBoundingClientRect().right)"
    )
    page.command("Emulation.setEmulatedMedia", media="", features=[])
    assert max(wide) <= 700


def test_novel_samples_are_flagged(page, full):
    page.open(full)
    assert "45\nnovel samples" in page.text("summary")
    page.point_at(89)
    assert "novelty\n1.80 (novel)" in page.text("tip")
    page.point_at(3)
    assert "(novel)" not in page.text("tip")
    flags = page.ask("return document.querySelectorAll('#check .flag').length")
    assert flags >= 10


@pytest.mark.parametrize("name", ["report", "full", "patients"])
def test_headings_and_labels(page, request, name):
    page.open(request.getfixturevalue(name))
    levels = page.ask(
        "return Array.from(document.querySelectorAll('h1, h2, h3, h4')).map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    unnamed = page.ask(
        """return Array.from(document.querySelectorAll("canvas:not([aria-hidden]), svg:not([aria-hidden]), .scroll"))
        .filter((one) => !one.getAttribute("aria-label")).length"""
    )
    assert unnamed == 0
    assert page.ask("return document.documentElement.lang") == "en"


def test_the_page_works_inside_a_notebook(page, model, tmp_path):
    """The frame has no origin of its own: the script must not need storage or the page around it."""
    shown = show(model[0], model[1].views, explain=False, baselines=False, embedding="pca", title="Inside")
    path = tmp_path / "notebook.html"
    path.write_text(
        f'<!doctype html><html data-ready="true"><body>{shown._repr_html_()}</body></html>', encoding="utf-8"
    )
    page.open(path)
    page.driver.switch_to.frame(0)
    for _ in range(100):
        if page.ask("return document.documentElement.dataset.ready") == "true":
            break
        time.sleep(0.1)
    assert page.ask("return document.querySelector('h1').textContent") == "Inside"
    assert page.painted("map") > 100
    page.driver.switch_to.default_content()
    assert page.complaints() == []
