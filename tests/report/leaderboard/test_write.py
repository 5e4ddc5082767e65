import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from latefusion.experiments.leaderboard import read_leaderboard
from latefusion.experiments.leaderboard import write_leaderboard as write_results
from latefusion.experiments.leaderboard.ranks import critical_difference, mean_ranks, pvalues_against, tallies
from latefusion.report.html import FORBIDDEN
from latefusion.report.leaderboard import write_leaderboard
from latefusion.report.leaderboard.terms import ORACLE
from latefusion.report.leaderboard.verdict import judge
from latefusion.report.widgets import decimal
from tests.experiments.leaderboard.boards import leaderboard, method_entry
from tests.report.leaderboard.drawn import NASTY, drawn_results
from tests.report.leaderboard.test_verdict import level_scores
from tests.report.test_html import Reader


def plain(part):
    """The text of some HTML."""
    return " ".join(html.unescape(re.sub("<[^>]*>", "", part)).split())


def rows_of(page, board):
    """The cells of the ranking of a board, as texts."""
    section = re.search(rf'<section class="page board" id="board-{board}".*?</section>', page, re.DOTALL).group()
    table = re.search(r'<table class="ranking sortable">.*?</table>', section, re.DOTALL).group()
    rows = re.findall(r"<tr data-method.*?</tr>", table, re.DOTALL)
    cells = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in rows]
    return [[plain(cell) for cell in row] for row in cells]


def test_the_table_shows_what_the_functions_return(page, boards):
    for board in boards:
        scores, ours = board.scores["acc"], board.ours("acc")
        means, pairs = mean_ranks(scores), tallies(scores)
        rows = rows_of(page, board.name)
        assert [row[1] for row in rows] == [board.methods[column].name for column in board.order("acc")]
        for row, column in zip(rows, board.order("acc"), strict=True):
            assert row[3] == f"{means[column]:.2f}"
            assert row[4] == f"{np.nanmean(np.round(scores[:, column], 6)):.3f}"
            expected = "–" if column == ours else " / ".join(map(str, pairs[column][ours]))
            assert row[7] == expected
            assert row[8] == f"{np.isfinite(scores[:, column]).sum()} of {len(board.sets)}"


@pytest.mark.parametrize("metric", ["acc", "nmi", "ari"])
def test_verdicts_and_diagrams_show_what_the_functions_return(page, boards, text_of, metric):
    parts = re.findall(rf'<div data-metric="{metric}">(.*?)</div>', page, re.DOTALL)
    assert len(parts) == 3 * len(boards)
    for board, (verdict, diagram, _) in zip(boards, zip(*[iter(parts)] * 3, strict=True), strict=True):
        found, shown = judge(board, metric), text_of(verdict)
        names = [method.name for method in board.methods]
        p_values = pvalues_against(board.scores[metric], board.ours(metric))
        p_value = p_values[names.index(found.rival.method.name)]
        assert f"Mean rank {decimal(found.mean_rank, 2)} (place {found.place} of {len(names)})" in shown
        assert (
            "p < .001" if p_value < 0.001 else f"p = {p_value:.3f}".replace("0.", ".").replace("1.000", "1")
        ) in shown
        assert f"{len(found.ahead)} of {len(p_values) - sum(one.family == 'ours' for one in board.methods)}" in shown
        assert found.is_ahead == ("(ours) is significantly ahead of the best other method" in shown)
        for loss in found.losses:
            assert loss.set.name in shown
        assert f"CD = {critical_difference(*board.scores[metric].shape):.2f}" in text_of(diagram)


@pytest.mark.parametrize(
    ("ours", "rival", "n_sets", "words"),
    [
        (0.6, 0.5, 12, "ours (ours) is significantly ahead of the best other method, A."),
        (
            0.6,
            0.5,
            3,
            "ours (ours) has the best mean rank, but is not significantly ahead of the best other method, A.",
        ),
        (0.5, 0.5, 3, "ours (ours) is not ahead of the best other method, A. The difference is not significant."),
        (0.4, 0.5, 3, "ours (ours) is not ahead of the best other method, A. The difference is not significant."),
        (0.4, 0.5, 12, "ours (ours) is significantly behind the best other method, A."),
    ],
)
def test_the_page_says_plainly_whether_ours_is_ahead(tmp_path, ours, rival, n_sets, words):
    results = leaderboard(level_scores({"ours": ours, "A": rival}, n_sets))
    results = replace(results, methods=[method_entry("ours", "ours"), method_entry("A")])
    written = write_leaderboard(tmp_path / "a.html", results).read_text(encoding="utf-8")
    headlines = [plain(one) for one in re.findall(r'<p class="headline">(.*?)</p>', written, re.DOTALL)]
    assert headlines == [f"By {name}, {words}" for name in ("ACC", "NMI", "ARI")]


def test_every_link_has_its_target(page):
    links = set(re.findall(r'href="#([^"]+)"', page))
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert links <= set(ids)
    assert len(ids) == len(set(ids))


