"""What every given clustering contributes to their consensus."""

import warnings

import numpy as np
import pytest

import latefusion as lf
from latefusion.metrics import adjusted_rand, match_labels, normalized_mutual_info


def noisy(labels, share, rng):
    changed = rng.random(len(labels)) < share
    return np.where(changed, rng.integers(labels.max() + 1, size=len(labels)), labels)


@pytest.fixture
def truth(seed):
    return np.random.default_rng(seed).integers(3, size=300)


@pytest.fixture
def labelings(truth, seed):
    rng = np.random.default_rng(seed + 1)
    return {**{f"run {one}": noisy(truth, 0.25, rng) for one in range(4)}, "noise": rng.integers(4, size=300)}


def by_name(model):
    return {one.view: one for one in model.leave_one_view_out()}


def test_verdicts_are_those_of_a_consensus_of_the_others(labelings):
    model = lf.consensus(labelings, 3, weights="equal", random_state=0)
    for name, verdict in by_name(model).items():
        rest = {key: one for key, one in labelings.items() if key != name}
        found = lf.consensus(rest, 3, weights="equal", random_state=0).labels_
        rest.pop("noise", None)
        related = lf.consensus(rest, 3, weights="equal", random_state=0).labels_
        changed = np.mean(match_labels(model.labels_, found) != model.labels_)
        assert verdict.changed == pytest.approx(changed)
        assert verdict.n_changed == round(changed * 300)
        assert verdict.agreement == pytest.approx(adjusted_rand(labelings[name], related))


def test_noise_is_unrelated_and_clusterings_of_the_same_clusters_are_not(labelings):
    found = by_name(lf.consensus(labelings, 3, random_state=0))
    assert [name for name, one in found.items() if one.unrelated] == ["noise"]
    assert found["noise"].advice == "remove"
    assert "no more in common with the others than chance. Remove it." in str(found["noise"])
    assert {one.advice for name, one in found.items() if name != "noise"} <= {"keep", "optional"}
    assert all(one.p_value <= 0.01 for name, one in found.items() if name != "noise")


@pytest.mark.filterwarnings("ignore:The consensus depends on single clusterings")
def test_noise_does_not_change_the_agreement_of_the_others(truth, seed):
    """The consensus of one clustering and noise would not be one that a third one can agree with."""
    rng = np.random.default_rng(seed + 1)
    pair = {"kmeans": noisy(truth, 0.2, rng), "snf": noisy(truth, 0.2, rng)}
    alone = by_name(lf.consensus(pair, 3, random_state=0))
    found = by_name(lf.consensus({"random": rng.integers(3, size=300), **pair}, 3, random_state=0))
    assert [found[name].unrelated for name in ("random", *pair)] == [True, False, False]
    for name, one in alone.items():
        assert found[name].agreement == pytest.approx(one.agreement)
    assert abs(found["random"].agreement) < 0.05


def test_names_of_clusters_and_the_order_of_clusterings_do_not_matter(labelings, seed):
    rng = np.random.default_rng(seed)
    renamed = {name: rng.permutation(20)[one] for name, one in reversed(labelings.items())}
    first, second = (by_name(lf.consensus(one, 3, random_state=0)) for one in (labelings, renamed))
    for name, one in first.items():
        assert one.agreement == pytest.approx(second[name].agreement, abs=0.02)
        assert one.advice == second[name].advice or abs(one.changed - 0.05) < 0.03


def test_a_copy_can_be_left_out_without_any_change(truth, seed):
    rng = np.random.default_rng(seed + 1)
    runs = {name: noisy(truth, 0.2, rng) for name in "abcd"}
    found = by_name(lf.consensus({**runs, "copy": runs["a"]}, 3, random_state=0))
    assert found["copy"].changed == found["a"].changed == 0
    assert found["copy"].advice == "optional"
    assert str(found["copy"]).startswith("Without 'copy': 0% of the labels change. Agreement with the consensus of the")


