"""Arrays of other libraries in, arrays of the same library out: the same clustering as with NumPy, by the same code.

torch on the CPU and array-api-strict, which allows no silent way to NumPy, stand in for devices; torch on a GPU and
CuPy are tried where there is one.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import latefusion as lf
from latefusion.arrays import device_of, namespace, to_numpy, top_eigenpairs
from latefusion.baselines import METHODS
from latefusion.kernels import KERNELS, gaussian_kernel
from latefusion.metrics import adjusted_rand, subspace_agreement
from tests.estimators.conftest import has_gpu, needs_torch

ESTIMATORS = [(lf.GlobalAlignmentClustering, {}), (lf.LocalAlignmentClustering, {"count_samples": 200})]
PRECISIONS = [(np.float64, 1e-8), (np.float32, 1e-4)]


@pytest.fixture(scope="module")
def views():
    return lf.datasets.make_views(1500, 4, n_views=3, n_features=[12, 9, 6], random_state=0).views.arrays


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize(("estimator", "options"), ESTIMATORS)
def test_devices_agree_with_numpy(views, estimator, options, kernel, dtype, tolerance, moved):
    arrays = [view.astype(dtype) for view in views]
    there = [moved(array) for array in arrays]
    factor = lf.KernelSimilarity(kernel, method="factor")
    expected = estimator(4, similarity=factor, random_state=0, **options).fit(arrays)
    model = estimator(4, kernel=kernel, random_state=0, **options).fit(there)
    for name in ("labels_", "consensus_", "confidence_"):
        found = getattr(model, name)
        assert type(found) is type(there[0])
        assert device_of(found) == device_of(there[0])
    assert model.consensus_.dtype == there[0].dtype
    np.testing.assert_allclose(model.view_weights_, expected.view_weights_, atol=tolerance)
    np.testing.assert_allclose(model.objective_[-1], expected.objective_[-1], rtol=tolerance)
    pairs = zip([*model.partitions_, model.consensus_], [*expected.partitions_, expected.consensus_], strict=True)
    for found, wanted in pairs:
        found = to_numpy(found)
        np.testing.assert_allclose(found @ found[:50].T, wanted @ wanted[:50].T, atol=tolerance)
    assert adjusted_rand(expected.labels_, to_numpy(model.labels_)) == 1.0
    np.testing.assert_array_equal(to_numpy(model.predict(there)), to_numpy(model.labels_))
    rows = to_numpy(model.transform([array[:7] for array in there]))
    np.testing.assert_allclose(rows, to_numpy(model.consensus_)[:7], atol=tolerance)
    np.testing.assert_allclose(model.agreement_, expected.agreement_, atol=tolerance)
    assert model.empirical_error() == pytest.approx(expected.empirical_error(), abs=tolerance)
    for name, info in expected.partition_info_.items():
        assert model.partition_info_[name][:3] == info[:3]
        assert model.partition_info_[name][3:] == pytest.approx(info[3:], abs=tolerance)


def test_spread_landmarks_and_callables_on_a_device(views, moved):
    def cauchy(left, right):
        xp = namespace(left)
        squared = xp.sum((left[:, None, :] - right[None, :, :]) ** 2, axis=2)
        return 1 / (1 + squared / 10)

    few = [view[:500] for view in views]
    exact = lf.GlobalAlignmentClustering(4, kernel=cauchy, random_state=0).fit(few)
    similarity = lf.KernelSimilarity(cauchy, method="factor", landmarks="kmeans++", n_landmarks=200)
    here = lf.GlobalAlignmentClustering(4, similarity=similarity, random_state=0).fit(few)
    there = lf.GlobalAlignmentClustering(4, similarity=similarity, random_state=0).fit([moved(view) for view in few])
    good, found = (subspace_agreement(to_numpy(one.consensus_), exact.consensus_) for one in (here, there))
    assert found > max(good - 0.02, 0.9)


def test_paths_on_a_device(views, moved):
    there = [moved(view) for view in views]
    path = lf.GlobalAlignmentClustering(4, random_state=0).regularization_path(there, [0.5, 2.0])
    assert type(path[0].consensus) is type(there[0])
    assert path.weights.shape == (2, 3)
    assert to_numpy(path.labels).shape == (2, 1500)
    local = lf.LocalAlignmentClustering(4, random_state=0).neighborhood_path(there, [0.1, 0.3])
    assert type(local[0.1][0].labels) is type(there[0])


def test_one_table_on_a_device_is_split_into_views(views, moved):
    table, groups = np.concatenate(views[:2], axis=1), {"a": slice(0, 12), "b": list(range(12, 21))}
    model = lf.GlobalAlignmentClustering(4, views=groups, random_state=0).fit(moved(table))
    expected = lf.GlobalAlignmentClustering(4, random_state=0).fit([moved(view) for view in views[:2]])
    np.testing.assert_array_equal(to_numpy(model.labels_), to_numpy(expected.labels_))
    assert model.n_features_in_ == 21
    np.testing.assert_array_equal(to_numpy(model.predict(moved(table))), to_numpy(model.labels_))


def test_new_samples_may_have_another_precision(views, moved):
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit([moved(view.astype(np.float32)) for view in views])
    labels = to_numpy(model.predict([moved(view) for view in views]))
    assert adjusted_rand(labels, to_numpy(model.labels_)) > 0.99


@pytest.mark.parametrize("size", [60, 1500])
def test_eigenpairs_on_a_device(size, moved):
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((size, 40)) * np.linspace(3, 0.1, 40)
    matrix = factor @ factor.T
    values, vectors = top_eigenpairs(moved(matrix), 5)
    expected, reference = top_eigenpairs(matrix, 5)
    np.testing.assert_allclose(to_numpy(values), expected, rtol=1e-8)
    found = to_numpy(vectors)
    np.testing.assert_allclose(found @ found.T, reference @ reference.T, atol=1e-6)


REFUSALS = {
    "exact kernel": ({"similarity": lf.KernelSimilarity(method="exact")}, ["(1500, 12)", "'exact'", "method='factor'"]),
    "graph": ({"similarity": "graph"}, ["'view_0'", "graphs need NumPy", "similarity='kernel'"]),
    "graphs": ({"similarity": ["kernel", lf.GraphSimilarity(), "kernel"]}, ["'view_1'", "graphs", "GraphSimilarity"]),
    "rotation": ({"assign_labels": "rotation"}, ["'view_0'", "'rotation'", "Use 'kmeans'"]),
    "constant": ({"kernel_params": {"sigma": 1e12}}, ["(1500, 12)", "constant up to rounding", "kernel_params"]),
    "overflow": (
        {"kernel": "polynomial", "kernel_params": {"degree": 3000}},
        ["(1500, 12)", "NaN or infinite", "its parameters"],
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_what_devices_refuse(views, case, moved):
    options, words = REFUSALS[case]
    with pytest.raises(ValueError, match=r"\w") as caught:
        lf.GlobalAlignmentClustering(4, **options).fit([moved(view) for view in views])
    assert all(word in str(caught.value) for word in words), caught.value


BAD_VIEWS = {
    "another library": (lambda view, moved: view, ["same device", "'view_1': 'NumPy'", "Move them"]),
    "another type": (lambda view, moved: moved(view.astype(np.float32)), ["one float type", "float32", "Convert"]),
    "integers": (lambda view, moved: moved(view.astype(np.int64)), ["'view_1'", "int64", "float32 or float64"]),
    "complex": (lambda view, moved: moved(view.astype(np.complex128)), ["'view_1'", "complex128", "Convert"]),
    "nan": (lambda view, moved: moved(spoiled(view, np.nan)), ["'view_1'", "1 values", "row 3, column 2"]),
    "infinite": (lambda view, moved: moved(spoiled(view, np.inf)), ["'view_1'", "1 values", "row 3, column 2"]),
    "huge": (lambda view, moved: moved(spoiled(view, 1e200)), ["'view_1'", "1e+200", "Divide it"]),
    "constant": (lambda view, moved: moved(np.ones_like(view)), ["'view_1'", "constant", "Remove it"]),
    "one dimension": (lambda view, moved: moved(view[:, 0]), ["'view_1'", "two dimensions", "(1500,)"]),
    "fewer rows": (lambda view, moved: moved(view[:9]), ["'view_1': 9", "same number of rows"]),
}


def spoiled(view, value):
    view = view.copy()
    view[3, 2] = value
    return view


@pytest.mark.parametrize("case", BAD_VIEWS)
def test_what_is_wrong_with_a_view_on_a_device(views, case, moved):
    change, words = BAD_VIEWS[case]
    with pytest.raises(ValueError, match=r"\w") as caught:
        lf.GlobalAlignmentClustering(4).fit([moved(views[0]), change(views[1], moved)])
    assert all(word in str(caught.value) for word in words), caught.value


@needs_torch
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_is_refused_by_name(views, kind):
    import torch

    tensors = [torch.asarray(view).to(getattr(torch, kind)) for view in views]
    with pytest.raises(ValueError, match=rf"'view_0' has the type torch.{kind}.*float32 or float64. Convert it"):
        lf.GlobalAlignmentClustering(4).fit(tensors)


def test_given_kernels_on_a_device_are_refused(views, moved):
    kernels = [moved(gaussian_kernel(view[:50])) for view in views]
    for X in (kernels, namespace(kernels[0]).stack(kernels, axis=2)):
        with pytest.raises(
            ValueError, match=r"'view_0' is stored in .* precomputed kernels need NumPy.*similarity='kernel'"
        ):
            lf.GlobalAlignmentClustering(4, similarity="precomputed").fit(X)


def test_missing_samples_on_a_device_are_refused(views, moved):
    mask = np.ones((1500, 2), dtype=bool)
    mask[3, 1] = False
    there = lf.Views([moved(view) for view in views[:2]], mask=mask)
    with pytest.raises(ValueError, match=r"'view_1' is stored in .* missing views require NumPy arrays"):
        lf.GlobalAlignmentClustering(4).fit(there)
    holed = [moved(np.where(seen[:, None], view, np.nan)) for view, seen in zip(views[:2], mask.T, strict=True)]
    with pytest.raises(ValueError, match=r"'view_1' is stored in .* 1 rows that are all NaN.* require NumPy arrays"):
        lf.GlobalAlignmentClustering(4).fit(holed)


def test_views_on_a_device_are_not_put_side_by_side(views, moved):
    with pytest.raises(ValueError, match=r"reference='kernel' .* in NumPy, but view 'view_0' is stored in .*"):
        lf.GlobalAlignmentClustering(4, reference="kernel").fit([moved(view) for view in views])


@pytest.mark.parametrize("name", METHODS)
def test_comparison_methods_ask_for_numpy(views, name, moved):
    with pytest.raises(
        ValueError, match=rf"'view_0' is stored in .*, but {METHODS[name].__name__} works on NumPy arrays"
    ):
        METHODS[name](4).fit([moved(view) for view in views])


def test_new_samples_must_be_on_the_training_device(views, moved):
    there = [moved(view) for view in views]
    for training, new in ((views, there), (there, views)):
        model = lf.GlobalAlignmentClustering(4, random_state=0).fit(training)
        for method in (model.predict, model.transform):
            with pytest.raises(
                ValueError, match=r"'view_0' is stored in .*, but GlobalAlignmentClustering was fitted on"
            ):
                method(new)


@needs_torch
def test_gradients_are_not_recorded(views):
    import torch

    tensors = [torch.asarray(view).requires_grad_() for view in views]
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(tensors)
    assert not model.consensus_.requires_grad
    assert not model.transform(tensors).requires_grad


@needs_torch
@pytest.mark.parametrize("precision", ["highest", "high"])
def test_the_switch_for_tf32_stays_as_the_user_set_it(views, precision):
    import torch

    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(precision)
        tensors = [torch.asarray(view.astype(np.float32)) for view in views]
        lf.LocalAlignmentClustering(4, random_state=0).fit(tensors).predict(tensors)
        assert torch.get_float32_matmul_precision() == precision
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.skipif(not has_gpu("torch"), reason="no torch with a GPU")
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_tf32_costs_digits_but_no_clusters(views, kernel):
    import torch

    tensors = [torch.asarray(view.astype(np.float32), device="cuda") for view in views]
    exact = lf.GlobalAlignmentClustering(4, kernel=kernel, random_state=0).fit(tensors)
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        rough = lf.GlobalAlignmentClustering(4, kernel=kernel, random_state=0).fit(tensors)
    finally:
        torch.set_float32_matmul_precision(before)
    assert subspace_agreement(to_numpy(rough.consensus_), to_numpy(exact.consensus_)) > 0.99
    assert adjusted_rand(to_numpy(exact.labels_), to_numpy(rough.labels_)) > 0.99


@needs_torch
@pytest.mark.skipif(has_gpu("torch"), reason="there is a GPU")
def test_the_gpu_benchmark_reports_a_missing_gpu():
    script = Path(__file__).parents[2] / "benchmarks" / "gpu.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no GPU" in done.stderr
    assert "--scale" in done.stderr
    assert "Traceback" not in done.stderr