def test_every_set_and_method_has_a_section(page, results):
    headings = [html.unescape(one) for one in re.findall(r"<h2[^>]*>(.*?)</h2>", page)]
    for entry in results.sets:
        assert headings.count(entry.title) == 1
    for method in results.methods:
        assert headings.count(method.name) == 1


def test_every_reason_is_shown(page, results):
    shown = html.unescape(page)
    for reason in {cell.reason for cell in results.cells} - {None}:
        assert reason in shown


def test_the_oracle_is_grey_with_the_sentence(page):
    assert page.count(ORACLE) > 3
    assert '<td class="number oracle">' in page
    board = page.partition('id="board-complete"')[2].partition("</section>")[0]
    assert re.search(r'<p class="small oracle-note">.*?' + re.escape(ORACLE), board, re.DOTALL)


def test_how_it_was_made(page, results):
    how = html.unescape(page.partition('id="how"')[2])
    for text in (
        results.code.version,
        results.code.commit,
        results.machine,
        results.created,
        "120 s",
        "6\u202f144 MiB",
    ):
        assert text in how
    assert "--from leaderboard.json --page leaderboard.html" in how


def test_a_page_without_a_commit_says_so(results, tmp_path):
    unknown = replace(results, code=replace(results.code, commit=None))
    assert "not recorded" in write_leaderboard(tmp_path / "a.html", unknown).read_text(encoding="utf-8")


def test_nothing_comes_from_elsewhere(page):
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", page)
    assert not re.search(r'\s(src|href)="(?!#|data:)', page)
    assert "default-src 'none'" in page
    assert len(re.findall("<script", page)) == 2


def test_links_to_the_documentation_are_optional(results, tmp_path):
    written = write_leaderboard(tmp_path / "a.html", results, docs="../").read_text(encoding="utf-8")
    assert f'href="../{results.methods[0].page}"' in written


def test_hostile_names_make_no_element_and_no_attribute(tmp_path):
    pages = {}
    harmless = "h" * len(NASTY)  # the figures leave out names for which there is no place
    for kind, text in (("nasty", NASTY), ("plain", harmless)):
        results = drawn_results(6, 4, missing=3, failing=0.4, rename=lambda name, text=text: f"{text} {name}")
        found = write_leaderboard(tmp_path / f"{kind}.html", results, docs="../").read_text(encoding="utf-8")
        pages[kind] = Reader(found)
        assert FORBIDDEN.sub("\ufffd", f"{text} method 0") in pages[kind].text
    assert pages["nasty"].tags == pages["plain"].tags


def test_data_for_the_script_are_ascii_without_brackets(tmp_path):
    results = drawn_results(6, 4, rename=lambda name: f"{NASTY} é {name}")
    written = write_leaderboard(tmp_path / "a.html", results).read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', written, re.DOTALL).group(1)
    assert data.isascii()
    assert "<" not in data
    assert set(json.loads(data)) == {"complete"}


def test_a_large_board_is_smaller_than_one_and_a_half_mebibytes(tmp_path):
    results = drawn_results(46, 45, failing=0.0)
    oracle = [
        replace(results.oracle[0], set=cell.set, method=cell.method, acc=0.912345, nmi=0.812345, ari=0.712345)
        for cell in results.cells
    ]
    path = write_leaderboard(tmp_path / "a.html", replace(results, oracle=oracle))
    assert path.stat().st_size < 1.5 * 2**20


def test_the_same_results_give_the_same_page(results, page, tmp_path):
    assert write_leaderboard(tmp_path / "a.html", results).read_text(encoding="utf-8") == page


def test_a_file_of_results_gives_the_same_page(results, page, tmp_path):
    board = read_leaderboard(write_results(tmp_path / "results.json", results))
    assert write_leaderboard(tmp_path / "a.html", board).read_text(encoding="utf-8") == page


def test_one_method_on_one_set_has_a_page(tmp_path):
    written = write_leaderboard(tmp_path / "a.html", leaderboard({"A": {"one": 0.5}})).read_text(encoding="utf-8")
    assert "Nothing to compare" in written
    assert "<figure" not in written


def test_results_without_a_score_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no cell with a score"):
        write_leaderboard(tmp_path / "a.html", leaderboard({"A": {"one": "took too long"}}))
    assert not (tmp_path / "a.html").exists()


def test_other_files_are_not_replaced(results, tmp_path):
    other = tmp_path / "notes.html"
    other.write_text("my notes", encoding="utf-8")
    with pytest.raises(ValueError, match="exists and is not"):
        write_leaderboard(other, results)
    assert other.read_text(encoding="utf-8") == "my notes"
    assert write_leaderboard(other, results, force=True) == other
    assert write_leaderboard(other, results) == other
    with pytest.raises(ValueError, match=r"\.html"):
        write_leaderboard(tmp_path / "page.txt", results)
