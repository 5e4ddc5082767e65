"""Late fusion of chunked views: the choices and the labels in memory."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from latefusion import distributed
from latefusion.distributed.first_pass import first_pass
from latefusion.distributed.stores import chunked_views
from latefusion.encoding import column_statistics, fit_preparation

RNG = np.random.default_rng(0)


# With "auto", samples between clusters may move differently: graphs of chunks have anchors.
@pytest.mark.parametrize(
    ("options", "agreement"),
    [({"assign_labels": "kmeans"}, 0.999), ({"similarity": "kernel"}, 0.999), ({}, 0.99)],
)
def test_choices_and_labels_are_those_in_memory(options, agreement, many, chunked):
    views, target = many
    first, second, third = views
    units = 10.0 ** np.arange(-2, 3).repeat(2)
    views = {first: views[first], second: views[second] * units, third: views[third].astype(np.float32)}
    expected = lf.LateFusionClustering(4, random_state=0, **options).fit(views)
    model = distributed.LateFusionClustering(4, random_state=0, **options).fit(chunked(views, [400, 350, 300]))
    assert model.view_kinds_ == expected.view_kinds_
    assert model.view_kinds_[second] == "measurements"
    assert (model.similarity_, model.weighting_, model.regularization_) == (
        expected.similarity_,
        expected.weighting_,
        expected.regularization_,
    )
    assert model.partition_names_ == expected.partition_names_
    labels = model.labels_.compute()
    assert adjusted_rand_score(labels, expected.labels_) >= agreement
    assert adjusted_rand_score(labels, target) > 0.95
    np.testing.assert_allclose(model.view_weights_, expected.view_weights_, atol=1e-3)
    np.testing.assert_allclose(model.agreement_, expected.agreement_, atol=1e-3)
    new = {name: view[:300] for name, view in views.items()}
    assert (model.predict(new) == labels[:300]).mean() > 0.99
    assert (model.predict(chunked(new, 110)).compute() == labels[:300]).mean() > 0.99


def test_the_number_of_clusters_is_found_on_a_sample(planted, chunked):
    views = {name: view[:400] for name, view in planted[0].items()}
    model = distributed.LateFusionClustering([3, 4], similarity="kernel", random_state=0).fit(chunked(views, 150))
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(model.labels_.compute(), planted[1][:400]) > 0.95


@pytest.mark.parametrize("assign_labels", ["auto", "kmeans"])
def test_alternatives_are_those_of_the_rows_that_the_search_used(assign_labels, conflict, chunked, monkeypatch):
    monkeypatch.setattr("latefusion.selection.spaces.SEARCH_SAMPLES", 100)
    views, first, second = conflict
    options = {"similarity": "kernel", "assign_labels": assign_labels, "random_state": 0}
    model = distributed.LateFusionClustering(3, **options).fit(chunked(views, 50))
    labels = model.labels_.compute()
    (one,) = model.alternatives_
    assert len(one.samples) == 100
    np.testing.assert_array_equal(one.moved, one.samples[one.labels != labels[one.samples]])
    taken, other = (first, second) if one.view == "right" else (second, first)
    assert adjusted_rand_score(taken, labels) > 0.9
    assert adjusted_rand_score(other[one.samples], one.labels) > 0.9
    assert model.in_memory().alternatives_ is model.alternatives_


@pytest.mark.parametrize("sparse", [False, True])
def test_scalings_are_those_in_memory(sparse, chunked):
    views = {
        "counts": RNG.poisson(0.2, (800, 30)).astype(float),
        "distribution": RNG.dirichlet(np.ones(12), 800),
        "measurements": RNG.standard_normal((800, 5)) * 10.0 ** np.arange(5) + 7,
        "coordinates": RNG.standard_normal((800, 5)),
    }
    if sparse:
        views = {"counts": scipy.sparse.csr_array(views["counts"])}
    cut = chunked_views({name: next(iter(chunked({name: view}, 150).values())) for name, view in views.items()})
    found = first_pass(cut, [[np.arange(0, 800, 3)]] * cut.n_views, np.arange(0))
    for statistics, (name, view) in zip(found.statistics, views.items(), strict=True):
        one, other = fit_preparation(statistics), fit_preparation(column_statistics(view))
        assert one.kind == other.kind == name
        difference = one(view) - other(view)
        assert abs(difference).max() < 1e-9


def test_novelty_of_training_samples_is_lazy_and_that_of_prediction(planted, chunked):
    views = {name: view[:300] for name, view in planted[0].items()}
    model = distributed.LateFusionClustering(4, similarity="kernel", random_state=0).fit(chunked(views, 100))
    _, novelty = model.predict(views, return_novelty=True)
    np.testing.assert_allclose(model.novelty_.compute(), novelty)
    assert novelty.std() > 0


def test_new_samples_may_lack_views(planted, chunked):
    """The model that imputes rows is fitted from the same sums in memory and on chunks."""
    views = {name: view[:300] for name, view in planted[0].items()}
    model = distributed.LateFusionClustering(4, similarity="kernel", random_state=0).fit(chunked(views, 100))
    _, *others = views
    labels = model.predict({name: views[name] for name in others})
    assert adjusted_rand_score(labels, model.labels_.compute()) > 0.9


def test_what_cannot_be_had_of_chunks_is_refused(planted, chunked):
    """Diagnostics that need partitions in memory, and samples that lack views."""
    views = {name: view[:300] for name, view in planted[0].items()}
    model = distributed.LateFusionClustering(4, similarity="kernel", random_state=0).fit(chunked(views, 100))
    for name in ("weight_intervals", "leave_one_view_out", "searched_samples", "criterion", "n_clusters_path"):
        with pytest.raises(ValueError, match="fitted on chunked views"):
            getattr(model, name)()
    first, *_ = views
    holes = {**views, first: np.where(np.arange(300)[:, None] < 7, np.nan, views[first])}
    with pytest.raises(
        ValueError, match=rf"Some samples have missing views.*{{'{first}': 7}}.*GlobalAlignmentClustering"
    ):
        distributed.LateFusionClustering(4, random_state=0).fit(chunked(holes, 100))
