from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import latefusion as lf
from latefusion.estimators.diagnostics import ViewVerdict
from latefusion.report.findings import ViewFindings, gather
from latefusion.report.judgement import (
    Explanation,
    agreement_table,
    column_variances,
    data_warnings,
    empty_rows,
    explain_views,
    judge_views,
    loose_views,
)


def with_array(findings, array, place=0):
    views = list(findings.views)
    views[place] = replace(views[place], array=array, columns=[f"c{i}" for i in range(array.shape[1])])
    return replace(findings, views=views)


def test_clean_data_have_no_warnings(findings):
    assert data_warnings(findings) == []


def test_agreement_is_symmetric_with_ones_and_the_consensus_last(findings):
    names, table = agreement_table(findings)
    assert names == ["view_0", "view_1", "consensus"]
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diagonal(table), 1)
    expected = lf.metrics.adjusted_rand(findings.views[0].own, findings.labels)
    assert table[0, 2] == pytest.approx(expected)


def test_agreement_looks_at_common_samples_only(findings):
    own = findings.labels.copy()
    own[:50] = -1
    views = [replace(findings.views[0], own=own), findings.views[1]]
    assert agreement_table(replace(findings, views=views))[1][0, 2] == 1.0


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_constant_columns_are_counted_and_named(findings, form):
    array = np.random.default_rng(0).standard_normal((90, 5))
    array[:, [1, 3]] = 0.1
    (found,) = data_warnings(with_array(findings, form(array)))
    assert found == "View view_0: 2 columns are constant (c1, c3) and without meaning here."


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_samples_that_are_all_zeros_are_counted(findings, form):
    array = np.random.default_rng(0).poisson(1.0, (90, 12)).astype(float)
    array[:20] = 0
    (found,) = data_warnings(with_array(findings, form(array)))
    assert found.startswith("View view_0: 20 of its 90 samples are zero in all columns")
    observed = np.arange(90) >= 17  # of those that are in the view
    assert empty_rows("a", form(array), observed) == []
    assert empty_rows("a", form(array), np.arange(90) >= 14)[0].startswith("View a: 6 of its 76 samples")
    (found,) = empty_rows("a", form(array), np.ones(90, dtype=bool), np.arange(90) >= 20)
    assert found.endswith("they were taken as missing.")
    assert "NaN" in empty_rows("a", form(array), np.ones(90, dtype=bool), np.arange(90) >= 19)[0]
    array[4:20] = 1e-300
    assert empty_rows("a", form(array), np.ones(90, dtype=bool)) == []


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_variances(form):
    array = np.random.default_rng(0).standard_normal((90, 5)) * [1, 1e-8, 1e8, 0, 3]
    view = ViewFindings("v", "features", form(array), list("abcde"), np.ones(90, dtype=bool), None, [])
    np.testing.assert_allclose(column_variances(view), array.var(axis=0), rtol=1e-6)
    assert column_variances(view)[3] == 0


def test_copies_of_a_view_are_found(planted):
    views = {"one": planted.views.arrays[0], "other": planted.views.arrays[1], "copy": planted.views.arrays[0].copy()}
    found = gather(lf.GlobalAlignmentClustering(3, random_state=0).fit(views), views)
    assert data_warnings(found) == ["Views one and copy are the same data."]
    judgement = judge_views(found, Explanation(), *agreement_table(found))
    assert ("copy", "it says the same as one") in judgement.droppable


def test_views_that_agree_are_witnesses_and_no_copies():
    data = lf.datasets.make_views(n_samples=90, n_clusters=3, n_views=2, separation=20.0, random_state=0)
    found = gather(lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views), data.views)
    names, table = agreement_table(found)
    assert table[0, 1] == 1.0
    assert judge_views(found, Explanation(), names, table).droppable == []


def test_a_dominant_column_is_named_where_the_model_does_not_scale(findings):
    array = np.random.default_rng(0).standard_normal((90, 3)) * [1, 100, 1]
    (found,) = data_warnings(with_array(findings, array))
    assert "the column c1 has 100% of the variance" in found


def test_holes_and_tiny_clusters_are_told(findings):
    seen = np.arange(90) >= 9
    labels = np.where(np.arange(90) < 2, 0, 1 + np.arange(90) % 2)
    spoiled = replace(findings, labels=labels, views=[replace(findings.views[0], observed=seen), findings.views[1]])
    tiny, holes = data_warnings(spoiled)
    assert "0 (2 samples)" in tiny
    assert "81 are. Views with holes: view_0 (10% of the samples)." in holes


def test_a_result_that_is_in_doubt(findings):
    model = SimpleNamespace(
        number_selection_=SimpleNamespace(has_structure=False), converged_=False, n_iter_=7, view_kinds_={}
    )
    found = data_warnings(replace(findings, model=model, confidence=np.full(90, 0.1)))
    assert len(found) == 3
    assert "no sign of clusters" in found[0]
    assert "stopped after 7" in found[1]


def test_a_view_of_noise_could_be_dropped():
    data = lf.datasets.make_views(n_samples=150, n_clusters=3, n_uninformative=1, separation=8.0, random_state=0)
    found = gather(lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views), data.views)
    judgement = judge_views(found, Explanation(), *agreement_table(found))
    assert [name for name, _ in judgement.droppable if name == "noise_0"] == ["noise_0"]


def test_verdicts_decide(findings):
    names, table = agreement_table(findings)
    table = np.full_like(table, 0.5)
    verdicts = [ViewVerdict("view_0", 0.1, 0.9, 0.2, 0.01), ViewVerdict("view_1", 0.1, 0.9, -0.2, 0.01)]
    judgement = judge_views(findings, Explanation(verdicts), names, table)
    assert judgement.important == ["view_1"]
    assert [name for name, _ in judgement.droppable] == ["view_0"]
    unsure = [one._replace(doubt=0.5) for one in verdicts]
    judgement = judge_views(findings, Explanation(unsure), names, table)
    assert judgement == type(judgement)([], [])


def test_a_refusal_becomes_a_note():
    class Refusing:
        n_views_ = 2

        def leave_one_view_out(self):
            raise ValueError("some samples have no other view")

        def weight_intervals(self):
            return "intervals"

    assert explain_views(Refusing()) == Explanation(None, "intervals", ("some samples have no other view",))


def test_a_model_without_answers_gives_none(aligned):
    assert explain_views(aligned) == Explanation()


def test_views_that_hardly_meet_and_a_view_alone_are_pointed_out(findings):
    left = np.arange(90) < 50
    observed = np.stack([left, ~left], axis=1)
    observed[:12] = True
    told = loose_views(["genes", "proteins"], observed, 3)
    assert [one.split(" are in")[0] for one in told] == [
        "Only 12 of the 50 samples of view 'genes'",
        "Only 12 of the 52 samples of view 'proteins'",
    ]
    assert loose_views(["genes", "proteins"], observed, 1) == []
    assert any("only one view" in one for one in data_warnings(replace(findings, views=findings.views[:1])))
