import re
from dataclasses import replace

import numpy as np
from sklearn.base import clone

import latefusion as lf
from latefusion.experiments import ComparisonRow
from latefusion.report import about_method
from latefusion.report.findings import gather
from latefusion.report.judgement import explain_views
from latefusion.report.lines import HonestLines


def text_of(html):
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", html))


def test_views_show_weights_and_agreement(content_of, findings):
    text = text_of(about_method.views_section(content_of(findings)))
    for name, weight in zip(findings.model.view_names_, findings.model.view_weights_, strict=True):
        assert f"{name} features 4 {weight:.3f}" in text
    assert "adjusted Rand index" in text
    assert "interval" not in text


def test_views_show_what_would_be_without_them(content_of, deciding, planted):
    explanation = explain_views(deciding)
    text = text_of(about_method.views_section(content_of(gather(deciding, planted.views), explanation=explanation)))
    assert f"{explanation.verdicts[0].changed:.1%}" in text
    assert f"{explanation.intervals.lower[1]:.3f} – {explanation.intervals.upper[1]:.3f}" in text


def test_lines_mark_ours_and_show_notes(content_of, findings):
    rows = [
        ComparisonRow("plain", findings.labels, 1.0, {"agreement": 1.0}),
        ComparisonRow("broken", None, 0.1, {}, "failed: <b>"),
        ComparisonRow("ours", findings.labels, np.nan, {"agreement": 1.0}),
    ]
    assert about_method.lines_section(content_of(findings)) is None
    html = about_method.lines_section(content_of(findings, lines=HonestLines(rows, 40)))
    assert "failed: &lt;b&gt;" in html
    assert "Computed on 40 of the samples" in html
    assert re.search(r'<tr class="marked"><th scope="row">ours', html)


def test_choices_give_reasons(content_of, findings, deciding, planted):
    assert about_method.choices_section(content_of(findings)) is None
    text = text_of(about_method.choices_section(content_of(gather(deciding, planted.views))))
    assert deciding.number_selection_.reason in text
    assert "score" in text
    assert "number of clusters" in text
    best = max(deciding.number_selection_.evidence, key=lambda one: one.score)
    assert f"{best.n_clusters} {best.stability:.3f} ± {best.spread:.3f} {best.information:.3f} {best.score:.3f}" in text


def test_convergence(content_of, findings):
    model = findings.model
    text = text_of(about_method.convergence_section(content_of(findings)))
    assert f"converged after {model.n_iter_} iterations" in text
    silent = replace(findings, model=clone(model))
    assert about_method.convergence_section(content_of(silent)) is None


def test_the_code_to_reproduce_runs(content_of, findings, planted, tmp_path, monkeypatch):
    html = about_method.reproduce_section(content_of(findings, command="latefusion cluster a.csv --title '<b>'"))
    assert "&lt;b&gt;" in html
    assert "The seed is 0." in html
    lines = re.search(r"<code>(import latefusion.*?)</code>", html, re.DOTALL).group(1)
    fit = next(line for line in lines.splitlines() if line.startswith("model ="))
    names = {}
    exec(f"import latefusion as lf\n{fit}", names | {"views": planted.views}, names)
    np.testing.assert_array_equal(names["model"].labels_, findings.model.labels_)


def test_a_missing_seed_is_told(content_of, findings):
    model = clone(findings.model).set_params(random_state=None)
    assert "No seed was set" in about_method.reproduce_section(content_of(replace(findings, model=model)))


def test_candidates_of_data_with_holes_can_be_told_apart(content_of, planted):
    mask = np.random.default_rng(0).random((90, 2)) > 0.2
    mask[~mask.any(axis=1)] = True
    views = lf.Views(planted.views.arrays, mask=mask)
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    html = about_method.choices_section(content_of(gather(model, views)))
    assert "directions that fill holes" in html
    rows = re.findall(r"<tr>.*?</tr>|<tr class=\"marked\">.*?</tr>", html, flags=re.DOTALL)
    assert len(rows) == len(set(rows)) == 1 + about_method.MOST_CANDIDATES
