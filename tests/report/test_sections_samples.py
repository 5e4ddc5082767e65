from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.experiments.comparison import ComparisonRow
from latefusion.interpretation.gather import gather
from latefusion.interpretation.importance import Explanation, Importance
from latefusion.interpretation.traits import cluster_traits
from latefusion.report import sections_samples
from latefusion.report.baselines import Baselines
from latefusion.summaries import hint_line

NOTHING, UNEXPLAINED = Importance([], {}), Explanation()


def summary(data, importance=NOTHING, explanation=UNEXPLAINED, baselines=None, outcome=None):
    return " ".join(sections_samples.summary(data, importance, explanation, baselines, outcome))


def test_facts_count(page_of, section, text_of, gathered):
    text = text_of(section(page_of(gathered), "summary"))
    assert text.startswith("Summary 3 clusters 90 samples 2 views")
    assert f"{np.median(gathered.confidence):.2f} median confidence" in text


def test_sizes_and_confidence(gathered):
    half = np.where(np.arange(90) < 45, 0.6, 0.1)
    text = summary(replace(gathered, labels=np.repeat([0, 1, 2], [10, 30, 50]), confidence=half))
    assert "Cluster sizes: 10 (11.1\u00a0%) to 50 (55.6\u00a0%) of the samples." in text
    assert "50\u00a0% of the samples are clearly assigned (0.5 or higher), 50\u00a0% are between clusters" in text
    assert "30 (33.3\u00a0%) of the samples each" in summary(replace(gathered, labels=np.repeat([0, 1, 2], 30)))


def test_the_summary_names_important_and_removable_views(gathered):
    text = summary(gathered, Importance(["view_0"], {"view_1": "of noise"}))
    assert "Important view: view_0. Without it, the clusters are less stable" in text
    assert "View view_1 could be removed: of noise." in text
    text = summary(gathered, Importance(["view_0", "view_1"], {}))
    assert "Important views: view_0, view_1. Without any one of them, the clusters are less stable" in text
    assert "keep all views" in summary(gathered, explanation=Explanation(verdicts=[]))


def test_weights_are_similar_or_highest_and_lowest(gathered):
    class Weighted:
        view_weights_ = np.array([0.9, 0.4])

    text = summary(replace(gathered, model=Weighted()))
    assert "View weights: highest for view_0 (0.90), lowest for view_1 (0.40)." in text
    Weighted.view_weights_ = np.array([0.72, 0.70])
    assert "View weights: similar (0.70 to 0.72)." in summary(replace(gathered, model=Weighted()))
    Weighted.view_weights_ = np.ones((90, 2))  # per sample
    assert "weights" not in summary(replace(gathered, model=Weighted()))


def test_a_baseline_that_finds_the_same_clusters_is_named(gathered):
    rows = [
        ComparisonRow("one", None, 0.0, {}),
        ComparisonRow("two", gathered.labels, 0.0, {"agreement": 0.97}),
        ComparisonRow("three", gathered.labels, 0.0, {"agreement": 0.99}),
        ComparisonRow("ours", gathered.labels, 0.0, {"agreement": 1.0}),
    ]
    assert "nearly the same clusters: three (adjusted Rand index 0.99)." in summary(
        gathered, baselines=Baselines(rows, 90)
    )
    for fewer in (rows[:1] + rows[3:], rows[3:]):
        assert "baseline" not in summary(gathered, baselines=Baselines(fewer, 90))


def test_a_baseline_is_recommended_for_complete_data_only(gathered, incomplete):
    own = ComparisonRow("ours", gathered.labels, 1.0, {"agreement": 1.0})
    baselines = Baselines([own._replace(method="concat-kmeans"), own], 90)
    assert "Use it if you only need labels." in summary(gathered, baselines=baselines)
    text = summary(incomplete, baselines=baselines)
    assert "For the 81 samples without missing views, a simple baseline" in text
    assert "Use it" not in text


def test_known_classes_give_scores(aligned, planted):
    text = summary(gather(aligned, planted.views, target=planted.target))
    assert "not used for clustering: ACC" in text


def test_clusters_show_features_and_the_least_certain_samples(page_of, section, text_of, gathered):
    text = text_of(section(page_of(gathered), "clusters"))
    assert text.count("Median confidence") == 3
    assert "column " in text
    text = text_of(section(page_of(gathered), "check"))
    least = int(np.argmin(gathered.confidence))
    assert f"{least} {gathered.clusters[gathered.labels[least]]} {gathered.confidence[least]:.3f}" in text


def test_samples_with_a_confidence_of_one_need_no_check(page_of, section, text_of, gathered):
    certain = replace(gathered, confidence=np.ones(90))
    assert sections_samples.samples_to_check(certain).uncertain == []
    assert "All samples have a confidence of 1." in text_of(section(page_of(certain), "check"))
    some = replace(gathered, confidence=np.where(np.arange(90) < 3, 0.7, 0.9999))
    assert [row.name for row in sections_samples.samples_to_check(some).uncertain] == ["0", "1", "2"]


