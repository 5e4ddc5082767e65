"""Label-free late fusion of torch and CuPy arrays: the clustering of NumPy, with results on the device of the views."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.arrays import device_of, to_numpy
from latefusion.metrics import adjusted_rand
from latefusion.selection import spaces
from latefusion.similarities import graph, kernel
from tests.estimators.conftest import needs_torch

# With the limits of `low_limits`, this many samples are clustered on the device.
MANY = 900
CHOICES = ("similarity_", "weighting_", "regularization_", "assign_labels_", "view_kinds_", "unrelated_views_")


@pytest.fixture(autouse=True)
def low_limits(monkeypatch):
    """Anchors, factors and a search on some of the samples for problems that are quickly solved."""
    monkeypatch.setattr(graph, "EXACT_SAMPLES", 600)
    monkeypatch.setattr(graph, "DEFAULT_ANCHORS", 80)
    monkeypatch.setattr(kernel, "NYSTROM_SAMPLES", 600)
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 500)


def make_views(n_samples, dtype=np.float64):
    """Views of several kinds of values."""
    coordinates, other, positive = lf.datasets.make_views(
        n_samples, 4, n_views=3, n_features=[12, 9, 8], random_state=0
    ).views.arrays
    measurements = other * 10.0 ** (np.arange(9) - 4)
    histograms = np.maximum(positive, 0.01 * (np.arange(8) == 0))
    histograms /= histograms.sum(axis=1, keepdims=True)
    return {
        "coordinates": coordinates.astype(dtype),
        "measurements": measurements.astype(dtype),
        "histograms": histograms.astype(dtype),
    }


def check_results(model, like):
    """Results of the size of the samples are arrays of one library on one device."""
    for found in (model.labels_, model.consensus_, model.confidence_, *model.partitions_):
        assert type(found) is type(like)
        assert device_of(found) == device_of(like)
    assert model.consensus_.dtype == like.dtype


@pytest.fixture(scope="module")
def expected():
    """Models of NumPy arrays."""
    fitted = {}

    def fit(n_samples, dtype, **options):
        key = (n_samples, dtype, *options.items())
        if key not in fitted:
            fitted[key] = lf.LateFusionClustering(4, random_state=0, **options).fit(make_views(n_samples, dtype))
        return fitted[key]

    return fit


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 1e-4)])
@pytest.mark.parametrize(("n_samples", "options"), [(300, {}), (MANY, {}), (MANY, {"similarity": "kernel"})])
def test_devices_agree_with_numpy(n_samples, options, dtype, tolerance, moved, expected):
    there = {name: moved(view) for name, view in make_views(n_samples, dtype).items()}
    wanted = expected(n_samples, dtype, **options)
    model = lf.LateFusionClustering(4, random_state=0, **options).fit(there)
    check_results(model, there["coordinates"])
    assert [getattr(model, name) for name in CHOICES] == [getattr(wanted, name) for name in CHOICES]
    assert set(model.view_kinds_.values()) == {"coordinates", "measurements", "distribution"}
    assert adjusted_rand(wanted.labels_, to_numpy(model.labels_)) > 0.999
    np.testing.assert_allclose(model.view_weights_, wanted.view_weights_, atol=tolerance)
    np.testing.assert_allclose(model.agreement_, wanted.agreement_, atol=tolerance)
    found = to_numpy(model.consensus_)
    np.testing.assert_allclose(found @ found[:50].T, wanted.consensus_ @ wanted.consensus_[:50].T, atol=tolerance)
    np.testing.assert_allclose(to_numpy(model.confidence_), wanted.confidence_, atol=100 * tolerance)


@pytest.mark.parametrize("n_samples", [300, MANY])
@pytest.mark.parametrize("assign_labels", ["auto", "kmeans"])
def test_new_samples_on_a_device(n_samples, assign_labels, moved, expected):
    views = make_views(n_samples)
    there = {name: moved(view) for name, view in views.items()}
    model = lf.LateFusionClustering(4, assign_labels=assign_labels, random_state=0).fit(there)
    wanted = expected(n_samples, np.float64, assign_labels=assign_labels)
    new = {name: view + 0.01 * view.std(axis=0) for name, view in list(views.items())}
    new = {name: view[: n_samples // 3] for name, view in new.items()}
    labels, confidence, novelty = model.predict(
        {name: moved(view) for name, view in new.items()}, return_confidence=True, return_novelty=True
    )
    assert type(labels) is type(confidence) is type(there["coordinates"])
    assert adjusted_rand(wanted.predict(new), to_numpy(labels)) > 0.999
    np.testing.assert_allclose(novelty, wanted.predict(new, return_novelty=True)[1], rtol=1e-6)
    np.testing.assert_array_equal(to_numpy(model.predict(there)), to_numpy(model.labels_))
    rows = model.transform(there)
    assert type(rows) is type(labels)
    np.testing.assert_allclose(to_numpy(rows), to_numpy(model.consensus_), atol=1e-8)


@needs_torch
def test_what_leaves_the_device_does_not_grow_with_the_samples(monkeypatch):
    """Only rows of the search, some rows per landmark, and small matrices are copied to the host."""
    import torch

    copied, copy = [], torch.Tensor.cpu

    def count(tensor, *args, **kwargs):
        copied.append(tuple(tensor.shape))
        return copy(tensor, *args, **kwargs)

    def refuse(tensor, *args, **kwargs):
        raise AssertionError(f"a tensor of shape {tuple(tensor.shape)} became a NumPy array without `to_numpy`")

    monkeypatch.undo()  # limits as they are
    monkeypatch.setattr(torch.Tensor, "cpu", count)
    monkeypatch.setattr(torch.Tensor, "tolist", refuse)
    totals = []
    for n_samples in (11_000, 22_000):
        data = lf.datasets.make_views(n_samples, 4, n_views=2, n_features=[12, 9], random_state=0)
        tensors = [torch.asarray(view.astype(np.float32)) for view in data.views.arrays]
        copied.clear()
        model = lf.LateFusionClustering(4, random_state=0).fit(tensors)
        labels, _ = model.predict(tensors, return_confidence=True)
        model.transform(tensors)
        assert max(shape[0] for shape in copied if shape) <= 3000
        totals.append(sum(int(np.prod(shape)) for shape in copied))
        assert adjusted_rand(data.target, copy(labels).numpy()) > 0.9
    assert totals[1] < 1.01 * totals[0]


def test_the_number_of_clusters_is_that_of_numpy(moved):
    views = make_views(MANY, np.float32)
    wanted = lf.LateFusionClustering([3, 4], random_state=0).fit(views)
    model = lf.LateFusionClustering([3, 4], random_state=0).fit([moved(view) for view in views.values()])
    assert model.n_clusters_ == wanted.n_clusters_ == 4
    assert adjusted_rand(wanted.labels_, to_numpy(model.labels_)) > 0.999


@pytest.mark.parametrize("n_samples", [300, MANY])
def test_what_is_computed_after_a_fit(n_samples, moved, expected):
    there = {name: moved(view) for name, view in make_views(n_samples).items()}
    model, wanted = lf.LateFusionClustering(4, random_state=0).fit(there), expected(n_samples, np.float64)
    np.testing.assert_allclose(model.sample_view_weights(), wanted.sample_view_weights(), atol=1e-6)
    found, other = (one.weight_intervals(n_bootstrap=3) for one in (model, wanted))
    np.testing.assert_allclose(found.lower, other.lower, atol=1e-6)
    assert model.criterion()(model.labels_) == pytest.approx(wanted.criterion()(wanted.labels_), abs=1e-3)
    assert str(model.n_clusters_path([4, 5])) == str(wanted.n_clusters_path([4, 5]))
    assert [str(one) for one in model.leave_one_view_out()] == [str(one) for one in wanted.leave_one_view_out()]
    assert str(model.summary()).splitlines()[0] == str(wanted.summary()).splitlines()[0]
    memberships = model.calibrate_memberships({name: view[:900, :] for name, view in there.items()}).memberships_
    assert type(memberships) is type(there["coordinates"])


def test_one_more_view_and_an_update_of_few_samples(moved, expected):
    views = make_views(300)
    there = {name: moved(view) for name, view in views.items()}
    wanted = expected(300, np.float64)
    first = lf.LateFusionClustering(4, random_state=0).fit({name: there[name] for name in list(there)[:2]})
    model = first.add_view(there["histograms"], "histograms")
    check_results(model, there["coordinates"])
    assert adjusted_rand(wanted.labels_, to_numpy(model.labels_)) > 0.9
    update = model.update(there)
    assert not len(update.moved)
    check_results(update.model, there["coordinates"])


REFUSALS = {
    "assignment": ({"assign_labels": "rotation"}, ["'coordinates'", "'rotation'", "Use 'auto' or 'kmeans'"]),
    "kernels": ({"similarity": "precomputed"}, ["'coordinates'", "precomputed kernels need NumPy"]),
    "partitions": ({"similarity": lf.GivenPartition()}, ["'coordinates'", "given partitions need NumPy"]),
    "exact kernels": ({"similarity": lf.KernelSimilarity(method="exact")}, ["'exact'", "method='factor'"]),
    "exact graphs": ({"similarity": lf.GraphSimilarity(method="exact")}, ["'exact'", "method='anchors'"]),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_devices_refuse(case, moved):
    options, words = REFUSALS[case]
    there = {name: moved(view) for name, view in make_views(MANY).items()}
    with pytest.raises(ValueError, match=r"\w") as caught:
        lf.LateFusionClustering(4, **options).fit(there)
    assert all(word in str(caught.value) for word in words), caught.value


def test_rows_of_zeros_on_a_device_are_refused_where_they_are_missing(moved):
    views = make_views(MANY)
    views["histograms"][: MANY // 10] = 0.0
    with pytest.raises(ValueError, match=r"'histograms' is stored in .* has 90 rows of zeros.* Move the views"):
        lf.LateFusionClustering(4).fit({name: moved(view) for name, view in views.items()})
    views["histograms"][30:] = make_views(MANY)["histograms"][30:]  # few rows are an observation, as in NumPy
    model = lf.LateFusionClustering(4, random_state=0).fit({name: moved(view) for name, view in views.items()})
    assert adjusted_rand(lf.LateFusionClustering(4, random_state=0).fit(views).labels_, to_numpy(model.labels_)) > 0.999


def test_hints_about_many_samples_on_a_device_are_refused(moved):
    there = {name: moved(view) for name, view in make_views(MANY).items()}
    with pytest.raises(ValueError, match="Hints require NumPy arrays"):
        lf.LateFusionClustering(4).fit(there, y=np.where(np.arange(MANY) < 50, np.arange(MANY) % 2, -1))


def test_a_view_that_is_not_given_is_named(moved):
    there = {name: moved(view) for name, view in make_views(300).items()}
    model = lf.LateFusionClustering(4, random_state=0).fit(there)
    del there["measurements"]
    with pytest.raises(ValueError, match=r"'measurements' is missing .* missing views are not supported"):
        model.predict(there)
