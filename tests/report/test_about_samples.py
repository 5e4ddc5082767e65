import re
from dataclasses import replace

import numpy as np

from latefusion.experiments.comparison import ComparisonRow
from latefusion.report import about_samples
from latefusion.report.findings import gather
from latefusion.report.judgement import Explanation, ViewJudgement
from latefusion.report.lines import HonestLines


def text_of(html):
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", html))


def test_the_headline_counts(content_of, findings):
    text = text_of(about_samples.headline(content_of(findings)))
    assert "3 clusters 90 samples 2 views" in text
    assert f"{np.median(findings.confidence):.2f} median confidence" in text
    assert "All views count about alike" in text


def test_the_headline_says_which_views_matter(content_of, findings):
    judgement = ViewJudgement(["view_0"], [("view_1", "of noise")])
    text = text_of(about_samples.headline(content_of(findings, judgement=judgement)))
    assert "Without view_0 the clusters would be less stable" in text
    assert "View view_1 could be dropped: of noise." in text
    nothing = content_of(findings, explanation=Explanation(verdicts=[]))
    assert "none needs to be dropped" in text_of(about_samples.headline(nothing))


def test_the_headline_says_when_a_plain_method_would_do(content_of, findings):
    rows = [
        ComparisonRow("one", None, 0.0, {}),
        ComparisonRow("two", findings.labels, 0.0, {"agreement": 0.97}),
        ComparisonRow("three", findings.labels, 0.0, {"agreement": 0.99}),
        ComparisonRow("ours", findings.labels, 0.0, {"agreement": 1.0}),
    ]
    text = text_of(about_samples.headline(content_of(findings, lines=HonestLines(rows, 90))))
    assert "nearly the same clusters: three, with an adjusted Rand index of 0.99" in text
    for fewer in (rows[:1] + rows[3:], rows[3:]):
        assert "plain method" not in text_of(about_samples.headline(content_of(findings, lines=HonestLines(fewer, 90))))


def test_the_classes_are_said_to_be_used_for_nothing_else(content_of, aligned, planted):
    found = gather(aligned, planted.views, target=planted.target)
    assert "used for nothing else: ACC" in text_of(about_samples.headline(content_of(found)))


def test_warnings_are_left_out_where_there_are_none(content_of, findings):
    assert about_samples.warning_list(content_of(findings)) is None
    assert "beware" in about_samples.warning_list(content_of(findings, warnings=["beware"]))


def test_maps_have_a_key_per_cluster_and_a_canvas_per_view(content_of, findings):
    html = about_samples.map_section(content_of(findings), "how", "also how", 90, 90)
    assert html.count('class="key"') == 3
    assert html.count('aria-pressed="true"') == 3
    assert all(f'id="{name}"' in html for name in ("map", "view-0", "view-1", "find", "colour"))
    assert "random" not in html


def test_a_subset_is_stated(content_of, findings):
    html = about_samples.map_section(content_of(findings), "how.", "also how.", 50, 20)
    assert "50 random samples are shown" in html
    assert "Each shows 20 of the samples" in html


def test_clusters_show_features_and_the_least_sure_samples(content_of, findings):
    text = text_of(about_samples.clusters_section(content_of(findings)))
    assert text.count("median confidence") == 3
    assert "column " in text
    least = int(np.argmin(findings.confidence))
    assert f"{least} {findings.clusters[findings.labels[least]]} {findings.confidence[least]:.3f}" in text


def test_clusters_of_labels_show_shares(content_of, agreed, labelings):
    text = text_of(about_samples.clusters_section(content_of(gather(agreed, labelings))))
    assert "100%" in text
    assert "most common labels" in text


def test_holes(content_of, findings):
    assert about_samples.holes_section(content_of(findings)) is None
    seen = np.arange(90) >= 9
    spoiled = replace(findings, views=[replace(findings.views[0], observed=seen), findings.views[1]])
    html = about_samples.holes_section(content_of(spoiled))
    assert html.count('class="unseen"') == 1
    assert html.count('class="seen"') == 3
    assert "90.0%" in html


def test_a_plain_method_is_only_praised_for_the_samples_that_it_can_see(content_of, findings):
    own = ComparisonRow("ours", findings.labels, 1.0, {"agreement": 1.0})
    lines = HonestLines([own._replace(method="concat-kmeans"), own], 90)
    text = text_of(about_samples.headline(content_of(findings, lines=lines)))
    assert "concat-kmeans, with an adjusted Rand index of 1.00. Prefer it" in text
    first, *others = findings.views
    holes = replace(findings, views=[replace(first, observed=np.arange(90) >= 20), *others])
    text = text_of(about_samples.headline(content_of(holes, lines=lines)))
    assert "On the 70 samples that are in every view, a plain method" in text
    assert "It says nothing about the others." in text


def test_long_names_of_features_keep_both_ends(content_of, findings):
    first, *others = findings.views
    columns = [f"{'measurement_of_' * 6}{number}" for number in range(4)]
    long = replace(findings, views=[replace(first, columns=columns), *others])
    html = about_samples.clusters_section(content_of(long))
    for name in columns:
        assert f'title="{name}"' in html
        assert f"{name[:20]}…{name[-19:]}" in html
