import re
from copy import copy
from dataclasses import replace

import numpy as np
from sklearn.base import clone

import latefusion as lf
from latefusion.experiments import ComparisonRow
from latefusion.interpretation.gather import gather
from latefusion.interpretation.importance import explain_views
from latefusion.report import sections_method
from latefusion.report.baselines import Baselines
from latefusion.report.widgets import signed
from latefusion.selection import Alternative


def test_views_show_weights_and_agreement(page_of, section, text_of, gathered):
    text = text_of(section(page_of(gathered), "views"))
    for name, weight in zip(gathered.model.view_names_, gathered.model.view_weights_, strict=True):
        assert f"{name} features 4 {weight:.3f}" in text
    assert "Adjusted Rand index" in text
    assert "interval" not in text
    assert "without it" not in text


def test_views_show_intervals_and_what_changes_without_them(page_of, section, text_of, deciding, planted):
    explanation = explain_views(deciding)
    page = page_of(gather(deciding, planted.views), explanation=explanation)
    text = text_of(section(page, "views"))
    assert f"{100 * explanation.verdicts[0].changed:.1f} %" in text
    assert f"{explanation.intervals.lower[1]:.3f} – {explanation.intervals.upper[1]:.3f}" in text


def test_weights_per_sample_are_not_weights_of_views(gathered):
    class PerSample:
        view_weights_ = np.ones((90, 2))

    none = sections_method.views_section(replace(gathered, model=PerSample()), explain_views(gathered.model), [], None)
    assert none is None


def test_baselines_mark_the_model_and_show_notes(page_of, section, gathered):
    rows = [
        ComparisonRow("plain", gathered.labels, 1.0, {"agreement": 1.0}),
        ComparisonRow("broken", None, 0.1, {}, "failed: <b>"),
        ComparisonRow("ours", gathered.labels, np.nan, {"agreement": 1.0}),
    ]
    assert section(page_of(gathered), "baselines") is None
    html = section(page_of(gathered, compared=Baselines(rows, 40)), "baselines")
    assert "failed: &lt;b&gt;" in html
    assert "Computed on 40 of the samples" in html
    assert re.search(r'<tr class="marked">\s*<th scope="row">ours', html)
    assert html.count("marked") == 1


def test_choices_give_reasons(page_of, section, text_of, gathered, deciding, planted):
    assert section(page_of(gathered), "choices") is None
    text = text_of(section(page_of(gather(deciding, planted.views)), "choices"))
    assert " ".join(deciding.number_selection_.reason.split()) in text
    assert " ".join(deciding.selection_.reason.split()) in text
    best = max(deciding.number_selection_.evidence, key=lambda one: one.score)
    assert (
        f"{best.n_clusters} {best.stability:.3f} ± {best.standard_error:.3f} {best.information:.3f} {best.score:.3f}"
        in text
    )


def test_candidates_for_missing_views_can_be_told_apart(page_of, section, planted):
    mask = np.random.default_rng(0).random((90, 2)) > 0.2
    mask[~mask.any(axis=1)] = True
    views = lf.Views(planted.views.arrays, mask=mask)
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    html = section(page_of(gather(model, views)), "choices")
    assert "components for imputation" in html
    rows = re.findall(r"<tr.*?</tr>", html.partition("<tbody>")[2], flags=re.DOTALL)
    assert len(rows) == len(set(rows)) == sections_method.MOST_CANDIDATES


def test_alternatives_are_listed_with_what_differs(page_of, section, text_of, deciding, planted, conflict):
    assert "equal score" not in section(page_of(gather(deciding, planted.views)), "choices")
    views = dict(zip(("<b>", "right"), conflict[0].values(), strict=True))
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    (one,) = model.alternatives_
    html = section(page_of(gather(model, views)), "choices")
    assert "<b>" not in html
    assert "Compared on" not in html
    row = f"{one.settings} {signed(one.difference, 3)} ± {one.standard_error:.3f} {len(one.moved)} ({one.share:.0%})"
    assert row.replace("%", " %") in text_of(html)


def test_alternatives_of_some_samples_say_so(page_of, section, text_of, planted, deciding):
    some = Alternative(*[np.arange(40)] * 3, None, "both", "equal", 1.0, None, "kmeans", 0.5, 0.0, 0.1)
    html = section(page_of(gather(with_alternatives(deciding, some), planted.views)), "choices")
    assert "Compared on 40 of the samples." in text_of(html)


def with_alternatives(model, *alternatives):
    """A copy of the model with these alternatives."""
    other = copy(model)
    other.alternatives_ = alternatives
    return other


def test_convergence(page_of, section, text_of, gathered):
    model = gathered.model
    text = text_of(section(page_of(gathered), "convergence"))
    assert f"converged after {model.n_iter_} iterations" in text
    assert f"Final objective: {model.objective_[-1]:.6g}." in text
    assert sections_method.convergence(replace(gathered, model=clone(model))) is None
