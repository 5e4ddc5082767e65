"""The table of candidates, and the rule that the default is left only for a real gain."""

import numpy as np

from latefusion.selection.criterion import Score
from latefusion.selection.table import Candidate, broad_candidates, choose, describe_settings, is_gain, revise_choice


def candidate(value, spread_by=(0.0, 0.0), kind="both", regularization=1.0, breadth=2.0):
    score = Score(value, value + np.array(spread_by), breadth)
    return Candidate(3, kind, "equal", regularization, None, "kmeans", score, np.zeros(4, dtype=np.int32))


def select(candidates):
    best, selection = choose(candidates, 60)
    [position] = [position for position, row in enumerate(selection) if row["chosen"]]
    assert candidates[position] is best
    return selection


def chosen(selection):
    return [row["chosen"] for row in selection].index(True)


def test_the_best_candidate_wins():
    selection = select([candidate(0.5), candidate(0.6), candidate(0.8, kind="graph"), candidate(0.7)])
    assert chosen(selection) == 2
    assert all(word in selection.reason for word in ("Best of 4", "'graph'", "0.800", "0.300"))


def test_the_default_is_kept_where_a_gain_may_be_chance():
    selection = select([candidate(0.5), candidate(0.52, (-0.3, 0.3))])
    assert chosen(selection) == 0
    assert all(word in selection.reason for word in ("default was kept", "0.020", "chance", "0.300"))


def test_the_default_is_kept_among_equals():
    selection = select([candidate(0.5), candidate(0.5, kind="graph")])
    assert chosen(selection) == 0
    assert selection.reason.startswith("The default was kept")
    assert chosen(select([candidate(0.5)])) == 0


def test_selection_is_a_table():
    selection = select([candidate(0.5), candidate(0.8, kind="graph", regularization=4.0)])
    assert len(selection) == 2
    assert [row["similarity"] for row in selection] == ["both", "graph"]
    assert selection[1]["regularization"] == 4.0
    assert selection.n_samples == 60
    columns = selection.to_dict()
    assert set(columns) == set(selection.columns) == set(selection[0])
    assert not {"labels", "view"} & set(columns)
    assert columns["score"] == [0.5, 0.8]
    first, second, *_ = repr(selection).splitlines()[2:]
    assert "graph" in first
    assert "*" in first
    assert "both" in second
    assert repr(selection).endswith(selection.reason)


def test_a_gain_that_is_printed_as_zero_is_no_reason_to_leave_the_default():
    selection = select([candidate(0.5), candidate(0.5004, kind="graph")])
    assert chosen(selection) == 0
    assert "0.000" not in selection.reason
    assert chosen(select([candidate(0.5), candidate(0.5006, kind="graph")])) == 1


def test_a_candidate_that_explains_one_view_only_is_not_chosen():
    """A mean over views is also won by following one view closely; the default explains two."""
    default, narrow, broad = candidate(0.5), candidate(0.9, breadth=1.3), candidate(0.7, breadth=1.4)
    assert chosen(select([default, narrow])) == 0
    assert chosen(select([default, narrow, broad])) == 2
    assert chosen(select([candidate(0.5, breadth=1.5), narrow])) == 1


def test_broad_candidates_explain_two_thirds_of_what_the_default_explains():
    tried = [candidate(0.5), candidate(0.9, breadth=1.3), candidate(0.1, breadth=1.4)]
    assert broad_candidates(tried) == [tried[0], tried[2]]


def test_settings_are_described_in_words():
    one = candidate(0.5, kind="graph", regularization=4.0)
    assert describe_settings(one) == "similarity 'graph', views weighted equally, regularization=4"
    assert str(one) == f"{describe_settings(one)}, score 0.500"
    described = describe_settings(one._replace(weighting="agreement", n_shared_components=1))
    assert described.endswith("by agreement, regularization=4, missing rows imputed from 1 shared component")


def test_a_revised_choice_marks_another_row_and_says_why():
    selection = select([candidate(0.5), candidate(0.6), candidate(0.8, kind="graph")])
    revised = revise_choice(selection, 1, "the second", 2, 0.0123, 0.004)
    assert [row["chosen"] for row in revised] == [False, True, False]
    assert [row["score"] for row in revised] == [row["score"] for row in selection]
    assert revised.reason == (
        "Best final labels of the first 2 of 3 candidates: the second. They score 0.012 ± 0.004 more than those of the "
        "candidate with the highest score before."
    )
    assert revised.n_samples == selection.n_samples


def test_a_gain_exceeds_its_standard_error_and_is_not_printed_as_zero():
    assert is_gain(0.02, 0.01)
    assert not is_gain(0.02, 0.02)
    assert not is_gain(0.0004, 0.0)
    assert not is_gain(-0.1, 0.0)


def test_selections_in_notebooks_are_tables_with_the_best_first():
    page = choose([candidate(0.5), candidate(0.9)], 10)[1]._repr_html_()
    assert page.index("0.9") < page.index("0.5")
    assert page.count("<tr>") == 3
    assert "class='note'" in page
