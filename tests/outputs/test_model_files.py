"""Models as files come back the same; what is no model, or was changed, is refused, and nothing in it is run."""

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

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.outputs import ModelFileError, model_files
from tests.outputs.likeness import alike

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
    assert alike(again, model)
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


def test_a_search_for_the_number_comes_back_with_its_evidence(tmp_path):
    model = fitted(lf.LateFusionClustering, DATA.views, n_clusters=range(2, 4), random_state=np.random.RandomState(1))
    again = check_there_and_back(model, DATA.views, tmp_path / "m")
    assert again.number_selection_.reason == model.number_selection_.reason
    assert alike(again.weight_intervals(5), model.weight_intervals(5))


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
    with zipfile.ZipFile(tmp_path / "a") as archive:
        said = json.loads(archive.read("model.json"))
    assert (said["latefusion"], said["format_version"]) == (lf.__version__, 1)
    assert said["libraries"]["numpy"] == np.__version__
    assert all(len(digest) == 64 for digest in said["arrays"].values())


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


def test_a_file_with_a_changed_summary_is_refused_by_name(tmp_path):
    lf.save(lf.GlobalAlignmentClustering(3), tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        said = json.loads(archive.read("model.json"))
    for summary in (None, [], {"model": "x"}, {"model": "x", "views": [], "n_clusters": 1, "n_samples": 1}):
        with zipfile.ZipFile(tmp_path / "b", "w") as archive:
            archive.writestr("model.json", json.dumps({**said, "summary": summary}))
        with pytest.raises(ModelFileError, match=r"b' is damaged"):
            model_files.describe(tmp_path / "b")


def test_code_and_foreign_objects_are_refused_and_leave_no_file(tmp_path):
    model = fitted(lf.GlobalAlignmentClustering, DATA.views, kernel=lambda X, Y: X @ Y.T)
    with pytest.raises(ValueError, match=r"GlobalAlignmentClustering.kernel is the function .*given by you"):
        lf.save(model, tmp_path / "m")
    with pytest.raises(ValueError, match="Only models of latefusion"):
        lf.save({"a": 1}, tmp_path / "m")
    with pytest.raises(ValueError, match="Only models of latefusion"):
        lf.save(lf.GraphSimilarity(), tmp_path / "m")

    class Own(lf.GlobalAlignmentClustering):
        pass

    with pytest.raises(ValueError, match="Only models of latefusion"):
        lf.save(Own(), tmp_path / "m")
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


def with_description(content, **changes):
    return {**content, "model.json": json.dumps({**json.loads(content["model.json"]), **changes}).encode()}


def test_files_that_are_no_models(content, tmp_path):
    file = tmp_path / "m"
    refused(b"", file, "is not a model file")
    refused(b"id,label\n1,2\n", file, "is not a model file")
    refused(packed({"a.txt": b"x"}), file, "no model.json")
    refused(packed({"model.json": b"{}"}), file, "describes something else")
    refused(packed({"model.json": b"[1"}), file, "damaged")
    refused(packed({"model.json": b"[" * 100_000}), file, "damaged")
    with pytest.raises(FileNotFoundError, match="check the path"):
        lf.load(tmp_path / "nothing")
    np.savez(file.with_suffix(".npz"), view_0=np.eye(3))
    refused(file.with_suffix(".npz").read_bytes(), file, "no model.json")
    file.write_bytes(packed(content))
    assert lf.load(file).n_clusters == 3


def test_a_newer_format_asks_for_an_upgrade(content, tmp_path):
    data = packed(with_description(content, format_version=2, latefusion="9.0"))
    refused(data, tmp_path / "m", r"written by latefusion 9.0 in version 2 .*Upgrade")


class Trap:
    def __reduce__(self):
        return os.system, ("touch trapped",)


def test_nothing_is_run(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "m"
    refused(pickle.dumps(Trap()), file, "looks like a pickle")
    description = json.loads(content["model.json"])
    for tree in (
        {"object": "os.system", "fields": {"command": "touch trapped"}},
        {"object": "system", "fields": {"command": "touch trapped"}},
        {"object": "GraphSimilarity", "fields": {"n_neighbors": 5}},
        {"object": ["os", "system"], "fields": {}},
        "touch trapped",
    ):
        refused(packed(with_description(content, model=tree)), file, "cannot be loaded|damaged")
    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    name = next(iter(description["arrays"]))
    digests = {**description["arrays"], name: model_files.hashlib.sha256(stream.getvalue()).hexdigest()}
    trapped = {**with_description(content, arrays=digests), name: stream.getvalue()}
    refused(packed(trapped), file, "could run code")
    refused(packed({**content, name: pickle.dumps(Trap())}), file, "checksum")
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("name", ["../trapped", "/tmp/trapped", "..\\trapped", "array_0.npy/../../x", "extra.npy"])
def test_names_lead_nowhere(content, name, tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    refused(packed({**content, name: b"x"}), tmp_path / "inside" / "m", "other parts than its description says")
    description = json.loads(content["model.json"])
    named = {**description["arrays"], name: "0" * 64}
    refused(packed({**with_description(content, arrays=named), name: b"x"}), tmp_path / "inside" / "m", "other parts")
    assert [entry.name for entry in tmp_path.iterdir()] == ["inside"]
    assert [entry.name for entry in (tmp_path / "inside").iterdir()] == ["m"]


def test_bombs_are_refused_before_they_are_unpacked(content, tmp_path):
    file = tmp_path / "m"
    refused(packed({**content, "model.json": b" " * 10**7}, zipfile.ZIP_DEFLATED), file, "compressed parts")
    name = next(one for one in content if one.startswith("array_"))
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": (10**6, 10**6), "fortran_order": False, "descr": "<f8"})
    digest = model_files.hashlib.sha256(header.getvalue()).hexdigest()
    arrays = {**json.loads(content["model.json"])["arrays"], name: digest}
    bomb = {**with_description(content, arrays=arrays), name: header.getvalue()}
    refused(packed(bomb), file, "says to be of shape")
    data = bytearray(packed(content))
    # The size of the first part, in its entry of the central directory.
    entry = data.index(b"PK\x01\x02")
    data[entry + 20 : entry + 28] = (2**31).to_bytes(4, "little") * 2
    refused(bytes(data), file, "more than its size")


def test_cut_files_are_refused(content, tmp_path):
    data = packed(content)
    for size in np.linspace(2, len(data) - 1, 60).astype(int):
        refused(data[:size], tmp_path / "m", "damaged|no model")


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
        assert alike(found, model)
    assert accepted < 200


def _positions(data, mark):
    start = data.find(mark)
    while start >= 0:
        yield start
        start = data.find(mark, start + 1)
