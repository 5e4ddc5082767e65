"""`PerView`: a transformer for every view, equal to the same steps by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import latefusion as lf

DATA = lf.datasets.make_views(n_samples=60, n_clusters=3, n_views=2, random_state=0)
FIRST, SECOND = DATA.views.arrays
BY_HAND = [StandardScaler().fit_transform(one) for one in (FIRST, SECOND)]


@pytest.mark.parametrize("container", [list, dict, lf.Views])
def test_every_view_is_transformed_on_its_own(container):
    X = {"a": FIRST, "b": SECOND} if container is dict else container([FIRST, SECOND])
    found = lf.PerView(StandardScaler()).fit_transform(X)
    assert type(found) is type(X)
    arrays = found.arrays if container is lf.Views else list(found.values()) if container is dict else found
    for one, expected in zip(arrays, BY_HAND, strict=True):
        np.testing.assert_array_equal(one, expected)


def test_a_pipeline_equals_the_same_steps_by_hand():
    pipeline = make_pipeline(lf.PerView(StandardScaler()), lf.GlobalAlignmentClustering(3, random_state=0))
    labels = pipeline.fit_predict({"a": FIRST, "b": SECOND})
    by_hand = lf.GlobalAlignmentClustering(3, random_state=0).fit({"a": BY_HAND[0], "b": BY_HAND[1]})
    np.testing.assert_array_equal(labels, by_hand.labels_)
    np.testing.assert_array_equal(pipeline.predict({"a": FIRST, "b": SECOND}), labels)


def test_views_that_a_mapping_does_not_contain_are_passed_on():
    found = lf.PerView({"b": PCA(2, random_state=0)}).fit_transform({"a": FIRST, "b": SECOND})
    assert found["a"] is FIRST
    np.testing.assert_array_equal(found["b"], PCA(2, random_state=0).fit(SECOND).transform(SECOND))


def test_rows_of_missing_views_stay_missing_and_take_no_part():
    mask = np.ones((60, 2), dtype=bool)
    mask[:5, 0] = False
    found = lf.PerView(StandardScaler()).fit_transform(lf.Views([FIRST, SECOND], mask=mask))
    np.testing.assert_array_equal(found.arrays[0][5:], StandardScaler().fit_transform(FIRST[5:]))
    assert np.isnan(found.arrays[0][:5]).all()
    holed = FIRST.copy()
    holed[:5] = np.nan
    by_rows = lf.PerView(make_pipeline(SimpleImputer(), StandardScaler())).fit_transform([holed, SECOND])
    np.testing.assert_array_equal(by_rows[0], found.arrays[0])


def test_the_given_transformer_is_not_fitted_and_samples_are_split():
    scaler = StandardScaler()
    pipeline = make_pipeline(lf.PerView(scaler), lf.GlobalAlignmentClustering(3, random_state=0))
    scores = cross_validate(clone(pipeline), DATA.views, cv=2, scoring=lambda model, X: len(model.predict(X)))
    assert scores["test_score"].tolist() == [30, 30]
    assert not hasattr(scaler, "mean_")


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="needs several views"):
        lf.PerView(StandardScaler()).fit(FIRST)
    with pytest.raises(ValueError, match=r"unknown views: \['c'\]"):
        lf.PerView({"c": StandardScaler()}).fit({"a": FIRST})
    with pytest.raises(ValueError, match="view 'a' must have the methods fit and transform"):
        lf.PerView({"a": 3}).fit({"a": FIRST})
    fitted = lf.PerView(StandardScaler()).fit({"a": FIRST})
    with pytest.raises(ValueError, match=r"fitted on the views \['a'\]; got also \['b'\]"):
        fitted.transform({"a": FIRST, "b": SECOND})


def test_encoders_of_an_estimator_do_the_same():
    holed = pd.DataFrame(FIRST)
    holed.iloc[3, 1] = np.nan
    encoder = make_pipeline(SimpleImputer(), StandardScaler())
    model = lf.GlobalAlignmentClustering(3, encoders={"a": encoder}, random_state=0).fit({"a": holed, "b": SECOND})
    by_hand = clone(encoder).fit(holed)
    same = lf.GlobalAlignmentClustering(3, random_state=0).fit({"a": by_hand.transform(holed), "b": SECOND})
    np.testing.assert_array_equal(model.consensus_, same.consensus_)
    new = {"a": holed[:7] + 0.1, "b": SECOND[:7]}
    np.testing.assert_array_equal(model.predict(new), same.predict({"a": by_hand.transform(new["a"]), "b": new["b"]}))
    np.testing.assert_array_equal(model.predict({"a": holed, "b": SECOND}), model.labels_)
    assert not hasattr(encoder, "n_features_in_")
    with pytest.raises(ValueError, match=r"encoders contains unknown views: \['c'\]"):
        lf.GlobalAlignmentClustering(3, encoders={"c": encoder}).fit({"a": FIRST, "b": SECOND})
    with pytest.raises(ValueError, match="The encoder of view 'a' failed: "):
        lf.GlobalAlignmentClustering(3, encoders={"a": PCA(500)}).fit({"a": FIRST, "b": SECOND})
