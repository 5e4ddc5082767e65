import resource
import sys
from dataclasses import replace

import pytest

from latefusion.experiments.report import (
    Heading,
    Picture,
    evaluation_tables,
    missing_datasets,
    to_html,
    to_markdown,
    write_report,
)
from latefusion.tables import RENDERERS


def test_everything_is_written_in_every_format(tmp_path, small_summaries):
    report = write_report(
        tmp_path,
        small_summaries,
        code="1+x",
        effort="Little.",
        refused={"odd": "no classes"},
        pictures=[Picture("a.png", "A")],
    )
    names = evaluation_tables(small_summaries)
    files = {path.name for path in (tmp_path / "tables").iterdir()}
    assert files == {f"{name}.{ending}" for name in names for ending, _ in RENDERERS.values()}
    text = report.read_text()
    page = (tmp_path / "report.html").read_text()
    for part in ("1+x", "Little.", "odd", "a.png", "planted", "LF-MVC-LAM", "label-free"):
        assert part in text
        assert part in page
    assert (tmp_path / "results.csv").read_text().count("\n") == 1 + 3 * len(small_summaries)
    assert not list(tmp_path.rglob("*.part"))


def test_only_the_formats_that_are_asked_for(tmp_path, small_summaries):
    write_report(tmp_path, small_summaries, code="1", effort="", formats=["latex"])
    assert {path.suffix for path in (tmp_path / "tables").iterdir()} == {".tex"}


def test_the_report_says_which_data_are_missing(small_source):
    words = missing_datasets([small_source])
    assert "Plant" in words
    assert "ar10p_kernels.npz" in words
    assert "LATEFUSION_DATA" in words
    yale = replace(small_source, name="yale_kernels")
    assert "YALE" not in missing_datasets([yale])


def test_differences_are_in_the_report(tmp_path, small_summaries):
    on_yale = [replace(one, source=replace(one.source, name="yale_kernels")) for one in small_summaries]
    text = write_report(tmp_path, on_yale, code="1", effort="").read_text()
    assert "points from the printed ones" in text
    assert (
        "All accuracies are within the tolerance"
        in write_report(tmp_path, small_summaries, code="1", effort="").read_text()
    )


def test_words_from_outside_stay_words():
    blocks = [Heading("<script>"), "a <b> & c", Picture("x.png", "<i>")]
    page = to_html(blocks)
    assert "<script>" not in page
    assert "a &lt;b&gt; &amp; c" in page
    assert r"\<script\>" in to_markdown(blocks)


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch, small_summaries):
    report = write_report(tmp_path, small_summaries, code="old", effort="")
    before = report.read_text()

    def refuse(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="No space left"):
        write_report(tmp_path, small_summaries, code="new", effort="")
    assert report.read_text() == before
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the size of files is limited by a call of Linux")
def test_a_file_that_is_written_by_half_leaves_the_old_one(tmp_path, small_summaries):
    """The disk is full in the middle of a file: the system itself ends the write after half of the bytes."""
    report = write_report(tmp_path, small_summaries, code="old", effort="")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(report.read_bytes()) // 2, usual[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_report(tmp_path, small_summaries, code="new", effort="")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after.keys() == before.keys()
    assert after[report] == before[report]
    for path in before:  # shorter ones that came first are new, and whole
        assert len(after[path]) == len(before[path])


def test_data_sets_without_results_are_named_and_have_no_table(tmp_path, small_summaries):
    waiting = [
        replace(one, source=replace(one.source, name="waiting"), oracle={}, label_free={}, n_missing=one.n_cells)
        for one in small_summaries
    ]
    assert "data-waiting" not in evaluation_tables([*small_summaries, *waiting])
    text = write_report(tmp_path, [*small_summaries, *waiting], code="1", effort="").read_text()
    assert f"waiting | 0 of {sum(one.n_cells for one in waiting)} | everything |" in text
