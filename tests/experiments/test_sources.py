import os
import pickle
import re
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import latefusion as lf
from latefusion.experiments.sources import EMBEDDED, find_sources, standardized
from latefusion.types import MultiViewDataset, Views


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(0)
    for name, size in (("small", 20), ("large", 50)):
        np.savez(tmp_path / f"{name}.npz", view_0=generator.normal(size=(size, 3)), y=np.arange(size) % 2)
    (tmp_path / "notes.txt").write_text("not data")
    return tmp_path


@contextmanager
def without_rights(path):
    path.chmod(0)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        path.chmod(0o755)


def test_a_folder_gives_its_files_smallest_first(folder):
    found = find_sources(folder)
    assert [(one.name, one.n_samples, one.n_clusters) for one in found.sources] == [("small", 20, 2), ("large", 50, 2)]
    assert found.refused == {}
    again = pickle.loads(pickle.dumps(found.sources[0]))
    assert again == found.sources[0]
    assert len(again.load().views) == 20


def test_without_a_folder_there_are_the_embedded_sets():
    names = {one.name for one in find_sources(None, most_embedded=40).sources}
    assert names == set(EMBEDDED)


def test_a_folder_may_hold_any_kind_of_file(folder):
    pytest.importorskip("pandas")
    scipy.io.savemat(folder / "AR10P_Kmatrix.mat", {"KH": np.dstack([np.eye(6)] * 2), "Y": np.arange(6) % 3})
    tables = folder / "study"
    tables.mkdir()
    (tables / "genes.csv").write_text("id,a,b\n" + "".join(f"p{i},{i},{i % 3}\n" for i in range(8)))
    (tables / "labels.csv").write_text("id,kind\n" + "".join(f"p{i},{'xy'[i % 2]}\n" for i in range(8)))
    found = {one.title: one for one in find_sources(folder).sources}
    assert list(found) == ["AR10P", "study", "small", "large"]
    assert find_sources(folder, ["AR10P"]).sources[0].n_clusters == 3
    before = found["study"].checksum
    (tables / "genes.csv").write_text((tables / "genes.csv").read_text().replace("p7,7,1", "p7,8,1"))
    assert find_sources(folder, ["study"]).sources[0].checksum != before


def test_the_checksum_follows_the_content(folder):
    before = find_sources(folder, ["small"]).sources[0]
    assert find_sources(folder, ["small"]).sources[0] == before
    np.savez(folder / "small.npz", view_0=np.ones((20, 3)), y=np.arange(20) % 2)
    assert find_sources(folder, ["small"]).sources[0].checksum != before.checksum
    whole, part = (find_sources(None, ["planted"], most_embedded=most).sources[0] for most in (0, 40))
    assert whole.checksum != part.checksum
    assert part.n_samples == 40


def test_the_views_that_the_paper_uses(tmp_path):
    generator = np.random.default_rng(0)
    names = ["CM", "HOG", "GIST", "LBP", "CENT"]
    views = {f"view_{p}": generator.normal(size=(20, p + 2)) for p in range(5)}
    np.savez(tmp_path / "msrc_v1.npz", names=names, y=np.arange(20) % 2, **views)
    source = find_sources(tmp_path, ["MSRC-v1"]).sources[0]
    assert source.title == "MSRC-v1"
    assert source.load().views.names == ("CM", "HOG", "LBP", "CENT")
    np.savez(tmp_path / "msrc_v1.npz", names=names[:4], y=np.arange(20) % 2, **dict(list(views.items())[:4]))
    with pytest.raises(ValueError, match=r"has no views \['CENT'\]"):
        find_sources(tmp_path, ["MSRC-v1"])


def test_what_cannot_be_used_is_said(folder, tmp_path):
    np.savez(folder / "nameless.npz", view_0=np.eye(4))
    (folder / "broken.npz").write_text("no archive")
    found = find_sources(folder, most_samples=30)
    assert [one.name for one in found.sources] == ["small"]
    assert "no classes" in found.refused["nameless"]
    assert "not a readable" in found.refused["broken"]
    assert "50 samples are more than 30" in found.refused["large"]
    with pytest.raises(ValueError, match="not a readable"):
        find_sources(folder, ["broken"])
    with pytest.raises(ValueError, match=r"Unknown data set 'Plant'.*small"):
        find_sources(folder, ["Plant"])
    with pytest.raises(NotADirectoryError, match="not a folder"):
        find_sources(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="has no data set that can be read"):
        find_sources(tmp_path / "empty")


def test_a_folder_without_rights(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    with without_rights(locked), pytest.raises(PermissionError, match="Permission denied"):
        find_sources(locked)


def test_a_folder_of_tables_without_rights_is_refused_by_name_and_the_rest_is_used(folder, monkeypatch):
    (folder / "locked").mkdir()
    list_folder = type(folder).iterdir

    def refuse(path):
        if path.name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return list_folder(path)

    monkeypatch.setattr(type(folder), "iterdir", refuse)
    sources, refused = find_sources(folder)
    assert [source.name for source in sources] == ["small", "large"]
    assert re.search(r"Permission denied: .*locked", refused["locked"])


def test_only_dense_features_are_scaled():
    generator = np.random.default_rng(0)
    dense = np.column_stack([generator.normal(5, 100, size=30), np.ones(30)])
    sparse = scipy.sparse.csr_array(np.eye(30))
    data = MultiViewDataset(Views([dense, sparse]))
    scaled = standardized(data)
    np.testing.assert_allclose(scaled[0].std(axis=0), [1, 0], atol=1e-12)
    assert scaled[1] is sparse
    kernels = MultiViewDataset(Views([dense @ dense.T]), kind="kernels")
    assert standardized(kernels)[0] is kernels.views.arrays[0]
    assert lf.datasets.make_views(20, 2, random_state=0).kind == "features"
