import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from latefusion.interpretation.gather import gather
from latefusion.interpretation.importance import (
    Explanation,
    Importance,
    agreement_table,
    explain_views,
    verdict_columns,
    view_importance,
)
from latefusion.report.widgets import signed
from latefusion.selection import ViewVerdict
from tests.cli.shell import write_tables


def test_agreement_is_symmetric_with_ones_and_the_consensus_last(gathered):
    names, table = agreement_table(gathered)
    assert names == ["view_0", "view_1", "consensus"]
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diagonal(table), 1)
    expected = lf.metrics.adjusted_rand(gathered.views[0].labels, gathered.labels)
    assert table[0, 2] == pytest.approx(expected)


def test_agreement_looks_at_common_samples_only(gathered):
    own = gathered.labels.copy()
    own[:50] = -1
    views = [replace(gathered.views[0], labels=own), gathered.views[1]]
    assert agreement_table(replace(gathered, views=views))[1][0, 2] == 1.0


def test_copies_of_a_view_are_redundant(planted):
    views = {"one": planted.views.arrays[0], "other": planted.views.arrays[1], "copy": planted.views.arrays[0].copy()}
    found = gather(lf.GlobalAlignmentClustering(3, random_state=0).fit(views), views)
    importance = view_importance(found, Explanation(), *agreement_table(found))
    assert importance.removable == {"copy": "it is redundant with one"}


def test_views_that_agree_are_witnesses_and_no_copies():
    data = lf.datasets.make_views(n_samples=90, n_clusters=3, n_views=2, separation=20.0, random_state=0)
    found = gather(lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views), data.views)
    names, table = agreement_table(found)
    assert table[0, 1] == 1.0
    assert view_importance(found, Explanation(), names, table).removable == {}


def test_a_view_of_noise_could_be_dropped():
    data = lf.datasets.make_views(n_samples=150, n_clusters=3, n_uninformative=1, separation=8.0, random_state=0)
    found = gather(lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views), data.views)
    names, table = agreement_table(found)
    importance = view_importance(found, Explanation(), names, table)
    assert "noise_0" in importance.removable


def test_a_reason_names_its_adjusted_rand_index(gathered):
    names, table = agreement_table(gathered)
    found = view_importance(gathered, Explanation(), names, np.full_like(table, 0.024)).removable
    assert (
        found["view_0"]
        == "its own clusters have almost nothing in common with the consensus (adjusted Rand index 0.02)"
    )


def test_verdicts_decide(gathered):
    names, table = agreement_table(gathered)
    table = np.full_like(table, 0.5)
    verdicts = [ViewVerdict("view_0", 0.1, 0.9, 0.2, 0.01), ViewVerdict("view_1", 0.1, 0.9, -0.2, 0.01)]
    importance = view_importance(gathered, Explanation(verdicts), names, table)
    assert importance.important == ["view_1"]
    assert list(importance.removable) == ["view_0"]
    unsure = [one._replace(standard_error=0.5) for one in verdicts]
    importance = view_importance(gathered, Explanation(unsure), names, table)
    assert importance == Importance([], {})


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


def test_the_command_line_computes_explanation_and_warnings_once(tmp_path, monkeypatch, capsys):
    write_tables(tmp_path)
    genes = pd.read_csv(tmp_path / "genes.csv")
    genes[9:].assign(constant=1).to_csv(tmp_path / "genes.csv", index=False)
    monkeypatch.chdir(tmp_path)
    calls = []
    own = lf.LateFusionClustering.leave_one_view_out

    def counted(model):
        calls.append(model)
        return own(model)

    monkeypatch.setattr(lf.LateFusionClustering, "leave_one_view_out", counted)
    words = ["cluster", "genes.csv", "proteins.csv", "-k", "3", "--explain", "--report", "page.html", "--json"]
    assert main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(calls) == 1
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for verdict in answer["dropping"]:
        assert f"{signed(verdict['gain'], 3)} ± {verdict['standard_error']:.3f}" in page
    assert len(answer["warnings"]) == 2
    for warning in answer["warnings"]:
        assert f"<li>{warning}</li>" in page


def test_verdicts_are_columns_of_a_table(deciding, agreed):
    columns = verdict_columns(deciding.leave_one_view_out())
    assert list(columns) == ["changed", "stability", "advice"]
    verdicts = agreed.leave_one_view_out()
    columns = verdict_columns(verdicts)
    assert list(columns) == ["with others", "changed", "advice"]
    assert columns["with others"] == [one.agreement for one in verdicts]


def test_a_clustering_of_noise_could_be_removed_for_a_reason_of_its_own(labelings):
    X = {**labelings, "noise": np.random.default_rng(0).integers(4, size=90)}
    model = lf.ConsensusClustering(3, random_state=0).fit(X)
    found = gather(model, X)
    importance = view_importance(found, explain_views(model), *agreement_table(found))
    assert importance.removable["noise"].startswith("it has no more in common with the others than chance")
    assert importance.effect == "more than 5% of the labels change"