def test_if_no_clustering_agrees_with_the_others_all_of_them_do_not(seed):
    rng = np.random.default_rng(seed)
    model = lf.consensus([rng.integers(3, size=200) for _ in range(2)], 3, random_state=0)
    with pytest.warns(UserWarning, match="Their consensus has no meaning"):
        verdicts = model.leave_one_view_out()
    assert [(one.unrelated, one.advice) for one in verdicts] == [(True, "remove")] * 2
    assert all(one.p_value > 0.01 for one in verdicts)
    assert all(
        str(one).endswith("It has no more in common with the others than chance. Remove it.") for one in verdicts
    )


def test_samples_that_are_in_one_clustering_only_are_excluded(truth):
    first = np.where(np.arange(300) < 40, truth, -1)
    second = np.where(np.arange(300) < 10, -1, truth)
    found = by_name(lf.consensus({"first": first, "second": second}, 3, random_state=0))
    assert found["first"].left_out == 10
    assert found["second"].left_out == 260
    assert "260 samples have no other clustering and are excluded." in str(found["second"])
    assert found["second"].agreement == pytest.approx(1.0)


def test_the_others_may_distinguish_fewer_clusters(truth):
    found = by_name(lf.consensus({"fine": truth, "coarse": truth // 2}, 3, random_state=0))
    assert 0 < found["fine"].changed < 1
    assert found["coarse"].changed == 0


def test_embeddings_have_no_agreement_and_are_never_unrelated(truth, seed):
    rng = np.random.default_rng(seed)
    X = 6 * np.eye(3)[truth] + rng.standard_normal((300, 3))
    model = lf.consensus({"labels": truth, "again": noisy(truth, 0.1, rng), "points": X}, 3, random_state=0)
    found = by_name(model)
    assert np.isnan(found["points"].agreement)
    assert not found["points"].unrelated
    assert "adjusted Rand" not in str(found["points"])
    assert np.isnan(model.adjusted_rand_[2])
    assert model.n_clusters_per_view_.tolist() == [3, 3, 4]


def test_one_cluster_makes_no_clustering_unrelated(labelings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = by_name(lf.consensus(labelings, 1, random_state=0))
    assert all(one.advice == "optional" for one in found.values())


def test_scores_are_those_of_the_assigned_samples(truth, labelings):
    hidden = {**labelings, "part": np.where(np.arange(300) % 3 == 0, -1, truth)}
    model = lf.consensus(hidden, 3, random_state=0)
    for position, one in enumerate(hidden.values()):
        kept = one >= 0
        assert model.observed_[:, position].tolist() == kept.tolist()
        pair = one[kept], model.labels_[kept]
        assert model.adjusted_rand_[position] == pytest.approx(adjusted_rand(*pair))
        assert model.normalized_mutual_info_[position] == pytest.approx(normalized_mutual_info(*pair))
    table = model.summary().views
    assert {"clusters", "samples", "ARI", "NMI"} <= set(table.columns)
    assert table["samples"].tolist() == [300] * 5 + [200]


def test_one_partition_and_a_model_from_a_file_say_why(truth, labelings, tmp_path):
    with pytest.raises(ValueError, match="only one partition"):
        lf.consensus([truth], random_state=0).leave_one_view_out()
    model = lf.consensus(labelings, 3, random_state=0)
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    np.testing.assert_array_equal(again.adjusted_rand_, model.adjusted_rand_)
    np.testing.assert_array_equal(again.observed_, model.observed_)
    with pytest.raises(ValueError, match="loaded from a file"):
        again.leave_one_view_out()


def test_contradicting_groups_of_clusterings_are_noticed(truth, seed):
    """Two pairs that contradict each other: without one clustering of a pair the consensus is the other pair."""
    rng = np.random.default_rng(seed + 50)
    other = rng.integers(3, size=300)
    pairs = {
        "a": noisy(truth, 0.1, rng),
        "b": noisy(truth, 0.1, rng),
        "c": noisy(other, 0.1, rng),
        "d": noisy(other, 0.1, rng),
    }
    model = lf.consensus(pairs, 3, weights="equal", random_state=0)
    with pytest.warns(UserWarning, match="The consensus depends on single clusterings: without '[abcd]'"):
        verdicts = model.leave_one_view_out()
    assert max(one.changed for one in verdicts) > 0.3
    assert not any(one.unrelated for one in verdicts)  # each has its partner, if not the consensus of the others
    assert max(one.p_value for one in verdicts) < 0.01
