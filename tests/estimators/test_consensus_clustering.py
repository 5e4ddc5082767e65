"""Consensus of clusterings: what must not matter does not, what all say is found, and nothing of size n x n is made."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

import latefusion as lf
from latefusion.assignment import ASSIGNMENTS
from latefusion.metrics import adjusted_rand


def same(first, second):
    """Whether two labelings are the same up to names."""
    return adjusted_rand(first, second) == 1.0


def noisy(labels, share, rng):
    """Labels of which a share is drawn anew."""
    changed = rng.random(len(labels)) < share
    return np.where(changed, rng.integers(labels.max() + 1, size=len(labels)), labels)


@pytest.fixture
def truth(seed):
    return np.random.default_rng(seed).integers(4, size=300)


@pytest.fixture
def labelings(truth, seed):
    """Noisy, coarse and fine versions of the same clusters."""
    rng = np.random.default_rng(seed + 10)
    fine = truth * 3 + rng.integers(3, size=len(truth))
    return [*(noisy(truth, 0.2, rng) for _ in range(4)), truth // 2, noisy(fine, 0.1, rng)]


@pytest.mark.parametrize("n_clusters", [4, "auto", None])
def test_planted_clusters_are_found(truth, labelings, n_clusters):
    model = lf.consensus(labelings, n_clusters, random_state=0)
    assert model.n_clusters_ == 4
    assert lf.metrics.clustering_accuracy(truth, model.labels_) > 0.97
    assert model.labels_.shape == model.confidence_.shape == (300,)
    assert model.view_weights_.shape == model.agreement_.shape == (6,)


@pytest.mark.parametrize("number", [2, 3, 5, 8, 12])
def test_the_number_of_clusters_is_found(number, seed):
    """From k-means with numbers drawn between 2 and 20, as nobody knows the right one."""
    rng = np.random.default_rng(seed)
    centers = 12 * np.eye(number)
    X = centers[rng.integers(number, size=400)] + rng.standard_normal((400, number))
    drawn = rng.integers(2, 21, size=15)
    runs = [KMeans(int(k), n_init=1, random_state=i).fit(X) for i, k in enumerate(drawn)]
    assert lf.consensus(runs, random_state=0).n_clusters_ == number


def test_the_numbers_of_clusters_of_the_labelings_are_evidence(seed):
    """Two pairs of clusters that are hard to tell apart: the first eigenvalue is by far the largest."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=600)
    runs = []
    for _ in range(8):
        pair = np.where(rng.random(600) < 0.1, rng.integers(2, size=600), truth // 2)
        within = np.where(rng.random(600) < 0.43, rng.integers(2, size=600), truth % 2)
        runs.append(2 * pair + within)
    model = lf.consensus(runs, random_state=0)
    assert np.argmax(-np.diff(model.eigenvalues_)) == 0
    assert model.n_clusters_ == 4
    assert lf.consensus([one // 2 for one in runs], random_state=0).n_clusters_ == 2


@pytest.mark.parametrize("share", [0.3, 0.5, 0.6])
def test_labels_agree_with_the_labelings_at_least_as_well_as_k_means_on_indicators(truth, share, seed):
    rng = np.random.default_rng(seed + 20)
    runs = [noisy(truth, share, rng) for _ in range(7)]
    columns = np.hstack([np.eye(4)[one] for one in runs])
    others = KMeans(4, n_init=10, random_state=0).fit_predict(columns)
    model = lf.consensus(runs, 4, weights="equal", random_state=0)
    here, there = (np.mean([adjusted_rand(one, labels) for one in runs]) for labels in (model.labels_, others))
    assert here >= there - 1e-3


def test_labels_are_the_largest_votes_and_votes_add_up(labelings):
    model = lf.consensus(labelings, 4, random_state=0)
    np.testing.assert_array_equal(np.argmax(model.consensus_, axis=1), model.labels_)
    unassigned = np.full(300, -1)
    alone = [
        model.transform([one if place == kept else unassigned for place, one in enumerate(labelings)])
        for kept in range(len(labelings))
    ]
    np.testing.assert_allclose(np.sum(alone, axis=0), model.consensus_, atol=1e-12)


@pytest.mark.parametrize("n_clusters", [8, 16])
def test_more_clusters_than_any_labeling_has(truth, n_clusters, seed):
    rng = np.random.default_rng(seed)
    model = lf.consensus([noisy(truth, 0.5, rng) for _ in range(4)], n_clusters, random_state=0)
    assert len(np.unique(model.labels_)) == n_clusters


def test_names_types_and_order_of_labelings_do_not_matter(labelings, seed):
    rng = np.random.default_rng(seed)
    renamed = [rng.permutation(50)[one] for one in labelings]
    strings = [np.array([f"cluster {label}" for label in one]) for one in labelings]
    objects = [pd.Categorical(one) for one in strings]
    expected = lf.consensus(labelings, 4, random_state=0)
    for other in (renamed, strings, objects, labelings[::-1]):
        found = lf.consensus(other, 4, random_state=0)
        assert same(found.labels_, expected.labels_)
        gram = found.consensus_ @ found.consensus_.T
        np.testing.assert_allclose(gram, expected.consensus_ @ expected.consensus_.T, atol=1e-6)
    np.testing.assert_allclose(found.view_weights_[::-1], expected.view_weights_, atol=1e-5)


def test_all_containers_give_the_same(labelings):
    named = {f"run {i}": one for i, one in enumerate(labelings)}
    expected = lf.consensus(labelings, 4, random_state=0).labels_
    frame = pd.DataFrame(named)
    ids = frame.set_axis([f"s{i}" for i in range(300)])
    shuffled = {name: one.sample(frac=1, random_state=1) if i else one for i, (name, one) in enumerate(ids.items())}
    for X in (named, frame, pl.DataFrame(named), np.column_stack(labelings), tuple(labelings), ids, shuffled):
        np.testing.assert_array_equal(lf.consensus(X, 4, random_state=0).labels_, expected)


def test_rows_are_never_matched_silently(truth):
    first, second = pd.Series(truth), pd.Series(truth, index=np.arange(300)[::-1])
    with pytest.raises(ValueError, match="have no ids"):
        lf.consensus([first, second, truth])


@pytest.mark.parametrize("times", [1, 2, 5])
def test_consensus_of_equal_labelings_is_that_labeling(truth, times):
    model = lf.consensus([truth] * times, random_state=0)
    assert same(model.labels_, truth)
    np.testing.assert_allclose(model.agreement_, 1.0)
    np.testing.assert_allclose(model.confidence_, 1.0, atol=1e-6)
    np.testing.assert_allclose(model.eigenvalues_[:3], 1.0)


def test_copies_change_nothing_unless_they_are_to_count(labelings, seed):
    odd = noisy(labelings[0], 1.0, np.random.default_rng(seed + 100))
    copied = [*labelings, *[odd] * 30]
    here, there = (lf.consensus(one, 4, random_state=0) for one in ([*labelings, odd], copied))
    assert same(here.labels_, there.labels_)
    outvoted = lf.consensus(copied, 4, weights="equal", random_state=0)
    assert same(outvoted.labels_, odd)


def test_the_majority_wins_where_all_count_alike(truth, seed):
    other = np.random.default_rng(seed + 100).integers(4, size=300)
    assert same(lf.consensus([*[truth] * 3, other], 4, weights="equal", random_state=0).labels_, truth)
    assert same(lf.consensus([truth, other], 4, weights=[3, 1], random_state=0).labels_, truth)
    assert same(lf.consensus({"a": truth, "b": other}, 4, weights={"b": 1, "a": 0}, random_state=0).labels_, other)


def test_noise_has_little_weight(labelings, truth, seed):
    noise = np.random.default_rng(seed + 100).integers(20, size=300)
    model = lf.consensus([*labelings, noise], 4, random_state=0)
    assert model.view_weights_[-1] < model.view_weights_[:4].min() / 3
    assert model.agreement_[-1] < 0.1
    assert lf.metrics.clustering_accuracy(truth, model.labels_) > 0.95


def test_unassigned_samples_follow_the_others(truth, seed):
    rng = np.random.default_rng(seed)
    hidden = [np.where(rng.random(300) < 0.3, -1, truth) for _ in range(5)]
    seen = np.any([one >= 0 for one in hidden], axis=0)
    hidden[0] = np.where(seen, hidden[0], truth)
    model = lf.consensus(hidden, random_state=0)
    assert same(model.labels_, truth)
    np.testing.assert_allclose(model.agreement_, 1.0, atol=1e-9)  # on what each of them knows


def test_memberships_embeddings_and_clusterers_take_part(truth, seed):
    rng = np.random.default_rng(seed)
    X = 6 * np.eye(4)[truth] + rng.standard_normal((300, 4))
    soft = GaussianMixture(4, random_state=0).fit(X).predict_proba(X)
    kmeans = KMeans(6, n_init=1, random_state=0).fit(X)
    mixture = {"soft": soft, "embedding": X, "kmeans": kmeans, "dbscan": DBSCAN(eps=2.0).fit(X)}
    model = lf.consensus(mixture, 4, random_state=0)
    assert lf.metrics.clustering_accuracy(truth, model.labels_) > 0.97
    hard = np.eye(4)[truth]
    here, there = (lf.consensus([one, kmeans], 4, random_state=0) for one in (hard, truth))
    assert same(here.labels_, there.labels_)


def test_training_samples_get_their_labels_back_and_new_ones_those_of_their_like(labelings, truth):
    labelings = labelings[:5]
    first, second = np.arange(0, 300, 2), np.arange(1, 300, 2)
    model = lf.consensus([one[first] for one in labelings], 4, random_state=0)
    np.testing.assert_array_equal(model.predict([one[first] for one in labelings]), model.labels_)
    np.testing.assert_allclose(model.transform([one[first] for one in labelings]), model.consensus_)
    found = model.predict([one[second] for one in labelings])
    assert lf.metrics.clustering_accuracy(truth[second], found) > 0.9
    unsure = [labelings[0][second], *(np.full(150, -1) for _ in labelings[1:])]
    assert lf.metrics.clustering_accuracy(truth[second], model.predict(unsure)) > 0.6


def test_clusterers_predict_for_new_samples(truth, seed):
    rng = np.random.default_rng(seed)
    X = 8 * np.eye(4)[truth] + rng.standard_normal((300, 4))
    runs = {"a": KMeans(4, n_init=1, random_state=0).fit(X[:200]), "b": KMeans(7, random_state=1).fit(X[:200])}
    model = lf.consensus(runs, 4, random_state=0)
    by_labels = model.predict({name: run.predict(X[200:]) for name, run in runs.items()})
    np.testing.assert_array_equal(model.predict({"b": X[200:], "a": X[200:]}), by_labels)


def test_scikit_learn_conventions(labelings):
    model = lf.ConsensusClustering(4, random_state=0)
    labels = clone(model).fit_predict(labelings)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model.fit(labelings))).labels_, labels)
    copies = [one.copy() for one in labelings]
    model.fit(labelings)
    for one, copy in zip(labelings, copies, strict=True):
        np.testing.assert_array_equal(one, copy)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        lf.ConsensusClustering(4, max_iter=1).fit(labelings)


