"""Summaries of fitted models: the numbers of the model, in text, tables and HTML."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.summaries import LOW_CONFIDENCE, novelty_line, summarize, two_digits

DATA = lf.datasets.make_views(60, 3, n_views=2, random_state=0)
VIEWS = {"genes <b>": DATA.views.arrays[0], "words": DATA.views.arrays[1]}
RUNS = {"a": DATA.target, "b": (DATA.target + 1) % 3}


@pytest.fixture(scope="module")
def model():
    return lf.LateFusionClustering([2, 3], random_state=0).fit(VIEWS)


def test_clusters_and_views_are_those_of_the_model(model):
    summary = model.summary()
    assert summary.head == "60 samples, 2 views: 3 clusters"
    np.testing.assert_array_equal(summary.clusters["cluster"], [0, 1, 2])
    np.testing.assert_array_equal(summary.clusters["samples"], np.bincount(model.labels_))
    np.testing.assert_allclose(summary.clusters["share"], np.bincount(model.labels_) / 60)
    medians = [np.median(model.confidence_[model.labels_ == one]) for one in range(3)]
    np.testing.assert_allclose(summary.clusters["confidence"], medians)
    assert summary.views["view"].tolist() == list(VIEWS)
    np.testing.assert_array_equal(summary.views["weight"], model.view_weights_)
    np.testing.assert_array_equal(summary.views["agreement"], model.agreement_)
    np.testing.assert_array_equal(summary.views["samples"], 60)
    assert summary.confidence == np.median(model.confidence_)
    assert summary.doubtful == np.sum(model.confidence_ < LOW_CONFIDENCE)
    assert summary.novel == np.sum(model.novelty_ > 1)
    assert summary.reasons == (model.number_selection_.reason, model.selection_.reason)


def test_text_and_html_contain_all_of_it(model):
    summary = model.summary()
    text, page = repr(summary), summary._repr_html_()
    assert text.startswith("60 samples, 2 views: 3 clusters\n\ncluster  samples  share  confidence\n")
    for note in summary.notes:
        assert note in text
    assert f"{summary.views['weight'][0]:.2f}" in text
    assert "genes &lt;b&gt;" in page
    assert "genes <b>" not in page
    assert page.count("<table>") == 2
    assert str(summary) == text


def test_a_data_frame_has_the_clusters(model):
    frame = model.summary().to_frame()
    assert frame["samples"].sum() == 60
    assert model.summary().views.to_frame().shape[0] == 2


@pytest.mark.parametrize(
    ("estimator", "X", "has_confidence"),
    [
        (lf.GlobalAlignmentClustering(3, random_state=0), VIEWS, True),
        (lf.LocalAlignmentClustering(3, random_state=0), VIEWS, True),
        (lf.ConsensusClustering(3, random_state=0), RUNS, True),
        (METHODS["concat-kmeans"](3, random_state=0), VIEWS, False),
        (METHODS["GMC"](3), VIEWS, False),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_estimator_has_a_summary(estimator, X, has_confidence):
    fitted = clone(estimator).fit(X)
    summary = fitted.summary()
    assert summary.clusters["samples"].sum() == 60
    assert summary.views["view"].tolist() == list(X)
    assert (summary.confidence is not None) == has_confidence
    assert ("confidence" in summary.clusters.columns) == has_confidence


def test_tables_are_described():
    pandas = pytest.importorskip("pandas")
    ages = pandas.DataFrame({"age": np.arange(60) % 17, "city": ["here", "there"] * 30})
    summary = lf.GlobalAlignmentClustering(2, random_state=0).fit({"people": ages, "x": VIEWS["words"]}).summary()
    assert list(summary.columns) == ["people"]
    assert f"Columns of people: {summary.columns['people']}" in repr(summary)


def test_notebooks_show_the_summary_of_a_fitted_model_and_its_parameters(model):
    page = model._repr_html_()
    assert page.startswith("<p><b>60 samples, 2 views: 3 clusters</b></p>")
    assert "<details><summary>Parameters</summary>" in page
    assert "sk-container" in page
    bundle = model._repr_mimebundle_()
    assert bundle["text/html"].startswith("<p><b>60 samples")
    assert bundle["text/plain"] == repr(model)
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_notebooks_show_unfitted_models_and_pipelines_as_scikit_learn_does(model):
    page = clone(model)._repr_html_()
    assert "sk-container" in page
    assert not page.startswith("<p><b>")
    assert "samples, 2 views" not in page
    assert not make_pipeline(clone(model))._repr_html_().startswith("<p><b>")


def test_showing_a_model_computes_nothing():
    fitted = lf.GlobalAlignmentClustering(3, random_state=0).fit(VIEWS)
    before = set(vars(fitted))
    assert "Novelty" not in fitted._repr_html_()
    make_pipeline(fitted)._repr_html_()
    assert set(vars(fitted)) == before
    assert fitted._training_views.calibration is None
    assert "Novelty" in repr(fitted.summary())


def test_labels_that_are_not_computed_are_not_shown():
    da = pytest.importorskip("dask.array")
    from latefusion import distributed

    chunked = {name: da.from_array(view, chunks=(20, -1)) for name, view in VIEWS.items()}
    lazy = distributed.GlobalAlignmentClustering(3, kernel="linear", random_state=0).fit(chunked)
    assert not lazy._repr_html_().startswith("<p><b>")
    assert lazy.summary().clusters["samples"].sum() == 60


def test_other_clusterings_are_mentioned(conflict):
    views, _, _ = conflict
    found = lf.LateFusionClustering(3, random_state=0).fit(views).summary()
    assert "as high within the standard error" in found.alternatives
    assert repr(found).endswith(found.alternatives)
    assert found.alternatives in found._repr_html_()


def test_an_unfitted_model_has_no_summary():
    with pytest.raises(ValueError, match="not fitted"):
        lf.GlobalAlignmentClustering(3).summary()


def test_numbers_of_novel_samples():
    assert novelty_line(None, 5, "x") == []
    assert novelty_line(2, 5, "training samples")[0].startswith("Novelty: 2 of 5 samples are farther from all tr")
    assert novelty_line(1, 5, "other samples")[0].startswith("Novelty: 1 of 5 samples is farther from all other")


def test_a_novelty_that_was_not_computed_is_not_mentioned(model):
    assert summarize(model).novel is None
    assert "Novelty" not in repr(summarize(model))


def test_missing_numbers_are_dashes():
    assert [two_digits(one) for one in (None, np.nan, 0.126, 0.0)] == ["–", "–", "0.13", "0.00"]


def test_memberships_are_summarized_once_they_are_computed():
    """A summary must not compute them, which takes several fits."""
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(VIEWS)
    before = model.summary()
    assert before.calibration is None
    assert "membership" not in before.clusters.columns
    memberships, after = model.memberships_, model.summary()
    assert after.calibration is model.calibration_
    own = [np.median(memberships[model.labels_ == one].max(axis=1)) for one in range(3)]
    np.testing.assert_allclose(after.clusters["membership"], own)
    for text in (repr(after), after._repr_html_(), model._repr_html_inner()):
        assert repr(model.calibration_) in text
