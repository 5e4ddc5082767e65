"""`lf.match` of fitted models and labels: samples by id, refusals."""

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.estimators.matching import rows_of_ids

IDS = [f"p{row:02d}" for row in range(90)]


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(90, 3, random_state=0)


@pytest.fixture(scope="module")
def tables(data):
    return {name: pd.DataFrame(array, index=IDS) for name, array in data.views.items()}


@pytest.fixture(scope="module")
def model(tables):
    return lf.GlobalAlignmentClustering(3, random_state=0).fit(tables)


def test_a_model_matches_itself(model):
    found = lf.match(model, model)
    assert found.names == {0: 0, 1: 1, 2: 2}
    assert found.agreement == 1
    assert found.counts.sum() == 90


def test_models_of_different_classes_samples_and_views(model, tables):
    """Samples are matched by id, whatever their order and number."""
    some = {name: table.iloc[80:5:-1] for name, table in tables.items() if name != "view_0"}
    other = lf.LateFusionClustering(3, random_state=1).fit(some)
    found = lf.match(model, other)
    assert found.counts.sum() == 75
    assert found.sizes[0].sum() == 90
    both = pd.Series(model.labels_, index=IDS)[list(other.sample_ids_)]
    np.testing.assert_allclose(found.agreement, lf.metrics.adjusted_rand(both, other.labels_))
    assert (found.rename(other.labels_) == both).mean() > 0.9


def test_comparison_methods_and_labels(model, data, tables):
    method = lf.baselines.AverageKernelKMeans(3, random_state=0).fit(tables)
    assert lf.match(model, method).agreement > 0.9
    known = pd.Series([f"class {one}" for one in data.target], index=IDS)
    found = lf.match(known, model)
    assert found.first == ["class 0", "class 1", "class 2"]
    assert lf.match(known.iloc[::-1], model).names == found.names
    assert lf.match(data.target, data.target[:]).agreement == 1
    assert lf.match([0, 0, 0], [1, 1, 1]).names == {1: 0}  # one cluster


def test_without_ids_the_order_counts(data):
    one = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views.arrays[:2])
    other = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views.arrays[1:])
    found = lf.match(one, other)
    np.testing.assert_allclose(found.agreement, lf.metrics.adjusted_rand(one.labels_, other.labels_))


def test_refusals(model, data):
    numbers = pd.Series(model.labels_, index=IDS)
    with pytest.raises(ValueError, match="first has 90 samples and second has 89, and they have no ids"):
        lf.match(data.target, data.target[1:])
    with pytest.raises(ValueError, match="first has sample ids and second has none"):
        lf.match(model, model.labels_)
    with pytest.raises(ValueError, match=r"no sample in common: first has the samples 'p00', 'p01'.*upper and lower"):
        lf.match(numbers, numbers.rename(index=str.upper))
    with pytest.raises(ValueError, match=r"second has 'q0'.*Give clusterings with common samples"):
        lf.match(numbers, pd.Series([1, 2], index=["q0", "q1"]))
    with pytest.raises(ValueError, match="second contains the sample id 'p00' more than once"):
        lf.match(numbers, numbers.iloc[[0, 0]])
    with pytest.raises(ValueError, match="PerView without labels_"):
        lf.match(lf.PerView("passthrough").fit([data.views.arrays[0]]), model)
    with pytest.raises(ValueError, match="not fitted"):
        lf.match(lf.GlobalAlignmentClustering(), model)


def test_rows_of_ids():
    assert rows_of_ids(np.array(["b", "x"]), np.array(["a", "b"])).tolist() == [1, -1]