@pytest.mark.parametrize("assign_labels", sorted(ASSIGNMENTS))
@pytest.mark.parametrize("regularization", [0.0, 1.0])
def test_options(labelings, truth, assign_labels, regularization):
    model = lf.consensus(labelings, 4, assign_labels=assign_labels, regularization=regularization, random_state=0)
    assert lf.metrics.clustering_accuracy(truth, model.labels_) > 0.7
    assert np.all(np.diff(model.objective_) > -1e-9)


def test_one_cluster_is_one_cluster(labelings):
    model = lf.consensus(labelings, 1, random_state=0)
    assert not model.labels_.any()
    assert not model.agreement_.any()


A = np.array([0, 0, 1, 1, 2, 2])
SOFT = np.full((6, 2), 0.5)
BAD = {
    "empty": ([], {}, "no views"),
    "lengths": ({"a": A, "b": A[:5]}, {}, r"lengths differ: \{'a': 6, 'b': 5\}"),
    "unassigned everywhere": (
        [[-1, 0, 0, 1, 1, -1], [-1, 1, 0, 1, 0, 0]],
        {},
        "unassigned in every partition; the first is sample 0",
    ),
    "one cluster": ({"a": A, "b": [1] * 6}, {}, "'b' has only the cluster 1"),
    "all unassigned": ({"a": A, "b": [-1] * 6}, {}, "'b' has no cluster at all"),
    "floats": ({"a": A, "b": np.linspace(0, 1, 6)}, {}, "'b' holds 0.2"),
    "names of samples": ({"a": A, "b": list("abcdef")}, {}, "'b' has 6 different labels"),
    "negative memberships": ([A, SOFT - 1], {"kind": ["labels", "memberships"]}, "'view_1' holds negative memberships"),
    "NaN memberships": ([A, SOFT * np.nan], {"kind": {"view_0": "auto", "view_1": "memberships"}}, "'view_1'.*NaN"),
    "not fitted": ({"a": A, "b": KMeans(2)}, {}, "'b' is a KMeans without labels_"),
    "too many clusters": ([A], {"n_clusters": 5}, "only 3 groups"),
    "more clusters than samples": ([A], {"n_clusters": 7}, "n_samples=6"),
    "kinds": ([A, A], {"kind": ["labels"]}, "kind has 1 entries for 2"),
    "weights": ([A, A], {"weights": [1, -1]}, "weights must be numbers >= 0"),
    "weight names": ({"a": A}, {"weights": {"b": 1}}, "weights contains unknown views"),
    "one labeling": (A, {}, r"one labeling per column; got shape \(6,\)"),
    "no list": (7, {}, "list or a dict"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    X, options, words = BAD[name]
    with pytest.raises(ValueError, match=words):
        lf.consensus(X, **options)


def test_bad_new_samples_are_named():
    model = lf.consensus({"a": A, "b": A // 2}, 2, random_state=0)
    with pytest.raises(ValueError, match="'a' has the label 9"):
        model.predict({"a": [0, 9], "b": [0, 1]})
    with pytest.raises(ValueError, match=r"partitions \['a', 'b'\]; got \['a', 'c'\]\. Give some or all\."):
        model.predict({"a": [0, 1], "c": [0, 1]})
    with pytest.raises(ValueError, match="unassigned in every partition; the first is sample 1"):
        model.predict({"a": [0, -1]})
    with pytest.raises(ValueError, match="unassigned in every partition; the first is sample 1"):
        model.predict([[0, -1], [0, -1]])


def test_errors_name_the_id_of_an_unassigned_sample():
    ids = [f"patient {i}" for i in range(6)]
    frame = pd.DataFrame({"a": [0, 0, 1, 1, 1, -1], "b": [0, 1, 1, 0, 0, -1]}, index=ids)
    with pytest.raises(ValueError, match="'patient 5'"):
        lf.consensus(frame)


LARGE = """
import json, resource, time
import numpy as np
import latefusion as lf
rng = np.random.default_rng(0)
times, peaks = [], []
before = None
for n in (50_000, 200_000):
    truth = rng.integers(8, size=n)
    partitions = []
    for _ in range(20):
        clusters = int(rng.integers(8, 21))
        fine = (truth + 8 * (rng.random(n) < 0.5)) % clusters
        partitions.append(np.where(rng.random(n) < 0.1, -1, fine))
    partitions[0] = truth
    if before is None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = lf.consensus(partitions, 8, n_init=3, random_state=0)
    model.predict([one[:1000] for one in partitions])
    times.append(time.perf_counter() - start)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(json.dumps([times, peaks]))
"""


def test_time_and_memory_are_linear():
    """At 200 000 samples one n x n array would have 320 GB; 20 labelings are 32 MB."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    times, peaks = json.loads(done.stdout)
    unit = 1 if sys.platform == "darwin" else 1024
    assert peaks[-1] * unit / 1e6 < 500, peaks
    assert times[1] < 12 * times[0] + 1, times


def test_opinions_are_what_went_in():
    words = pd.Series(["a", "b", "b", "c", "c", "a"], index=list("uvwxyz"))
    shares = pd.DataFrame(np.eye(3)[[0, 1, 1, 2, 2, 0]] * 0.7 + 0.1, index=words.index)
    model = lf.ConsensusClustering(3, random_state=0).fit({"words": words, "shares": shares})
    (first, second), ids = model.partition_labels({"words": words, "shares": shares})
    assert ids.tolist() == list("uvwxyz")
    assert [first.names[label] for label in first.labels] == words.tolist()
    np.testing.assert_array_equal(second.labels, np.argmax(shares, axis=1))
    assert second.names == ["0", "1", "2"]
    assert first.assigned.all()


def test_unassigned_samples_have_no_opinion_and_embeddings_no_clusters():
    labels = np.array([0, 0, 1, 1, -1, 1])
    embedding = np.random.default_rng(0).normal(size=(6, 2))
    model = lf.ConsensusClustering(2, kind=["labels", "embedding"], random_state=0).fit([labels, embedding])
    (first, second), ids = model.partition_labels([labels, embedding])
    assert ids is None
    assert first.labels.tolist() == [0, 0, 1, 1, -1, 1]
    assert first.assigned.tolist() == [True] * 4 + [False, True]
    assert second.labels is None


def test_new_samples_come_with_confidence():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=90)
    runs = [noisy(truth, 0.2, rng) for _ in range(5)]
    model = lf.ConsensusClustering(3, random_state=0).fit(runs)
    labels, confidence = model.predict(runs, return_confidence=True)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_allclose(confidence, model.confidence_)
    found = lf.outputs.predicted_labels(model, runs)
    np.testing.assert_array_equal(found.labels, model.labels_)


def test_a_combination_of_clusters_that_no_sample_has_is_novel(truth):
    """Two labelings that agree: a sample in which they contradict each other is far from all others."""
    labelings = {"one": truth, "other": truth, "third": np.where(np.arange(len(truth)) % 5 == 0, -1, truth)}
    model = lf.ConsensusClustering(random_state=0).fit(labelings)
    assert model.novelty_.shape == (len(truth),)
    assert not (model.novelty_ > 1).any()
    first, second = np.unique(truth)[:2]
    new = {"one": [first, first], "other": [first, second], "third": [first, second]}
    labels, confidence, novelty = model.predict(new, return_confidence=True, return_novelty=True)
    assert labels[0] == model.labels_[truth == first][0]
    assert confidence.shape == (2,)
    assert novelty[0] == 0 < novelty[1]


def test_given_views_are_partitions_that_can_be_divided(truth, labelings):
    shares = np.eye(4)[truth]
    X = {"words": np.array(list("abcd"))[truth], "shares": shares, "numbers": labelings[0]}
    model = lf.consensus(X, 4, random_state=0)
    views = model.given_views(X)
    assert [array.shape[1] for array in views.arrays] == [1, 4, 1]
    half = lf.consensus({name: np.asarray(one)[:150] for name, one in X.items()}, 4, random_state=0)
    again = lf.consensus(views[:150], 4, random_state=0)
    np.testing.assert_array_equal(again.labels_, half.labels_)
    np.testing.assert_array_equal(again.predict(views[150:]), half.predict(views[150:]))


def test_a_partition_that_new_samples_lack_is_unassigned_for_them():
    series = {"a": pd.Series(A), "b": pd.Series(A // 2), "points": pd.DataFrame(np.eye(A.max() + 1)[A])}
    model = lf.consensus(series, 3, kind={"points": "embedding"}, random_state=0)
    new = {"b": series["b"][:4], "a": series["a"][:4]}
    unknown = pd.DataFrame(np.zeros((4, A.max() + 1)))
    expected = model.transform({**new, "points": unknown})
    np.testing.assert_array_equal(model.transform(new), expected)
    assert not model.new_views(new).arrays[2].nnz
    given = model.given_views(new)
    assert [one.shape for one in given.arrays] == [(4, 1), (4, 1), (4, 3)]
    np.testing.assert_array_equal(model.predict(given), model.predict(new))
    given = model.given_views({"points": series["points"]})
    np.testing.assert_array_equal(model.predict(given), model.predict({"points": series["points"]}))


def test_numbers_to_choose_from():
    """The choice among some numbers is that among all, if it is one of them."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=200)
    runs = [np.where(rng.random(200) < 0.1, rng.integers(4, size=200), truth) for _ in range(4)]
    free = lf.consensus(runs, random_state=0)
    assert free.n_clusters_ == 4
    for numbers in (range(2, 7), [6, 4], (4,), np.array([3, 4])):
        model = lf.consensus(runs, numbers, random_state=0)
        np.testing.assert_array_equal(model.labels_, free.labels_)
    assert lf.consensus(runs, [7, 9], random_state=0).n_clusters_ == 7
    assert lf.consensus(runs, [2, 3], random_state=0).n_clusters_ in (2, 3)
    with pytest.raises(ValueError, match="a range or list of integers >= 2; got range"):
        lf.consensus(runs, range(1, 3))
