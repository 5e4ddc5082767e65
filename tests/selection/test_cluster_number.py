"""How many clusters."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection.cluster_number import WEAK, NumberEvidence, NumberOfClusters, stabilities


def evidence(stabilities, information=None):
    information = np.log(np.arange(2, 2 + len(stabilities))) if information is None else information
    return tuple(
        NumberEvidence(2 + position, value, 0.01, told)
        for position, (value, told) in enumerate(zip(stabilities, information, strict=True))
    )


def test_the_number_with_the_best_product_is_chosen():
    found = NumberOfClusters(evidence([0.9, 0.95, 1.0, 0.7, 0.5]), evidence([0.3] * 5))
    assert found.n_clusters == 4
    assert found.has_structure
    assert "Number of clusters: 4 (best of 2–6)" in found.reason
    assert "1.00 ± 0.01" in found.reason


def test_without_structure_the_most_stable_number_is_chosen_and_reported():
    found = NumberOfClusters(evidence([0.6, 0.5, 0.45, 0.4]), evidence([0.61, 0.52, 0.44, 0.41]))
    assert not found.has_structure
    assert found.is_weak
    assert found.n_clusters == 2
    assert "no evidence for clusters" in found.reason
    assert "0.60 ± 0.01" in found.warning
    assert "no evidence for clusters" in found.warning


def test_numbers_that_are_not_stable_do_not_compete_by_information():
    stability, information = [0.55, 0.39, 0.39, 0.39], [0.1, 0.4, 0.6, 0.9]
    found = NumberOfClusters(evidence(stability, information), evidence([0.1] * 4))
    assert max(found.evidence, key=lambda one: one.score).n_clusters == 5
    assert found.n_clusters == 2
    assert not found.is_weak
    assert found.warning is None
    assert "best of 2–5" in found.reason


def test_numbers_that_score_as_high_are_named():
    """The standard error of stability² × information is 2 × stability × its standard error × information."""
    found = NumberOfClusters(
        (
            NumberEvidence(2, 0.7, 0.01, 0.68),
            NumberEvidence(3, 1.0, 0.0, 1.0),
            NumberEvidence(4, 0.93, 0.06, 1.1),  # 0.95 ± 0.12
            NumberEvidence(5, 0.9, 0.02, 1.1),  # 0.89 ± 0.04
        ),
        evidence([0.1] * 4),
    )
    assert found.n_clusters == 3
    assert [one.n_clusters for one in found.tied] == [4]
    assert found.tied[0].score_error == pytest.approx(2 * 0.93 * 0.06 * 1.1)
    assert found.reason.endswith("Within the standard error, other numbers score as high: 4 (stability 0.93 ± 0.06).")
    clear = NumberOfClusters(found.evidence[:2] + found.evidence[3:], found.null)
    assert clear.tied == ()
    assert "score as high" not in clear.reason


def test_weak_structure_has_no_ties():
    found = NumberOfClusters(evidence([0.3, 0.3, 0.3]), evidence([0.1] * 3))
    assert found.is_weak
    assert found.tied == ()


def test_the_choice_prints_as_a_table():
    found = NumberOfClusters(evidence([0.9, 0.95]), evidence([0.3] * 2))
    assert repr(found) == repr(found.to_table())
    assert found.reason in repr(found)


def test_weak_structure_prefers_few_clusters_and_is_reported():
    stability, information = [0.2, 0.329, 0.33, 0.32], [0.1, 0.4, 0.6, 0.9]
    found = NumberOfClusters(evidence(stability, information), evidence([0.1] * 4))
    assert found.is_weak
    assert found.has_structure
    # The most stable number is 4; 3 is within a standard error of the difference, .014, and 2 is not.
    assert found.n_clusters == 3
    assert "3 (smallest of the most stable among 2–5)" in found.reason
    assert "no number has a stability of 0.4 or more" in found.reason
    assert "Weak structure: clusterings of 3 clusters" in found.warning
    assert "0.33 ± 0.01. No number of clusters reaches 0.4." in found.warning
    assert "no evidence" not in found.reason + found.warning


@pytest.mark.parametrize(("stability", "is_weak"), [(WEAK, False), (WEAK - 1e-9, True)])
def test_structure_is_weak_below_a_fixed_stability(stability, is_weak):
    assert NumberOfClusters(evidence([stability, 0.1]), evidence([0.0, 0.0])).is_weak == is_weak


@pytest.mark.parametrize("error", [0.0, 0.01, 0.3])
def test_weak_structure_never_gives_more_clusters_than_the_most_stable_number(error):
    generator = np.random.default_rng(0)
    for _ in range(50):
        own = tuple(one._replace(standard_error=error) for one in evidence(generator.uniform(0.0, 0.39, 8)))
        found = NumberOfClusters(own, evidence([0.0] * 8))
        top = max(own, key=lambda one: one.stability)
        assert found.n_clusters <= top.n_clusters
        assert top.stability - found.chosen.stability <= np.hypot(error, error)


@pytest.mark.parametrize(("n_clusters", "balance"), [(2, None), (5, None), (4, (0.1, 0.2, 0.3, 0.4))])
def test_planted_numbers_are_found(n_clusters, balance):
    data = lf.datasets.make_views(n_samples=200, n_clusters=n_clusters, balance=balance, random_state=n_clusters)
    model = lf.LateFusionClustering(range(2, 8), random_state=0).fit(data.views)
    assert model.n_clusters_ == n_clusters
    assert model.number_selection_.has_structure
    assert not model.number_selection_.is_weak
    assert [one.n_clusters for one in model.number_selection_.evidence] == list(range(2, 8))
    assert model.consensus_.shape == (200, n_clusters)
    assert lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)


def test_auto_needs_no_more_than_the_views():
    data = lf.datasets.make_views(n_samples=120, n_clusters=3, random_state=0)
    model = lf.LateFusionClustering("auto", random_state=0).fit(data.views)
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("draw", ["standard_normal", "random"])
def test_noise_and_uniform_clouds_are_called_weak(draw):
    generator = np.random.default_rng(0)
    views = [getattr(generator, draw)((150, 5)), getattr(generator, draw)((150, 4))]
    with pytest.warns(UserWarning, match=r"Weak structure: .* no evidence for clusters"):
        model = lf.LateFusionClustering(range(2, 6), random_state=0).fit(views)
    assert not model.number_selection_.has_structure
    assert model.number_selection_.is_weak


def test_clusters_that_overlap_are_called_weak_and_are_not_many():
    data = lf.datasets.make_views(n_samples=120, n_clusters=3, separation=1.8, random_state=0)
    with pytest.warns(UserWarning, match=r"Weak structure: .* No number of clusters reaches 0\.4"):
        model = lf.LateFusionClustering(range(2, 9), random_state=0).fit(data.views)
    assert model.number_selection_.has_structure
    assert model.number_selection_.is_weak
    assert model.n_clusters_ <= 3


def test_kernels_have_a_number_of_clusters_too():
    data = lf.datasets.make_views(n_samples=150, n_clusters=3, random_state=1)
    kernels = [lf.kernels.gaussian_kernel(view) for view in data.views.arrays]
    model = lf.LateFusionClustering(range(2, 6), similarity="precomputed", random_state=0).fit(kernels)
    assert model.n_clusters_ == 3


def test_stability_without_views_compares_the_same_halves():
    data = lf.datasets.make_views(n_samples=160, n_clusters=3, n_uninformative=1, random_state=2)
    with pytest.warns(UserWarning, match="'noise_0' is statistically unrelated"):
        model = lf.LateFusionClustering(3, random_state=0).fit(data.views)
    subsets = [range(4), *({*range(4)} - {view} for view in range(4))]

    def stability(subsets):
        return stabilities(model._state.sources, subsets, "graph", 3, model._state.options.assign, 0)

    found = stability(subsets)
    assert found.shape == (5, 5)
    np.testing.assert_array_equal(found, stability(subsets))
    assert found[0].mean() > 0.9
    np.testing.assert_array_equal(stability(subsets[:1]), found[:1])
    # Without the view of noise nothing is lost; without another view something is.
    assert found[4].mean() >= found[1:4].mean()


@pytest.mark.parametrize("wrong", [[], [1, 2], [2.5, 3], "most"])
def test_wrong_numbers_are_named(wrong):
    data = lf.datasets.make_views(n_samples=60, n_clusters=2, random_state=0)
    with pytest.raises(ValueError, match="n_clusters"):
        lf.LateFusionClustering(wrong).fit(data.views)


def test_too_few_samples_for_a_choice_are_named():
    views = [np.random.default_rng(0).standard_normal((12, 3))]
    with pytest.raises(ValueError, match="at least 20 of them, got 12"):
        lf.LateFusionClustering("auto").fit(views)


def test_the_evidence_is_a_table():
    evidence = [NumberEvidence(2, 0.9, 0.01, 0.5), NumberEvidence(3, 0.8, 0.02, 1.0)]
    found = NumberOfClusters(tuple(evidence), tuple(one._replace(stability=0.1) for one in evidence))
    table = found.to_table()
    assert table[1] == {
        **evidence[1]._asdict(),
        "without_clusters": 0.1,
        "score": evidence[1].score,
        "chosen": found.n_clusters == 3,
    }
    assert table.notes == (found.reason,)
    assert "<table>" in found._repr_html_()
