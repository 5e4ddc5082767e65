import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import latefusion as lf
from latefusion.metrics import kaplan_meier
from latefusion.report.outcome import MOST_COLOURED, outcome_section, survival_chart, time_ticks
from latefusion.report.widgets import cluster_styles


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    return {"time": generator.exponential(900, 90), "event": generator.random(90) < 0.6, "age": generator.random(90)}


@pytest.fixture
def found(aligned, table):
    return lf.outcome(aligned, table, n_permutations=99)


def test_curves_are_those_of_kaplan_and_meier(found, gathered, table):
    chart = outcome_section(found, gathered).chart
    last = table["time"].max()
    for position, curve in enumerate(chart.curves):
        own = gathered.labels == position
        expected = kaplan_meier(table["time"][own], table["event"][own])
        steps = np.array(re.findall(r"[MH]([\d.]+)[V ]([\d.]+)", curve.path), dtype=float)
        times = (steps[:, 0] - chart.left) / (chart.right - chart.left) * last
        shares = (chart.bottom - steps[:, 1]) / (chart.bottom - chart.top)
        clear = np.flatnonzero(np.diff(expected.times) > last / 200)  # the drawing is exact to half a unit
        middles = (expected.times[clear] + expected.times[clear + 1]) / 2
        drawn = shares[np.searchsorted(times, middles, side="right") - 1]
        np.testing.assert_allclose(drawn, expected.survival_at(middles), atol=0.003)
        assert shares[-1] == pytest.approx(expected.survival[-1], abs=0.003)
        assert times[-1] == pytest.approx(table["time"][own].max(), rel=0.01)
        assert np.all(np.diff(shares) <= 0)


def test_numbers_at_risk_are_counted(page_of, section, text_of, found, gathered, table):
    part = outcome_section(found, gathered)
    last = table["time"].max()
    for position, curve in enumerate(part.chart.curves):
        own = table["time"][gathered.labels == position]
        ticks = [float(tick.text) for tick in part.chart.x_ticks]
        assert curve.at_risk == [int(np.sum(own >= tick)) for tick in ticks]
        assert max(ticks) <= last
    text = text_of(section(page_of(gathered, outcome=part), "outcome"))
    first = part.chart.curves[0]
    assert f"{first.name} {' '.join(map(str, first.at_risk))}" in text
    assert f"p = {found.survival.p:.2g}" in text


def test_clusters_have_the_colours_of_the_page(found, gathered):
    chart = outcome_section(found, gathered).chart
    assert [curve.style for curve in chart.curves] == cluster_styles(3)
    assert [curve.name for curve in chart.curves] == gathered.clusters


def test_without_survival_there_are_tests_only(page_of, section, text_of, aligned, gathered, table):
    part = outcome_section(lf.outcome(aligned, {"age": table["age"]}, n_permutations=99), gathered)
    assert part.chart is None
    html = section(page_of(gathered, outcome=part), "outcome")
    assert "<svg" not in html
    assert "Kruskal" in text_of(html)


def test_the_comparison_is_folded(page_of, section, aligned, planted, gathered, table):
    found = lf.outcome(aligned, table, views=planted.views, baselines=True, n_permutations=99)
    html = section(page_of(gathered, outcome=outcome_section(found, gathered)), "outcome")
    folded = re.search(r'<details class="expert">.*?Does fusion help.*?</details>', html, re.DOTALL)
    assert folded


def test_outcomes_of_another_clustering_are_refused(gathered, aligned, table):
    """Also if its clusters have the same names and sizes, or if it is about fewer samples."""
    labels = aligned.labels_.copy()
    labels[[np.flatnonzero(labels == 0)[0], np.flatnonzero(labels == 1)[0]]] = 1, 0
    with pytest.raises(ValueError, match=r"outcome is about another clustering: 2 of 90 samples .* the same model"):
        outcome_section(lf.outcome(labels, table, n_permutations=9), gathered)
    fewer = {name: values[:80] for name, values in table.items()}
    with pytest.raises(ValueError, match="outcome is about 80 samples, but the report is about 90"):
        outcome_section(lf.outcome(aligned.labels_[:80], fewer, n_permutations=9), gathered)
    left_out = aligned.labels_.astype(object)
    left_out[:5] = None
    assert outcome_section(lf.outcome(left_out, table, n_permutations=9), gathered).chart


def test_notes_have_no_names_of_python(page_of, section, text_of, gathered, aligned):
    generator = np.random.default_rng(0)
    table = {f"marker {one}": aligned.labels_ + generator.normal(0, 0.1, 90) for one in range(9)}
    found = lf.outcome(aligned, table, n_permutations=99)
    part = outcome_section(found, gathered)
    (hidden,) = {note for one in part.tables for note in one.notes if "more with" in note}
    assert re.fullmatch(r"\d+ more with an adjusted p of at most 0.05 \(not shown\)\.", hidden)
    text = text_of(section(page_of(gathered, outcome=part), "outcome"))
    for word in ("p_adjusted", "n_samples", "hazard_ratio", "`"):
        assert word not in text
    assert "p adjusted: false discovery rate" in text


def test_clusters_of_tables_have_their_dots(page_of, section, gathered, found):
    html = section(page_of(gathered, outcome=outcome_section(found, gathered)), "outcome")
    heads = re.findall(r'<th scope="row">(.*?)</th>', html)
    named = [head for head in heads if "cluster-id" in head]
    assert len(named) >= 6  # numbers at risk and survival
    assert all("<svg" in head for head in named)


def test_of_many_curves_the_clearest_are_coloured(gathered):
    """Cluster 7 dies first, cluster 11 last."""
    generator = np.random.default_rng(0)
    labels = np.arange(600) % 20
    time = generator.exponential(np.where(labels == 7, 0.2, np.where(labels == 11, 20, 2)))
    found = lf.outcome(labels, {"time": time, "event": np.ones(600)}, n_permutations=999)
    data = replace(gathered, labels=labels, clusters=[str(one) for one in range(20)])
    chart = survival_chart(found.survival, data)
    coloured = {curve.name for curve in chart.curves if curve.is_coloured}
    assert {"7", "11"} <= coloured
    assert len(coloured) == MOST_COLOURED


def test_few_curves_are_all_coloured(found, gathered):
    assert all(curve.is_coloured for curve in outcome_section(found, gathered).chart.curves)


def test_outcomes_of_other_clusters_are_refused(gathered, table):
    other = lf.outcome(np.repeat(["a", "b", "c"], 30), table, n_permutations=99)
    with pytest.raises(ValueError, match="outcome has the cluster 'a', but the clusters of the model are 0, 1, 2"):
        outcome_section(other, gathered)
    with pytest.raises(TypeError, match=r"the result of latefusion.outcome\(model, table\), got dict"):
        outcome_section(table, gathered)
    assert outcome_section(None, gathered) is None


@pytest.mark.parametrize("last", [0.003, 1, 7, 10, 99, 100, 3650, 12345.6])
def test_times_are_round_and_few(last):
    ticks = time_ticks(last)
    assert ticks[0] == 0
    assert 2 < len(ticks) <= 8
    assert last * 0.6 < ticks[-1] <= last * (1 + 1e-6)
    assert len({round(b - a, 9) for a, b in pairwise(ticks)}) == 1


def test_curves_of_many_samples_stay_small(gathered):
    generator = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20_000)
    table = {"time": generator.exponential(5, 60_000), "event": generator.random(60_000) < 0.5}
    found = lf.outcome(labels, table, n_permutations=9)
    chart = survival_chart(found.survival, gathered)
    assert sum(len(curve.path) + len(curve.censored) for curve in chart.curves) < 100_000
