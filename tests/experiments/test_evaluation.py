from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from latefusion.experiments.evaluation import (
    TOLERANCE,
    comparison_kind,
    dataset_table,
    differences,
    long_table,
    marks,
    overview_table,
    score_tables,
    time_tables,
    unfinished_table,
)
from latefusion.experiments.printed import printed_value
from latefusion.experiments.protocol import METRICS


def renamed(summaries, name):
    """The same results, as if they came from a file of this name."""
    return [replace(one, source=replace(one.source, name=name)) for one in summaries]


@pytest.fixture
def on_yale(small_summaries):
    return renamed(small_summaries, "yale_kernels")


def texts(table):
    return [[entry.text for entry in row] for row in table.rows]


def test_both_protocols_stand_side_by_side(small_summaries):
    table = dataset_table(small_summaries)
    assert table.header[1:3] == ["ACC oracle / paper", "ACC label-free"]
    assert len(table.header) == 2 + 2 * len(METRICS)
    for one, row in zip(small_summaries, texts(table), strict=True):
        assert row[0] == one.method
        assert float(row[1]) == pytest.approx(100 * one.oracle["accuracy"].value, abs=0.005)
        assert float(row[2].split(" ± ")[0]) == pytest.approx(100 * one.label_free["accuracy"].mean(), abs=0.005)
    assert "not in the paper" in table.title


def test_printed_values_stand_beside_ours(on_yale):
    table = dataset_table(on_yale)
    assert "YALE" in table.title
    assert "same kernels" in table.title
    for row in texts(table):
        printed = printed_value("kernel", "YALE", row[0], "accuracy")
        assert row[1].endswith(f" / {printed.value:.2f}")


def test_the_papers_layout_has_two_lines_per_data_set(on_yale, small_summaries):
    tables = score_tables([*on_yale, *renamed(small_summaries, "ar10p_kernels"), *small_summaries])
    assert set(tables) == {f"{name}-{metric}" for name in ("kernel", "swmc") for metric in METRICS}
    table = tables["kernel-nmi"]
    assert [row[0] for row in texts(table)] == ["YALE", "YALE", "AR10P", "AR10P"]
    assert [row[2] for row in texts(table)][:2] == ["oracle / paper", "label-free"]
    assert table.header[3:] == ["A-MKKM", "SB-KKM", "RMKKM", "LF-MVC-GAM", "LF-MVC-LAM"]
    assert score_tables(small_summaries) == {}


def test_the_best_is_marked_once_per_protocol(on_yale):
    for metric in METRICS:
        for found in marks(on_yale, metric):
            assert Counter(found.values())["best"] == 1
    table = dataset_table(on_yale)
    assert all(sum(row[column].mark == "best" for row in table.rows) == 1 for column in range(1, 7))


def test_differences_are_exactly_those_beyond_the_tolerance(on_yale):
    listed = {row[1] for row in texts(differences(on_yale))}
    for one in on_yale:
        printed = printed_value("kernel", "YALE", one.method, "accuracy").value
        gap = 100 * one.oracle["accuracy"].value - printed
        assert (one.method in listed) == (abs(gap) > TOLERANCE)
    for row in texts(differences(on_yale)):
        ours, printed = map(float, row[2].split(" / "))
        assert float(row[3]) == pytest.approx(ours - printed, abs=0.011)


def shifted(one, printed, value, mean, lowest):
    best = one.oracle["accuracy"]._replace(value=value / 100, mean=mean / 100, lowest_cost=lowest / 100)
    return replace(one, method="MKKM", oracle=one.oracle | {"accuracy": best})


