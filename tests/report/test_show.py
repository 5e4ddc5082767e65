"""Reports inside notebooks."""

import html
import re

import pytest

from latefusion.report import show, write_report
from latefusion.report.show import Report

OPTIONS = {"explain": False, "baselines": False, "embedding": "pca"}


@pytest.fixture(scope="module")
def report(aligned, planted):
    return show(aligned, planted.views, height=300, target=planted.target, **OPTIONS)


def test_the_frame_contains_the_page_of_write_report(report, aligned, planted, tmp_path):
    file = write_report(aligned, planted.views, tmp_path / "page.html", target=planted.target, **OPTIONS)
    assert report.page == file.read_text(encoding="utf-8")
    frame = report._repr_html_()
    (source,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(source) == report.page
    assert "height: 300px" in frame
    assert "bytes of HTML" in repr(report)


def test_the_page_cannot_reach_the_notebook(report):
    """A sandbox without the origin of the notebook: the script of the page sees its own frame only."""
    (sandbox,) = re.findall(r'sandbox="([^"]*)"', report._repr_html_())
    assert "allow-scripts" in sandbox
    assert "allow-same-origin" not in sandbox


def test_it_is_saved_as_a_report(report, tmp_path):
    path = report.save(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == report.page
    report.save(path)  # an older report is replaced
    (tmp_path / "mine.html").write_text("<p>mine")
    with pytest.raises(ValueError, match="exists and is not a report of latefusion"):
        report.save(tmp_path / "mine.html")
    assert (tmp_path / "mine.html").read_text() == "<p>mine"
    with pytest.raises(ValueError, match=r"\.html"):
        report.save(tmp_path / "page.txt")


def test_a_page_with_quotes_stays_inside_the_frame():
    page = 'x"><script>alert(1)</script>'
    frame = Report(page)._repr_html_()
    assert "<script" not in frame
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame).group(1)) == page
