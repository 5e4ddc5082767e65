"""Tensors in, tensors out: the same clustering as with NumPy, by the same code."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.arrays import device_of, to_numpy, top_eigenpairs

torch = pytest.importorskip("torch", reason="torch is not installed")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
ESTIMATORS = [(lf.GlobalAlignmentClustering, {}), (lf.LocalAlignmentClustering, {"count_samples": 200})]


@pytest.fixture(scope="module")
def views():
    return lf.datasets.make_views(1500, 4, n_views=3, n_features=[12, 9, 6], random_state=0).views.arrays


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize(("estimator", "options"), ESTIMATORS)
def test_tensors_agree_with_numpy(views, estimator, options, dtype, tolerance, device):
    arrays = [view.astype(dtype) for view in views]
    tensors = [torch.asarray(array, device=device) for array in arrays]
    expected = estimator(4, kernel="linear", random_state=0, **options).fit(arrays)
    model = estimator(4, kernel="linear", random_state=0, **options).fit(tensors)
    for name in ("labels_", "consensus_", "confidence_"):
        found = getattr(model, name)
        assert isinstance(found, torch.Tensor)
        assert device_of(found) == device_of(tensors[0])
    assert model.consensus_.dtype == tensors[0].dtype
    np.testing.assert_allclose(model.view_weights_, expected.view_weights_, atol=tolerance)
    np.testing.assert_allclose(model.objective_[-1], expected.objective_[-1], rtol=tolerance)
    found, wanted = to_numpy(model.consensus_), expected.consensus_
    np.testing.assert_allclose(found @ found[:50].T, wanted @ wanted[:50].T, atol=tolerance)
    assert lf.metrics.adjusted_rand(expected.labels_, to_numpy(model.labels_)) == 1.0
    assert bool(torch.all(model.predict(tensors) == model.labels_))
    np.testing.assert_allclose(model.agreement_, expected.agreement_, atol=tolerance)
    assert model.empirical_error() == pytest.approx(expected.empirical_error(), abs=tolerance)


def test_path_on_a_device(views):
    tensors = [torch.asarray(view) for view in views]
    path = lf.GlobalAlignmentClustering(4, kernel="linear", random_state=0).regularization_path(tensors, [0.5, 2.0])
    assert isinstance(path[0].consensus, torch.Tensor)
    assert path.weights.shape == (2, 3)


@pytest.mark.parametrize("size", [60, 1500])
def test_eigenpairs_on_a_device(size):
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((size, 40)) * np.linspace(3, 0.1, 40)
    matrix = factor @ factor.T
    values, vectors = top_eigenpairs(torch.asarray(matrix), 5)
    expected, reference = top_eigenpairs(matrix, 5)
    np.testing.assert_allclose(to_numpy(values), expected, rtol=1e-8)
    found = to_numpy(vectors)
    np.testing.assert_allclose(found @ found.T, reference @ reference.T, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (lambda tensors: tensors, {}, "Use kernel='linear', or give NumPy arrays"),
        (lambda tensors: [tensors[0], tensors[1].numpy()], {"kernel": "linear"}, "All views must lie in one place"),
        (lambda tensors: [tensors[0].half()], {"kernel": "linear"}, "must be float32 or float64"),
        (lambda tensors: [tensors[0] * float("nan")], {"kernel": "linear"}, "NaN or infinite"),
        (lambda tensors: tensors, {"kernel": "linear", "assign_labels": "rotation"}, "use 'kmeans'"),
    ],
)
def test_what_devices_refuse(views, change, options, words):
    tensors = [torch.asarray(view) for view in views]
    with pytest.raises(ValueError, match=words):
        lf.GlobalAlignmentClustering(4, **options).fit(change(tensors))