def test_clusters_of_labels_show_shares(page_of, section, text_of, agreed, labelings):
    text = text_of(section(page_of(gather(agreed, labelings)), "clusters"))
    assert "100 %" in text
    assert "most common labels" in text


def test_traits_are_grouped_by_view_and_the_strongest_remain(gathered, monkeypatch):
    monkeypatch.setattr(sections_samples, "MOST_TRAITS", 3)
    traits = cluster_traits(gathered)
    for cluster, own in zip(sections_samples.clusters(gathered, traits), traits, strict=True):
        kept = [one for _, group in cluster.traits for one in group]
        assert sorted(abs(one.effect) for one in kept) == sorted(abs(one.effect) for one in own)[-3:]
        assert len({view for view, _ in cluster.traits}) == len(cluster.traits)


def test_long_names_of_features_keep_both_ends(page_of, section, gathered):
    first, *others = gathered.views
    columns = [f"{'measurement_of_' * 6}{number}" for number in range(4)]
    html = section(page_of(replace(gathered, views=[replace(first, columns=columns), *others])), "clusters")
    for name in columns:
        assert f'title="{name}"' in html
        assert f"{name[:20]}…{name[-19:]}" in html


@pytest.fixture
def novel(gathered):
    """Twelve samples above 1, the highest of them sample 5."""
    novelty = np.linspace(0.1, 0.9, 90)
    novelty[20:32] = 1.5
    novelty[5] = 7.25
    return replace(gathered, novelty=novelty)


def test_novel_samples_are_counted_and_listed(page_of, section, text_of, novel):
    found = sections_samples.samples_to_check(novel)
    assert found.n_novel == 13
    assert [row.name for row in found.novel] == ["5", *map(str, range(20, 29))]
    text = summary(novel)
    assert "13 samples (14.4\u00a0%) are above 1, where about 1\u00a0% is expected. The highest is 7.250 (5)." in text
    text = text_of(section(page_of(novel), "check"))
    assert "13 samples (14.4 %) have a novelty above 1; the highest 10 are shown" in text
    assert "7.250 novel" in text


def test_without_novel_samples_the_report_says_so(page_of, section, text_of, gathered):
    usual = replace(gathered, novelty=np.full(90, 0.5))
    assert "No sample has a novelty above 1." in text_of(section(page_of(usual), "check"))
    assert "Novelty" not in summary(usual)
    page = page_of(replace(gathered, novelty=None))
    assert "ovelty" not in text_of(section(page, "summary") + section(page, "check"))


def test_the_novelty_of_the_model_is_shown_where_it_has_one(aligned, planted):
    novelty = getattr(aligned, "novelty_", None)
    found = gather(aligned, planted.views).novelty
    assert (found is None) == (novelty is None)


def test_missing_views(page_of, section, gathered, incomplete):
    assert section(page_of(gathered), "missing") is None
    html = section(page_of(incomplete), "missing")
    assert html.count('class="unseen"') == 1
    assert html.count('class="seen"') == 3
    assert "90.0\u00a0%" in html


def test_rare_patterns_are_counted(gathered, monkeypatch):
    monkeypatch.setattr(sections_samples, "MOST_PATTERNS", 1)
    first, second = gathered.views
    views = [replace(first, observed=np.arange(90) >= 9), replace(second, observed=np.arange(90) < 80)]
    found = sections_samples.missing_views(replace(gathered, views=views))
    assert (found.patterns[0].size, found.n_more) == (71, 2)


@pytest.mark.parametrize("n_different", [0, 2])
def test_the_summary_has_a_sentence_about_the_outcome(aligned, gathered, n_different):
    generator = np.random.default_rng(0)
    table = {f"column {one}": generator.normal(size=90) + 5 * aligned.labels_ * (one < n_different) for one in range(4)}
    outcome = lf.outcome(aligned, table, n_permutations=999)
    expected = {
        0: "do not differ significantly in column 0, column 1, column 2, column 3 (adjusted p above 0.05).",
        2: "differ significantly in column 0, column 1 (2 of 4 columns with an adjusted p of at most 0.05).",
    }
    assert summary(gathered, outcome=outcome).endswith(f"Outcome: the clusters {expected[n_different]}")


@pytest.mark.parametrize("wrong", [0, 3])
def test_the_summary_says_what_became_of_hints(planted, wrong):
    hints = np.full(90, -1)
    chosen = np.arange(0, 90, 5)
    hints[chosen] = planted.target[chosen]
    hints[chosen[:wrong]] = (hints[chosen[:wrong]] + 1) % 3
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(planted.views, hints)
    data = gather(model, planted.views)
    assert len(model.hints_.overruled) == wrong
    line = hint_line(model)
    assert model.hints_.reason in line
    assert line in summary(data)
    assert "Hints" not in summary(replace(data, model=lf.GlobalAlignmentClustering(3).fit(planted.views)))
