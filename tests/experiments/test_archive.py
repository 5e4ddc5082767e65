from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from latefusion.experiments.archive import Archive, merge_archives, read_archive, write_archive
from latefusion.experiments.figures import draw_regularization, draw_surface
from latefusion.experiments.report import evaluation_tables


@pytest.fixture
def archived(tmp_path, small_summaries):
    failed = replace(
        small_summaries[0], method="MKKM", reasons=Counter({"out of memory": 2}), n_missing=1, seconds=None
    )
    summaries = [
        replace(one, source=replace(one.source, path="/somewhere/x.npz")) for one in [*small_summaries, failed]
    ]
    path = write_archive(tmp_path / "archive.json", Archive("1+x", "Little.", summaries))
    return path, summaries, read_archive(path)


def test_the_tables_of_an_archive_are_those_of_the_run(archived):
    _, before, after = archived
    assert (after.code, after.effort) == ("1+x", "Little.")
    expected, found = evaluation_tables(before), evaluation_tables(after.summaries)
    assert expected.keys() == found.keys()
    for name in expected.keys() - {"results"}:  # which shows seconds with more digits
        assert expected[name] == found[name], name


def test_an_archive_says_nothing_about_where_the_data_were(archived):
    path, _, after = archived
    assert "somewhere" not in path.read_text()
    assert {one.source.path for one in after.summaries} == {""}


def test_the_figures_over_the_grid_can_be_drawn_from_it(archived):
    _, before, after = archived
    gam, lam = (next(one for one in after.summaries if one.method == name) for name in ("LF-MVC-GAM", "LF-MVC-LAM"))
    line = draw_regularization(gam, after.summaries)[1].axes[0].lines[0]
    assert max(line.get_ydata()) == pytest.approx(100 * before[3].oracle["accuracy"].value, abs=1e-3)
    heights = draw_surface(lam)[1].axes[0].images[0].get_array()
    assert np.max(heights) == pytest.approx(100 * before[4].oracle["accuracy"].value, abs=1e-3)


def test_the_page_of_the_full_run_is_that_of_its_archive():
    """After a change of the tables, `python benchmarks/reproduction_page.py` writes it anew."""
    root = Path(__file__).parents[2]
    page, results = root / "docs" / "REPRODUCTION.md", root / "benchmarks" / "results" / "reproduction.json"
    if not (page.exists() and results.exists()):
        pytest.skip("neither is part of a source distribution")
    text = page.read_text(encoding="utf-8")
    tables = evaluation_tables(read_archive(results).summaries)
    absent = [name for name, table in tables.items() if table.rows and table.render("markdown") not in text]
    assert absent == ["results"]  # which is in the archive


def test_one_line_per_method(archived):
    path, before, _ = archived
    lines = [line for line in path.read_text().splitlines() if line.startswith('{"dataset"')]
    assert len(lines) == len(before)


def test_archives_of_parts_are_that_of_the_whole(archived):
    _, _, whole = archived
    first, *others = whole.summaries
    begun = replace(others[0], n_missing=others[0].n_cells, oracle={}, label_free={})
    parts = [Archive("1+x", "Little.", [first, begun]), Archive("1+x", "Little.", others)]
    merged = merge_archives(parts)
    assert (merged.code, merged.effort) == (whole.code, whole.effort)
    assert {(one.source.name, one.method): one for one in merged.summaries} == {
        (one.source.name, one.method): one for one in whole.summaries
    }


def test_archives_that_do_not_belong_together_are_refused(archived):
    _, _, whole = archived
    with pytest.raises(ValueError, match=r"different code, 1\+x and 2"):
        merge_archives([whole, whole._replace(code="2")])
    others = [replace(one, source=replace(one.source, checksum="other")) for one in whole.summaries]
    with pytest.raises(ValueError, match="different data that are both called"):
        merge_archives([whole, whole._replace(summaries=others)])


@pytest.mark.parametrize(
    "text", ["", "[]", '{"code": 1}', '{"code": "1", "effort": "", "sources": [3], "results": []}']
)
def test_what_is_no_archive_is_refused_by_name(tmp_path, text):
    path = tmp_path / "odd.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"odd\.json.* is not an archive"):
        read_archive(path)
