from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.interpretation.gather import gather
from latefusion.report.baselines import run_baselines


def test_ours_is_last_and_agrees_with_itself(gathered):
    found = run_baselines(gathered)
    assert found.rows[-1].method == "GlobalAlignmentClustering"
    assert found.rows[-1].scores == {"agreement": 1.0}
    assert found.n_samples == 90
    assert {"concat-kmeans", "concat-spectral", "A-MKKM"} <= {row.method for row in found.rows}


def test_the_criterion_of_our_choice_is_that_of_the_selection(deciding, planted):
    own = run_baselines(gather(deciding, planted.views)).rows[-1]
    chosen = next(row for row in deciding.selection_ if row["chosen"])
    assert own.scores["information"] == pytest.approx(chosen["score"])


def test_known_classes_give_scores(aligned, planted):
    rows = run_baselines(gather(aligned, planted.views, target=planted.target)).rows
    assert all(0 <= row.scores["accuracy"] <= 1 for row in rows)
    assert rows[-1].scores["accuracy"] == lf.metrics.clustering_accuracy(planted.target, aligned.labels_)


def test_only_complete_samples_are_compared(gathered):
    seen = np.arange(90) >= 30
    found = run_baselines(replace(gathered, views=[replace(gathered.views[0], observed=seen), gathered.views[1]]))
    assert found.n_samples == 60
    assert all(len(row.labels) == 60 for row in found.rows)


def test_many_samples_are_thinned(gathered, monkeypatch):
    monkeypatch.setattr("latefusion.report.baselines.MOST_SAMPLES", 40)
    found = run_baselines(gathered)
    assert found.n_samples == 40
    assert all(len(row.labels) == 40 for row in found.rows)


def test_kernels_are_compared_as_kernels(planted):
    kernels = {name: array @ array.T for name, array in planted.views.items()}
    model = lf.GlobalAlignmentClustering(3, similarity="precomputed", random_state=0).fit(kernels)
    rows = run_baselines(gather(model, kernels)).rows
    assert rows[0].method == "kernel k-means on view_0"
    assert all(row.labels is not None for row in rows)


def test_labels_and_too_few_complete_samples_have_no_baselines(gathered, agreed, labelings):
    assert run_baselines(gather(agreed, labelings)) is None
    nobody = replace(gathered.views[0], observed=np.arange(90) < 5)
    assert run_baselines(replace(gathered, views=[nobody, gathered.views[1]])) is None
