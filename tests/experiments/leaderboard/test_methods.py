import pytest

from latefusion.baselines import METHODS
from latefusion.experiments.leaderboard.methods import (
    NEEDS_FEATURES,
    NO_MISSING_VIEWS,
    Entrant,
    entrants,
    find_entrants,
)
from latefusion.experiments.leaderboard.results import FAMILIES, MethodEntry
from tests.test_docs import DOCS


def test_every_class_of_the_package_enters_once():
    classes = [entrant.estimator for entrant in entrants().values()]
    assert len(classes) == len(set(classes))
    assert set(METHODS.values()) < set(classes)
    assert len(classes) == len(set(METHODS.values())) + 3


def test_entries_have_a_known_family_and_a_page_of_the_documentation():
    for entrant in entrants().values():
        entry = entrant.entry
        assert entry.family in FAMILIES
        assert (DOCS / entry.page).with_suffix(".md").exists(), entry
        assert entry.year is None or 2000 < entry.year < 2030
        assert entry.class_name.endswith(f".{entrant.estimator.__name__}")
        assert (entry.year is None) == (entry.family == "baseline" or entry.name == "LateFusionClustering")


def test_estimators_have_default_parameters_but_for_the_problem():
    for entrant in entrants().values():
        model = entrant.configured(4, "kernels", 7)
        expected = entrant.estimator(4).get_params() | {"random_state": 7, "similarity": "precomputed"}
        assert model.get_params() == expected
        assert entrant.configured(4, "features", 7).get_params() == expected | {
            "similarity": entrant.estimator(4).similarity
        }


def test_what_a_method_cannot_take_is_refused_by_a_reason():
    every = entrants()
    assert every["SNF"].refusal("features", 0.1) == NO_MISSING_VIEWS
    assert every["NEMO"].refusal("features", 0.1) == every["SNF"].refusal("kernels", 0.0) == ""
    assert {name for name, one in every.items() if one.takes_missing_views} == {
        "LateFusionClustering", "LF-MVC-GAM", "LF-MVC-LAM", "LF-IMVC", "NEMO", "OPLFMVC", "EE-IMVC",
    }  # fmt: skip


class Plain:
    """A clusterer of features without a seed."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters


def test_a_clusterer_needs_no_more_than_a_number_of_clusters():
    entrant = Entrant(MethodEntry("plain", "tests.Plain", None, "outside", None), Plain)
    assert not entrant.has_seed
    assert entrant.refusal("kernels", 0.0) == NEEDS_FEATURES
    assert entrant.refusal("features", 0.2) == NO_MISSING_VIEWS
    assert vars(entrant.configured(3, "features", 1)) == {"n_clusters": 3}


def test_a_clusterer_says_by_an_attribute_that_it_takes_missing_views():
    class Tolerant(Plain):
        accepts_missing_views = True

    entrant = Entrant(MethodEntry("plain", "tests.Plain", None, "outside", None), Tolerant)
    assert entrant.refusal("features", 0.2) == ""


def test_methods_are_found_by_name():
    assert [one.name for one in find_entrants(["snf", "LF-MVC-gam"])] == ["SNF", "LF-MVC-GAM"]
    assert find_entrants() == list(entrants().values())
    with pytest.raises(ValueError, match=r"Unknown method 'other'\. Choose from LateFusionClustering"):
        find_entrants(["other"])