def test_reasons_are_those_that_the_numbers_show(on_yale):
    printed = printed_value("kernel", "YALE", "MKKM", "accuracy").value
    by_cost = shifted(on_yale[0], printed, printed + 9, printed - 9, printed + 1)
    by_mean = shifted(on_yale[0], printed, printed + 9, printed - 1, printed + 8)
    neither = shifted(on_yale[0], printed, printed + 9, printed + 8, printed + 8)
    reasons = [texts(differences([one]))[0][-1] for one in (by_cost, by_mean, neither)]
    assert "the start with the lowest cost" in reasons[0]
    assert "one start on average" in reasons[1]
    assert reasons[2] == "not explained"
    between = shifted(on_yale[0], printed, printed + 9, printed - 9, printed + 8)
    assert texts(differences([between]))[0][-1].startswith("not explained; the printed value is between")
    elsewhere = replace(neither, source=replace(neither.source, name="mfeat"))
    assert texts(differences([elsewhere]))[0][-1] == "other data: same samples, own kernels"


def test_speed_ups_are_relative_to_the_reference(on_yale):
    reference = replace(on_yale[0], method="MKKM", seconds=1.0)
    faster = replace(on_yale[3], seconds=0.25)
    table = time_tables([reference, faster])["kernel-time"]
    assert texts(table)[0][2:] == ["1 (1×)", "0.25 (4×)"]


def test_printed_times_stand_beside_ours(on_yale):
    on_msrc = renamed(on_yale, "msrc_v1")
    table = time_tables([replace(on_msrc[0], method="MVGL", seconds=1.0), replace(on_msrc[3], seconds=0.1)])[
        "graph-time"
    ]
    assert texts(table)[0][2:] == ["1 / 2.206 (1× / 1×)", "0.1 / 0.208 (10× / 11×)"]


def test_a_failure_is_a_dash_with_its_reason(small_summaries):
    failed = replace(
        small_summaries[0], oracle={}, label_free={}, seconds=None, reasons=Counter({"out of memory": 2}), n_missing=1
    )
    table = dataset_table([failed, *small_summaries[1:]])
    assert [entry.text for entry in table.rows[0][1:]] == ["–"] * 7
    assert "A-MKKM: out of memory (2 cells); 1 cell not run" in table.notes


def test_the_long_table_holds_every_score(small_summaries):
    table = long_table(small_summaries)
    assert len(table.rows) == len(small_summaries) * len(METRICS)
    values = np.array([float(row[4].text) for row in table.rows])
    expected = [100 * one.oracle[metric].value for one in small_summaries for metric in METRICS]
    np.testing.assert_allclose(values, expected, atol=1e-4)


def test_kinds_of_comparison():
    assert comparison_kind("ar10p_kernels") == "same kernels"
    assert comparison_kind("mnist4") == "relative"
    assert comparison_kind("digits") == "not in the paper"


def test_the_overview_compares_on_the_same_data_sets(small_summaries):
    """A method without a result somewhere is held against ours elsewhere only; against itself nothing is better."""
    elsewhere = renamed(small_summaries, "yale_kernels")
    elsewhere[0] = replace(elsewhere[0], oracle={}, n_missing=3)
    table = overview_table([*small_summaries, *elsewhere], "oracle")
    rows = {row[0]: row[1:] for row in texts(table)}
    assert rows["A-MKKM"][0] == "1"
    assert rows["RMKKM"][0] == "2"
    assert rows["LF-MVC-LAM"][1] == rows["LF-MVC-LAM"][2]
    assert rows["LF-MVC-LAM"][3] == "0 / 0"
    mine, ours = (one.oracle["accuracy"].value for one in (small_summaries[0], small_summaries[-1]))
    assert [float(word) for word in rows["A-MKKM"][1:3]] == pytest.approx([100 * mine, 100 * ours], abs=0.005)
    assert overview_table(small_summaries, "label-free").rows == []  # LateFusionClustering was not run


def test_what_has_no_result_is_counted(small_summaries):
    assert unfinished_table(small_summaries).rows == []
    cut = replace(small_summaries[0], n_missing=2)
    failed = replace(small_summaries[1], reasons=Counter({"out of memory": 1}))
    n_cells = cut.n_cells + failed.n_cells
    assert texts(unfinished_table([cut, failed])) == [
        [
            "planted",
            f"{n_cells - 2} of {n_cells}",
            f"A-MKKM (2 of {cut.n_cells})",
            "SB-KKM (out of memory (1 cell))",
        ]
    ]
