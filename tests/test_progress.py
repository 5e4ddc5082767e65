"""Progress goes from 0 to 1 in order, through nested parts, in each thread for itself, and without a listener too."""

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from latefusion.progress import progress_listener, progress_range, progress_steps, report_progress
from latefusion.report import write_report


def reports_of(work):
    reports = []
    with progress_listener(lambda message, fraction: reports.append((message, fraction))):
        work()
    return reports


def fractions_of(work):
    return [fraction for _, fraction in reports_of(work)]


def is_increasing(fractions):
    return fractions == sorted(fractions) and fractions[0] >= 0.0 and fractions[-1] <= 1.0


def test_parts_of_parts_add_up():
    def work():
        report_progress("a", 0.0)
        with progress_range(0.5, 1.0):
            report_progress("b", 0.5)
            with progress_range(0.5, 1.0):
                report_progress("c", 0.5)
        report_progress("d", 1.0)

    assert reports_of(work) == [("a", 0.0), ("b", 0.75), ("c", 0.875), ("d", 1.0)]


def test_steps_share_the_range_and_head_their_reports():
    def work():
        with progress_range(0.5, 1.0), progress_steps(2) as begin_step:
            begin_step("a")
            report_progress("inside", 0.5)
            begin_step("b")
            with progress_steps(2) as begin_inner:
                begin_inner("first")
                begin_inner("second")
                report_progress("deep", 1.0)
        report_progress("end", 1.0)

    assert reports_of(work) == [
        ("a", 0.5),
        ("a: inside", 0.625),
        ("b", 0.75),
        ("b: first", 0.75),
        ("b: second", 0.875),
        ("b: second: deep", 1.0),
        ("end", 1.0),
    ]


def test_more_steps_than_announced_stay_at_the_end():
    def work():
        with progress_steps(1) as begin_step:
            for name in "abc":
                begin_step(name)
                report_progress("inside", 0.5)

    assert fractions_of(work) == [0.0, 0.5, 1.0, 1.0, 1.0, 1.0]


# Work is a list of parts, each of which is work.
WORK = st.recursive(st.just([]), lambda part: st.lists(part, max_size=4), max_leaves=30)


@given(WORK)
def test_any_nested_work_goes_from_nothing_to_all(tree):
    """By ranges and by steps alike; the end of every part is the start of the next one."""

    def by_ranges(parts):
        report_progress("begin", 0.0)
        for position, part in enumerate(parts):
            with progress_range(position / len(parts), (position + 1) / len(parts)):
                by_ranges(part)
        report_progress("end", 1.0)

    def by_steps(parts):
        with progress_steps(len(parts)) as begin_step:
            for part in parts:
                begin_step("part")
                by_steps(part)
        report_progress("end", 1.0)

    for work in (by_ranges, by_steps):
        fractions = fractions_of(lambda work=work: work(tree))
        assert fractions[-1] == 1.0
        assert all(later >= earlier - 1e-12 for earlier, later in itertools.pairwise(fractions))
        assert min(fractions) >= 0.0
        assert max(fractions) <= 1.0 + 1e-12


def test_without_a_listener_nothing_happens():
    reports = reports_of(lambda: None)
    report_progress("nothing", 0.5)
    with progress_range(0.0, 0.5), progress_steps(2) as begin_step:
        begin_step("nothing")
        report_progress("nothing", 0.5)
    assert reports == []


def test_an_error_ends_a_part_and_its_listener():
    reports = []

    def fail():
        with progress_range(0.0, 0.5), progress_steps(2) as begin_step:
            begin_step("a")
            raise KeyError

    with progress_listener(lambda *report: reports.append(report)):
        with pytest.raises(KeyError):
            fail()
        report_progress("after", 0.5)
    report_progress("nothing", 0.5)
    assert reports == [("a", 0.0), ("after", 0.5)]


def test_every_thread_has_its_own_listener():
    """Two threads take turns; neither listener receives what the other thread reports, nor what a third one does."""
    barrier = threading.Barrier(3, timeout=30)
    found = {}

    def work(name):
        def turns():
            with progress_steps(4) as begin_step:
                for _ in range(4):
                    barrier.wait()
                    begin_step(name)

        found[name] = reports_of(turns)

    def unheard():
        for _ in range(4):
            barrier.wait()
            report_progress("unheard", 0.5)

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    threads.append(threading.Thread(target=unheard))
    with progress_listener(lambda *report: pytest.fail(f"{report} came from another thread")):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {name: [(name, fraction) for fraction in (0.0, 0.25, 0.5, 0.75)] for name in "ab"}


@pytest.mark.parametrize(
    ("estimator", "least"),
    [
        (lf.LateFusionClustering(3, random_state=0), 8),
        (lf.LateFusionClustering("auto", random_state=0), 20),
        (lf.GlobalAlignmentClustering(3, random_state=0), 5),
        (lf.LocalAlignmentClustering(3, random_state=0), 5),
    ],
    ids=["given number", "number sought", "global", "local"],
)
@pytest.mark.parametrize("holes", [False, True])
def test_a_fit_goes_from_nothing_to_nearly_all(estimator, least, holes):
    views = lf.datasets.make_views(120, 3, n_views=3, random_state=0).views
    if holes:
        views = [view.copy() for view in views.arrays]
        views[0][:20] = float("nan")
    fractions = fractions_of(lambda: estimator.fit(views))
    assert is_increasing(fractions)
    assert fractions[0] == 0.0
    assert 0.85 <= fractions[-1] < 1.0
    assert len(set(fractions)) >= (3 if holes and least == 5 else least)


def test_leaving_out_views_names_them():
    model = lf.LateFusionClustering(3, random_state=0).fit(lf.datasets.make_views(120, 3, random_state=0).views)
    messages, fractions = zip(*reports_of(model.leave_one_view_out), strict=True)
    assert list(messages[1:]) == [f"without {name}" for name in model.view_names_]
    assert list(fractions) == sorted(set(fractions))


def test_comparisons_and_reports_go_from_nothing_to_nearly_all(tmp_path, capsys):
    views = lf.datasets.make_views(90, 3, random_state=0).views
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    for work in (
        lambda: lf.compare_baselines(views, 3, random_state=0),
        lambda: write_report(model, views, tmp_path / "page.html", embedding="pca"),
    ):
        fractions = fractions_of(work)
        assert is_increasing(fractions)
        assert fractions[0] == 0.0
        assert fractions[-1] >= 0.8
        assert len(set(fractions)) >= 10
