"""Loading gives the model that was saved; other and changed files are refused; nothing in them is executed."""

import contextlib
import hashlib
import inspect
import io
import json
import os
import pickle
import warnings
import zipfile
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.outputs import ModelFileError, model_files
from tests.outputs.likeness import alike, same_model

DATA = lf.datasets.make_views(60, 3, random_state=0)
OURS = {
    "LateFusion": lf.LateFusionClustering,
    "GAM": lf.GlobalAlignmentClustering,
    "LAM": lf.LocalAlignmentClustering,
}
SPARSE = lf.Views([scipy.sparse.csr_array(np.where(np.abs(view) > 1, np.abs(view), 0)) for view in DATA.views.arrays])
KERNELS = [lf.kernels.gaussian_kernel(view) for view in DATA.views.arrays]
FRAMES = {
    name: pd.DataFrame(view, index=[f"s{row}" for row in range(60)], columns=[f"c{column}" for column in range(10)])
    for name, view in DATA.views.items()
}


def fitted(estimator, X, **options):
    if "random_state" in inspect.signature(estimator).parameters:
        options.setdefault("random_state", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether a method converges is not the point
        return estimator(**{"n_clusters": 3, **options}).fit(X)


def check_there_and_back(model, X, file):
    lf.save(model, file)
    again = lf.load(file)
    assert same_model(again, model)
    assert not {name for name in vars(again) if name.startswith("_")}
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        # Copies may be laid out differently in memory, and sums over them rounded differently.
        np.testing.assert_allclose(again.transform(X), model.transform(X), rtol=0, atol=1e-10)
    return again


@pytest.mark.parametrize("name", METHODS)
def test_every_comparison_method_comes_back(name, tmp_path):
    check_there_and_back(fitted(METHODS[name], DATA.views), DATA.views, tmp_path / "m")


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("assign", ["kmeans", "rotation"])
@pytest.mark.parametrize(
    ("X", "similarity"),
    [
        (DATA.views, "auto"),
        (DATA.views, "graph"),
        (DATA.views, [lf.GraphSimilarity(5), lf.KernelSimilarity("laplace", method="factor"), "kernel"]),
        (SPARSE, "auto"),
        (KERNELS, "precomputed"),
        (FRAMES, "auto"),
    ],
    ids=["kernel", "graph", "mixed", "sparse", "precomputed", "frames"],
)
def test_ours_come_back(name, assign, X, similarity, tmp_path):
    check_there_and_back(fitted(OURS[name], X, similarity=similarity, assign_labels=assign), X, tmp_path / "m")


MASK = np.random.default_rng(0).random((60, 3)) > np.array([0.0, 0.3, 0.3])


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("missing", ["impute", "zero"])
def test_missing_views_come_back(name, missing, tmp_path):
    views = lf.Views(dict(DATA.views.items()), mask=MASK)
    check_there_and_back(fitted(OURS[name], views, missing=missing), views, tmp_path / "m")


@pytest.mark.parametrize("name", OURS)
def test_labels_among_features_come_back(name, tmp_path):
    views = {"features": DATA.views.arrays[0], "groups": pd.Series([f"group {label}" for label in DATA.target])}
    similarity = {"features": "auto", "groups": lf.GivenPartition("labels")}
    check_there_and_back(fitted(OURS[name], views, similarity=similarity), views, tmp_path / "m")


@pytest.mark.parametrize("name", OURS)
def test_models_of_chunked_views_come_back(name, tmp_path):
    da = pytest.importorskip("dask.array")
    from latefusion import distributed

    chunks = {view: da.from_array(array, chunks=(20, -1)) for view, array in DATA.views.items()}
    model = fitted(getattr(distributed, OURS[name].__name__), chunks).in_memory()
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    assert same_model(again, model)
    for one, other in zip(again.predict(DATA.views, **BOTH), model.predict(DATA.views, **BOTH), strict=True):
        np.testing.assert_array_equal(one, other)


BOTH = {"return_confidence": True, "return_novelty": True}


def test_a_consensus_comes_back_without_the_clusterers(tmp_path):
    features = DATA.views.arrays[0]
    partitions = {
        "run": KMeans(4, n_init=1, random_state=0).fit(features),
        "labels": pd.Series(DATA.target).map("group {}".format),
        "memberships": np.eye(3)[DATA.target],
    }
    model = lf.consensus(partitions, random_state=0)
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    assert same_model(again, model)
    given = {**partitions, "run": partitions["run"].labels_}
    np.testing.assert_array_equal(again.predict(given), model.predict({**partitions, "run": features}))
    assert alike(again.predict(given, **BOTH), model.predict(given, **BOTH))
    with pytest.raises(ValueError, match=r"Partition 'run' has 10 columns of features.*Give the labels"):
        again.predict({**partitions, "run": features})
    frame = pd.DataFrame({"a": DATA.target, "b": DATA.target})
    check_there_and_back(lf.consensus(frame, random_state=0), frame, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    np.testing.assert_array_equal(lf.labels_frame(again, frame)["label"], again.labels_)
    with pytest.raises(ValueError, match="X has other values"):
        lf.labels_frame(again, frame[::-1].reset_index(drop=True))


def test_a_search_for_the_number_comes_back_with_its_evidence(tmp_path):
    model = fitted(lf.LateFusionClustering, DATA.views, n_clusters=range(2, 4), random_state=np.random.RandomState(1))
    again = check_there_and_back(model, DATA.views, tmp_path / "m")
    assert again.number_selection_.reason == model.number_selection_.reason
    assert again.selection_.to_dict() == model.selection_.to_dict()


def test_alternatives_come_back(tmp_path, conflict):
    views, *_ = conflict
    model = fitted(lf.LateFusionClustering, views)
    assert len(model.alternatives_) == 1
    again = check_there_and_back(model, views, tmp_path / "m")
    assert alike(again.alternatives_, model.alternatives_)
    assert [str(one) for one in again.alternatives_] == [str(one) for one in model.alternatives_]


@pytest.mark.parametrize("name", OURS)
def test_what_needs_training_data_says_so_after_loading(name, tmp_path):
    model = fitted(OURS[name], DATA.views)
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    needing = {
        "LateFusion": ["weight_intervals", "leave_one_view_out", "criterion", "searched_samples", "n_clusters_path"],
        "GAM": ["empirical_error", "objective_gap"],
        "LAM": ["empirical_error", "objective_gap"],
    }
    for method in ("sample_view_weights", *needing[name]):
        getattr(model, method)()
        with pytest.raises(ValueError, match=r"loaded from a file.*Fit it again"):
            getattr(again, method)()
    assert alike(again.view_labels(), model.view_labels())
    assert alike(again.get_feature_names_out(), model.get_feature_names_out())


def test_equal_arrays_are_stored_once_and_equal_parts_are_shared(tmp_path):
    """Samples are encoded once per view, however many similarities it has, before saving and after loading."""
    model = fitted(lf.LateFusionClustering, DATA.views)
    lf.save(model, tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as archive:
        assert len(archive.namelist()) == len({*archive.namelist()})
        digests = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    assert all(name == f"{digest}.npy" for name, digest in digests.items() if name.endswith(".npy"))
    blocks = lf.load(tmp_path / "m").consensus_map_.blocks
    own = {id(block.encoding) for block in model.consensus_map_.blocks}
    assert len({id(block.encoding) for block in blocks}) <= len(own) < len(blocks)
    similarity = [lf.GraphSimilarity(5), lf.GraphSimilarity(5), "kernel"]
    lf.save(lf.GlobalAlignmentClustering(3, similarity=similarity), tmp_path / "m")
    first, second, _ = lf.load(tmp_path / "m").similarity
    assert first is not second  # these can be changed


def test_training_data_is_not_stored_twice(tmp_path):
    """A kernel of n samples has n numbers per sample; a model of kernels needs a few partitions only."""
    large = lf.datasets.make_views(300, 3, random_state=0).views
    kernels = [lf.kernels.gaussian_kernel(view) for view in large.arrays]
    lf.save(fitted(lf.GlobalAlignmentClustering, kernels, similarity="precomputed"), tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 8 * 300**2


def test_one_table_and_large_problems_come_back(tmp_path):
    table = pd.DataFrame(np.hstack(DATA.views.arrays)).rename(columns="c{}".format)
    model = fitted(lf.GlobalAlignmentClustering, table, views={"a": ["c0", "c1"], "b": slice(2, 9)})
    assert check_there_and_back(model, table, tmp_path / "m").feature_names_in_[0] == "c0"
    large = lf.datasets.make_views(700, 3, random_state=0).views
    check_there_and_back(
        fitted(lf.GlobalAlignmentClustering, large, similarity=lf.GraphSimilarity(method="anchors")),
        large,
        tmp_path / "m",
    )


def test_an_unfitted_model_comes_back(tmp_path):
    lf.save(lf.LateFusionClustering(n_clusters=range(2, 4)), tmp_path / "m")
    assert lf.load(tmp_path / "m").get_params()["n_clusters"] == range(2, 4)


def test_equal_models_make_equal_files_that_say_who_wrote_them(tmp_path, monkeypatch):
    model = fitted(lf.GlobalAlignmentClustering, DATA.views)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    lf.save(model, tmp_path / "a")
    lf.save(model, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    lf.save(fitted(lf.GlobalAlignmentClustering, DATA.views), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    lf.save(lf.load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        said = json.loads(archive.read("model.json"))
    assert (said["latefusion"], said["format_version"]) == (lf.__version__, 1)
    assert said["libraries"]["numpy"] == np.__version__


def test_a_file_is_described_without_loading_its_model(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    lf.save(fitted(lf.GlobalAlignmentClustering, DATA.views), tmp_path / "a")
    said = model_files.describe(tmp_path / "a")
    assert said.model == "GlobalAlignmentClustering"
    assert said.views == dict(zip(DATA.views.names, DATA.views.widths, strict=True))
    assert (said.n_clusters, said.n_samples, said.format_version) == (3, 60, 1)
    assert said.written == "2023-11-14T22:13:20+00:00"
    assert said.versions["latefusion"] == lf.__version__
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    before = datetime.now(UTC).replace(microsecond=0)
    lf.save(lf.GlobalAlignmentClustering(3), tmp_path / "unfitted")
    said = model_files.describe(tmp_path / "unfitted")
    assert before <= datetime.fromisoformat(said.written) <= datetime.now(UTC)
    assert (said.views, said.n_clusters, said.n_samples) == ({}, None, None)


def test_describing_reads_the_header_only(content, tmp_path):
    """Damage of the state is not detected, because it is not read."""
    (tmp_path / "m").write_bytes(packed({**content, "state.json": b"damaged"}))
    assert model_files.describe(tmp_path / "m").model == "GlobalAlignmentClustering"
    with pytest.raises(ModelFileError, match=r"checksum of state\.json"):
        lf.load(tmp_path / "m")


def test_a_file_with_a_changed_summary_is_refused_by_name(tmp_path):
    lf.save(lf.GlobalAlignmentClustering(3), tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        said = json.loads(archive.read("model.json"))
    for summary in (None, [], {"views": {}}, {"views": [], "n_clusters": 1, "n_samples": 1}):
        with zipfile.ZipFile(tmp_path / "b", "w") as archive:
            archive.writestr("model.json", json.dumps({**said, "summary": summary}))
        with pytest.raises(ModelFileError, match=r"b' is damaged"):
            model_files.describe(tmp_path / "b")


def test_code_and_foreign_objects_are_refused_and_leave_no_file(tmp_path):
    model = fitted(lf.GlobalAlignmentClustering, DATA.views, kernel=lambda X, Y: X @ Y.T)
    with pytest.raises(ValueError, match=r"GlobalAlignmentClustering.kernel is the function .*your own code"):
        lf.save(model, tmp_path / "m")
    with pytest.raises(ValueError, match="Only models of latefusion"):
        lf.save({"a": 1}, tmp_path / "m")
    with pytest.raises(ValueError, match="Only models of latefusion"):
        lf.save(lf.GraphSimilarity(), tmp_path / "m")

    class Own(lf.GlobalAlignmentClustering):
        pass

    with pytest.raises(ValueError, match="Only models of latefusion"):
        lf.save(Own(), tmp_path / "m")
    model = fitted(lf.GlobalAlignmentClustering, DATA.views)
    model.note_ = "mine"
    with pytest.raises(ValueError, match=r"GlobalAlignmentClustering.note_ is not an attribute that fit sets"):
        lf.save(model, tmp_path / "m")
    with pytest.raises(ValueError, match="'n_clusters' parameter"):
        lf.save(lf.GlobalAlignmentClustering("many"), tmp_path / "m")
    clusterer = lf.GivenPartition("labels", clusterer=KMeans(3, n_init=1).fit(DATA.views.arrays[0]))
    model = fitted(lf.GlobalAlignmentClustering, DATA.views, similarity=[clusterer, "kernel", "kernel"])
    with pytest.raises(ValueError, match=r"similarity\[0\].clusterer is an object of class sklearn.*Give the labels"):
        lf.save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    lf.save(lf.GlobalAlignmentClustering(3), tmp_path / "m")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(model_files, "_write_array", interrupt)
    with pytest.raises(KeyboardInterrupt):
        lf.save(fitted(lf.GlobalAlignmentClustering, DATA.views), tmp_path / "m")
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]
    assert lf.load(tmp_path / "m").n_clusters == 3


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The parts of a model file by name."""
    file = tmp_path_factory.mktemp("model") / "m"
    lf.save(fitted(lf.GlobalAlignmentClustering, DATA.views, similarity="graph"), file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(content, method=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, part in content.items():
            archive.writestr(name, part)
    return stream.getvalue()


def refused(data, file, words):
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match=words) as error:
        lf.load(file)
    assert str(file) in str(error.value)


def with_header(content, **changes):
    return {**content, "model.json": json.dumps({**json.loads(content["model.json"]), **changes}).encode()}


def with_state(content, **changes):
    """The file with another state and its checksum, as a forger would write it."""
    state = json.dumps({**json.loads(content["state.json"]), **changes}).encode()
    return {**with_header(content, state=hashlib.sha256(state).hexdigest()), "state.json": state}


def with_array(content, data):
    """The file with other content in the place of one of its arrays, checksums and all."""
    old = next(name for name in content if name.endswith(".npy"))
    new = f"{hashlib.sha256(data).hexdigest()}.npy"
    state = json.loads(content["state.json"].decode().replace(old, new))
    rest = {name: part for name, part in content.items() if name != old}
    return {**with_state(rest, **state), new: data}


def test_files_that_are_not_models(content, tmp_path):
    file = tmp_path / "m"
    refused(b"", file, "is not a model file")
    refused(b"id,label\n1,2\n", file, "is not a model file")
    refused(packed({"a.txt": b"x"}), file, "no model.json")
    refused(packed({"model.json": b"{}"}), file, "describes something else")
    refused(packed({"model.json": b"[1"}), file, "damaged")
    refused(packed({"model.json": b"[" * 100_000}), file, "damaged")
    with pytest.raises(FileNotFoundError, match="Check the path"):
        lf.load(tmp_path / "nothing")
    np.savez(file.with_suffix(".npz"), view_0=np.eye(3))
    refused(file.with_suffix(".npz").read_bytes(), file, "no model.json")
    file.write_bytes(packed(content))
    assert lf.load(file).n_clusters == 3


@pytest.mark.parametrize(
    ("version", "advice"),
    [(2, "Upgrade"), (0, "Save the model again"), (None, "Save"), ("1", "Save"), (True, "Save"), (1.0, "Save")],
)
def test_another_format_version_is_refused(content, version, advice, tmp_path):
    data = packed(with_header(content, format_version=version, latefusion="9.0"))
    refused(data, tmp_path / "m", f"written by latefusion '9.0' with format version .*reads version 1. {advice}")
    with pytest.raises(ModelFileError, match="format version"):
        model_files.describe(tmp_path / "m")


class Trap:
    def __reduce__(self):
        return os.system, ("touch trapped",)


def test_nothing_is_executed(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "m"
    refused(pickle.dumps(Trap()), file, "looks like a pickle")
    for name in ("os.system", "system", "GraphSimilarity", "ConsensusMap", "BaseEstimator", ["os", "system"], None):
        refused(packed(with_header(content, model=name)), file, "names the model|damaged")
    for node in (
        {"part": "os.system", "fields": {"command": "touch trapped"}},
        {"part": "system", "fields": {"command": "touch trapped"}},
        {"part": "GlobalAlignmentClustering", "fields": {}},
        {"part": ["os", "system"], "fields": {}},
        {"reduce": ["os.system", ["touch trapped"]]},
        {"part": "GraphSimilarity", "fields": {"n_neighbors": 5}},
        "touch trapped",
        ["touch trapped"],
        1,
        {},
    ):
        refused(packed(with_state(content, consensus_map=node)), file, "cannot be loaded")
        refused(packed(with_state(content, input_schema=node)), file, "cannot be loaded")
    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    refused(packed(with_array(content, stream.getvalue())), file, "could execute code")
    refused(packed(with_array(content, pickle.dumps(Trap()))), file, "damaged")
    name = next(one for one in content if one.endswith(".npy"))
    refused(packed({**content, name: pickle.dumps(Trap())}), file, "checksum")
    assert not (tmp_path / "trapped").exists()


def state_of(content):
    return json.loads(content["state.json"])


def test_parameters_and_attributes_are_those_of_the_class(content, tmp_path):
    file = tmp_path / "m"
    state = state_of(content)
    for part in ("parameters", "attributes"):
        for changes in ({"more": 1}, {"__class__": "x"}, {"_partitions": None}, {"predict": "x"}):
            words = (
                f"cannot be loaded: the {part} of GlobalAlignmentClustering differ.*unknown: .'{next(iter(changes))}"
            )
            refused(packed(with_state(content, **{part: {**state[part], **changes}})), file, words)
    for part, name in (("parameters", "n_clusters"), ("attributes", "view_weights_"), ("attributes", "view_names_")):
        less = {key: value for key, value in state[part].items() if key != name}
        refused(packed(with_state(content, **{part: less})), file, f"differ.*missing: .'{name}'")
    for name in ("consensus_map", "input_schema", "attributes"):
        refused(packed(with_state(content, **{name: None})), file, "cannot be loaded")
    refused(packed(with_state(content, more=1)), file, "the parts of the state differ")
    refused(
        packed(with_state(content, parameters={**state["parameters"], "n_clusters": "x"})), file, "'n_clusters' param"
    )
    for name, value in {"labels_": "x", "n_views_": True, "converged_": 1, "partitions_": {"list": [1]}}.items():
        words = f"GlobalAlignmentClustering.{name} must not be of type"
        refused(packed(with_state(content, attributes={**state["attributes"], name: value})), file, words)


def test_comparison_methods_have_no_map(content, tmp_path):
    lf.save(fitted(METHODS["concat-kmeans"], DATA.views), tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert state_of(parts)["consensus_map"] is None
    parts |= {name: part for name, part in content.items() if name.endswith(".npy")}
    forged = with_state(parts, consensus_map=state_of(content)["consensus_map"])
    refused(packed(forged), tmp_path / "m", "ConcatKMeans.consensus_map_ must not be of type ConsensusMap")


def parts_of(node):
    """All parts in a tree."""
    if isinstance(node, dict):
        if "part" in node:
            yield node
        for inner in node.values():
            yield from parts_of(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from parts_of(inner)


def test_every_field_of_every_part_is_checked(content, tmp_path):
    """Without a field, with one more, and with a value of another type, a file is refused, wherever it is."""
    file = tmp_path / "m"
    n_parts = len(list(parts_of(state_of(content))))
    seen = set()
    for position in range(n_parts):
        name = list(parts_of(state_of(content)))[position]["part"]
        if name in seen:
            continue
        seen.add(name)
        for field in list(parts_of(state_of(content)))[position]["fields"]:
            for change in ("less", "more", "type"):
                state = state_of(content)
                fields = list(parts_of(state))[position]["fields"]
                if change == "less":
                    del fields[field]
                elif change == "more":
                    fields[f"{field}x"] = fields[field]
                else:
                    fields[field] = {"range": [0, 3, 1]}
                refused(packed(with_state(content, **state)), file, f"cannot be loaded: .*{name}")
    assert {"ConsensusMap", "Block", "GraphExtension", "NearestCenter", "Novelty", "InputSchema"} <= seen


def test_random_values_in_the_state_are_refused_or_give_a_model(content, tmp_path):
    """A forger who changes any value of the state gets a model or the error for such files, nothing else."""
    generator = np.random.default_rng(0)
    values = [None, True, 0, -1, 10**30, float("nan"), "", "x", [], {}, {"list": []}, {"array": "x"}, {"range": [9]}]
    values += [{"kernel": "linear"}, {"dtype": "O"}, {"dtype": "<f8"}, {"scalar": ["<f8", "x"]}, {"neighbors": None}]
    values += [{"sparse": {}}, {"objects": {"shape": [-1], "items": [1]}}, {"random_state": 3}, {"part": "Fill"}]
    values += [{"tuple": [1], "list": [1]}, {"slice": "abcd"}, {"dict": [[[], 1]]}, {"objects": {"shape": [9**9]}}]
    file, n_loaded = tmp_path / "m", 0
    for _ in range(300):
        state = state_of(content)
        places = list(_places(state))
        holder, key = places[int(generator.integers(len(places)))]
        holder[key] = values[int(generator.integers(len(values)))]
        file.write_bytes(packed(with_state(content, **state)))
        with contextlib.suppress(ModelFileError):
            assert isinstance(lf.load(file), lf.GlobalAlignmentClustering)
            n_loaded += 1
    assert n_loaded < 150


def _places(node):
    """Every place of a tree, as container and key."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in list(pairs):
        yield node, key
        yield from _places(inner)


@pytest.mark.parametrize("name", ["../trapped", "/tmp/trapped", "..\\trapped", "array_0.npy/../../x", "extra.npy"])
def test_names_cannot_leave_the_file(content, name, tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    refused(packed({**content, name: b"x"}), tmp_path / "inside" / "m", "parts that model files do not have")
    refused(packed(with_state(content, consensus_map={"array": name})), tmp_path / "inside" / "m", "names the array")
    assert [entry.name for entry in tmp_path.iterdir()] == ["inside"]
    assert [entry.name for entry in (tmp_path / "inside").iterdir()] == ["m"]


def test_parts_that_are_not_used_or_named_twice_are_refused(content, tmp_path):
    refused(packed({**content, f"{'0' * 64}.npy": b"x"}), tmp_path / "m", "parts that its model does not use")
    stream = io.BytesIO(packed(content))
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("state.json", b"{}")
    refused(stream.getvalue(), tmp_path / "m", "parts that model files do not have")
    less = dict(content)
    del less["state.json"]
    refused(packed(less), tmp_path / "m", "damaged")


def test_bombs_are_refused_before_they_are_unpacked(content, tmp_path):
    file = tmp_path / "m"
    refused(packed({**content, "model.json": b" " * 10**7}, zipfile.ZIP_DEFLATED), file, "compressed parts")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": (10**6, 10**6), "fortran_order": False, "descr": "<f8"})
    refused(packed(with_array(content, header.getvalue())), file, "do not fit the shape")
    torn = b"{'descr': ('<f8', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    refused(packed(with_array(content, b"\x93NUMPY\x01\x00v\x00" + torn + bytes(8))), file, "damaged")
    data = bytearray(packed(content))
    # The size of the first part, in its entry of the central directory.
    entry = data.index(b"PK\x01\x02")
    data[entry + 20 : entry + 28] = (2**31).to_bytes(4, "little") * 2
    refused(bytes(data), file, "more than its size")
    deep = b'{"list": [' * 10_000 + b"]}" * 10_000
    state = content["state.json"][:-1] + b', "more": ' + deep + b"}"
    deep_file = {**with_header(content, state=hashlib.sha256(state).hexdigest()), "state.json": state}
    refused(packed(deep_file), file, "damaged|cannot be loaded")


def test_cut_files_are_refused(content, tmp_path):
    data = packed(content)
    for size in np.linspace(2, len(data) - 1, 60).astype(int):
        refused(data[:size], tmp_path / "m", "damaged|not a model")


def test_flipped_bytes_are_refused_or_do_not_matter(content, tmp_path):
    """Only dates and the like may differ: what is loaded is the same model."""
    data = packed(content)
    file = tmp_path / "m"
    file.write_bytes(data)
    model = lf.load(file)
    generator = np.random.default_rng(0)
    accepted = 0
    headers = [position for mark in (b"PK\x01\x02", b"PK\x05\x06") for position in _positions(data, mark)]
    structure = [start + offset for start in headers for offset in range(46)]
    for position in {*generator.integers(len(data), size=300), *generator.choice(structure, 150)}:
        changed = bytearray(data)
        changed[position % len(data)] ^= 1 << int(generator.integers(8))
        file.write_bytes(bytes(changed))
        try:
            found = lf.load(file)
        except ModelFileError:
            continue
        accepted += 1
        assert same_model(found, model)
    assert accepted < 200


def _positions(data, mark):
    start = data.find(mark)
    while start >= 0:
        yield start
        start = data.find(mark, start + 1)


def test_known_transformers_are_stored_and_others_are_named(tmp_path):
    frame = pd.DataFrame({"word": list("abc") * 20, "x": np.arange(60.0) % 7})
    known = make_column_transformer((OneHotEncoder(sparse_output=False), ["word"]), (StandardScaler(), ["x"]))
    views = {"t": frame, "other": DATA.views.arrays[0][:60]}
    model = lf.GlobalAlignmentClustering(3, encoders={"t": known}, random_state=0).fit(views)
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(views), model.labels_)
    own = FunctionTransformer(np.log1p)
    model = lf.GlobalAlignmentClustering(3, encoders={"t": own}, random_state=0).fit({**views, "t": frame[["x"]]})
    with pytest.raises(ValueError, match=r"encoders\['t'\] is an object of class .*FunctionTransformer.*Standard"):
        lf.save(model, tmp_path / "n")
    assert not (tmp_path / "n").exists()
