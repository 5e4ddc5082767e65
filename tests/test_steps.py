"""Work says how far it is: in order, from nothing to all, and only where somebody listens."""

import pytest

import latefusion as lf
from latefusion.steps import listening, say, within


def heard_in(work):
    heard = []
    with listening(lambda step, share: heard.append((step, share))):
        work()
    return heard


def test_parts_of_parts_add_up():
    def work():
        say("a", 0.0)
        with within(0.5, 1.0):
            say("b", 0.5)
            with within(0.5, 1.0):
                say("c", 0.5)
        say("d", 1.0)

    assert heard_in(work) == [("a", 0.0), ("b", 0.75), ("c", 0.875), ("d", 1.0)]


def test_nobody_has_to_listen():
    heard = heard_in(lambda: None)
    say("nothing", 0.5)
    with within(0.0, 0.5):
        say("nothing", 0.5)
    assert heard == []


def test_an_error_ends_the_listening():
    heard = []
    with pytest.raises(KeyError), listening(lambda *told: heard.append(told)), within(0.0, 0.5):
        raise KeyError
    say("nothing", 0.5)
    assert heard == []


@pytest.mark.parametrize(
    ("estimator", "least"),
    [
        (lf.LateFusionClustering(3, random_state=0), 8),
        (lf.LateFusionClustering("auto", random_state=0), 20),
        (lf.GlobalAlignmentClustering(3, random_state=0), 5),
        (lf.LocalAlignmentClustering(3, random_state=0), 5),
    ],
    ids=["given number", "number sought", "global", "local"],
)
@pytest.mark.parametrize("holes", [False, True])
def test_a_fit_goes_from_nothing_to_nearly_all(estimator, least, holes):
    views = lf.datasets.make_views(120, 3, n_views=3, random_state=0).views
    if holes:
        views = [view.copy() for view in views.arrays]
        views[0][:20] = float("nan")
    shares = [share for _, share in heard_in(lambda: estimator.fit(views))]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert 0.85 <= shares[-1] < 1.0
    assert len(set(shares)) >= (3 if holes and least == 5 else least)


def test_leaving_out_views_names_them():
    model = lf.LateFusionClustering(3, random_state=0).fit(lf.datasets.make_views(120, 3, random_state=0).views)
    heard = heard_in(model.leave_one_view_out)
    assert [step for step, _ in heard[1:]] == [f"without {name}" for name in model.view_names_]
    assert [share for _, share in heard] == sorted({share for _, share in heard})
