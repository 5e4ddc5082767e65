"""Rows, labels and confidence of new samples, whatever container rows are wanted in."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import latefusion as lf
from latefusion.assignment import ASSIGNMENTS

DATA = lf.datasets.make_views(80, 3, n_views=2, random_state=0)
ESTIMATORS = [lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering, lf.LateFusionClustering]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("container", ["default", "pandas", "polars"])
def test_training_samples_get_back_what_they_have(estimator, container):
    model = estimator(3, random_state=0).set_output(transform=container).fit(DATA.views)
    np.testing.assert_allclose(np.asarray(model.transform(DATA.views)), model.consensus_, atol=1e-3)
    np.testing.assert_array_equal(model.predict(DATA.views), model.labels_)
    labels, sure = model.predict(DATA.views, return_confidence=True)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_allclose(sure, model.confidence_, atol=1e-2)
    np.testing.assert_array_equal(np.asarray(estimator(3, random_state=0).fit_transform(DATA.views)), model.consensus_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("assign_labels", sorted(ASSIGNMENTS))
def test_every_rule_labels_training_samples_as_fit_does(estimator, assign_labels):
    model = estimator(3, assign_labels=assign_labels, random_state=0).fit(DATA.views)
    np.testing.assert_array_equal(model.predict(DATA.views), model.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("transform", {}),
        ("predict", {}),
        ("predict", {"return_confidence": True}),
        ("predict", {"return_novelty": True}),
    ],
)
def test_nothing_without_a_fit(estimator, method, options):
    with pytest.raises(NotFittedError):
        getattr(estimator(3), method)(DATA.views, **options)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("holes", [False, True])
def test_training_samples_are_not_novel_and_far_ones_are(estimator, holes):
    views = {name: np.array(view) for name, view in DATA.views.items()}
    if holes:
        views[DATA.views.names[1]][::4] = np.nan
    model = estimator(3, random_state=0).fit(views)
    _, novelty = model.predict(views, return_novelty=True)
    np.testing.assert_allclose(novelty, model.novelty_)
    assert np.mean(model.novelty_ > 1) <= 0.05
    _, far = model.predict({name: view + 100 for name, view in DATA.views.items()}, return_novelty=True)
    assert far.min() > 1


def test_novelty_of_many_training_samples_waits_until_it_is_asked_for(monkeypatch):
    monkeypatch.setattr("latefusion.estimators.new_samples.LARGEST_TRAINING", 79)
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(DATA.views)
    assert model.novelty_ is None
    assert model.predict(DATA.views, return_novelty=True)[1].shape == (80,)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_sparse_format_gives_the_same_labels_and_memberships(estimator, kind):
    """What scikit-learn's checks of sparse input would do, which expect a classifier where there is `predict_proba`."""
    rng = np.random.default_rng(0)
    dense = rng.random((40, 3)) * (rng.random((40, 3)) > 0.2)
    expected = estimator(4, random_state=0).fit(sp.csr_array(dense))
    for name in ("csr", "csc", "coo", "dok", "lil", "dia", "bsr"):
        X = getattr(sp, f"{name}_{kind}")(dense)
        model = estimator(4, random_state=0).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.predict(X), expected.labels_)
    assert model.predict_proba(X).shape == (40, 4)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), expected.labels_)
