from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.report.findings import gather
from latefusion.report.lines import plain_lines


def test_ours_is_last_and_agrees_with_itself(findings):
    lines = plain_lines(findings)
    assert lines.rows[-1].method == "GlobalAlignmentClustering"
    assert lines.rows[-1].scores == {"agreement": 1.0}
    assert lines.n_samples == 90
    assert {"concat-kmeans", "concat-spectral", "A-MKKM"} <= {row.method for row in lines.rows}


def test_the_criterion_of_our_choice_is_that_of_the_selection(deciding, planted):
    own = plain_lines(gather(deciding, planted.views)).rows[-1]
    chosen = next(row for row in deciding.selection_ if row["chosen"])
    assert own.scores["information"] == pytest.approx(chosen["score"])


def test_known_classes_give_scores(aligned, planted):
    rows = plain_lines(gather(aligned, planted.views, target=planted.target)).rows
    assert all(0 <= row.scores["accuracy"] <= 1 for row in rows)
    assert rows[-1].scores["accuracy"] == lf.metrics.clustering_accuracy(planted.target, aligned.labels_)


def test_only_complete_samples_are_compared(findings):
    seen = np.arange(90) >= 30
    lines = plain_lines(replace(findings, views=[replace(findings.views[0], observed=seen), findings.views[1]]))
    assert lines.n_samples == 60
    assert all(len(row.labels) == 60 for row in lines.rows)


def test_many_samples_are_thinned(findings, monkeypatch):
    monkeypatch.setattr("latefusion.report.lines.MOST_SAMPLES", 40)
    lines = plain_lines(findings)
    assert lines.n_samples == 40
    assert all(len(row.labels) == 40 for row in lines.rows)


def test_kernels_are_compared_as_kernels(planted):
    kernels = {name: array @ array.T for name, array in planted.views.items()}
    model = lf.GlobalAlignmentClustering(3, partition="precomputed", random_state=0).fit(kernels)
    rows = plain_lines(gather(model, kernels)).rows
    assert rows[0].method == "kernel k-means on view_0"
    assert all(row.labels is not None for row in rows)


def test_labels_and_too_few_complete_samples_have_no_lines(findings, agreed, labelings):
    assert plain_lines(gather(agreed, labelings)) is None
    nobody = replace(findings.views[0], observed=np.arange(90) < 5)
    assert plain_lines(replace(findings, views=[nobody, findings.views[1]])) is None
