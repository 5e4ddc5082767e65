"""The catalogue tells the truth about the paper and about the data folder, whatever lies in it."""

from __future__ import annotations

import dataclasses
import inspect
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import latefusion as lf
from latefusion.datasets import catalogue as module
from latefusion.datasets import fetchers, find_datasets, load_dataset, make_views
from latefusion.datasets.catalogue import DatasetCopy, data_folder, known_datasets
from latefusion.datasets.download import RemoteFile
from latefusion.datasets.labels import plain
from tests.datasets.web import Site, serving

# The two tables of data sets in the paper: samples, views, classes.
PAPER = {
    "AR10P": (130, 6, 10),
    "YALE": (165, 5, 15),
    "Plant": (940, 69, 4),
    "Mfeat": (2000, 12, 10),
    "CCV": (6773, 3, 20),
    "Flower17": (1360, 7, 17),
    "Caltech102-5": (510, 48, 102),
    "Caltech102-10": (1020, 48, 102),
    "Caltech102-15": (1530, 48, 102),
    "Caltech102-20": (2040, 48, 102),
    "Caltech102-25": (2550, 48, 102),
    "Caltech102-30": (3060, 48, 102),
    "MSRC-v1": (210, 4, 7),
    "Caltech101-7": (1474, 3, 7),
    "Caltech101-20": (2386, 3, 20),
    "ALOI": (8640, 3, 80),
    "Reuters": (18758, 5, 6),
    "Mnist": (60000, 3, 10),
}
LIKENESSES = {"same kernels", "same samples, own kernels", "recomputed features", "relative"}


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("LATEFUSION_DATA", raising=False)
    monkeypatch.setenv("LATEFUSION_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "data"
    place.mkdir()
    return place


def save_kernels(path, seed=0, n_views=2):
    views = make_views(30, 3, random_state=seed)
    kernels = np.stack([lf.kernels.gaussian_kernel(array) for array in views.views.arrays[:n_views]], axis=2)
    scipy.io.savemat(path, {"KH": kernels, "Y": views.target[:, None] + 1})


def test_the_eighteen_data_sets_of_the_paper():
    listed = {e.paper: (e.n_samples, e.n_views, e.n_classes) for e in known_datasets() if e.paper}
    assert listed == PAPER


def test_entries_are_complete_and_names_are_unique():
    names = [name for entry in known_datasets() for name in module._names(entry)]
    assert len(names) == len(set(names))
    assert not {plain(name) for name in module.EMBEDDED} & set(names)
    for entry in known_datasets():
        assert entry.source.startswith("http")
        assert entry.licence
        assert entry.kind in ("features", "kernels")
        assert entry.copies
        if entry.fetcher:
            inspect.signature(getattr(fetchers, entry.fetcher)).bind(**entry.fetcher_options)
        for copy in entry.copies:
            assert (copy.likeness in LIKENESSES) == bool(entry.paper), copy
            assert copy.url == "" or copy.url.startswith("https://")
            assert not copy.url or copy.url.endswith(copy.file)


def test_sizes_of_the_files_at_hand(shared_data):
    """Every file of the data folder is in the catalogue; outside the paper, and for equal likeness, sizes agree."""
    folder = shared_data("mfeat").parent
    found = [item for item in find_datasets(folder) if item.path is not None]
    assert {item.path.name for item in found} == {path.name for path in folder.glob("*.npz")}
    for item in found:
        assert item.problem == ""
        assert item.entry is not None
        stated = (item.entry.n_samples, item.entry.n_views, item.entry.n_classes)
        if item.copy.likeness in ("", "same kernels"):
            assert (*stated, item.entry.kind) == item.header
        elif item.copy.likeness != "relative":
            assert (stated[0], stated[2]) == (item.header.n_samples, item.header.n_classes)


def test_views_of_the_paper_are_in_their_files(shared_data):
    folder = shared_data("mfeat").parent
    checked = 0
    for entry in known_datasets():
        for copy in entry.copies:
            if copy.views and (folder / copy.file).exists():
                checked += 1
                assert len(copy.views) == entry.n_views
                assert set(copy.views) <= set(load_dataset(entry.name, data=folder).views.names)
    assert checked == 2


def test_a_folder_of_all_sorts(folder):
    save_kernels(folder / "PLANT_kmatrix.mat")
    np.savez(folder / "mine.npz", view_0=np.eye(5), y=[0, 0, 1, 1, 2])
    (folder / "yale_kernels.npz").write_bytes(b"PK\x03\x04 cut short")
    (folder / "README.md").write_text("not data")
    (folder / "notes.txt").write_text("not data")
    (folder / ".hidden.npz").write_text("not data")
    (folder / "empty").mkdir()
    found = {item.name: item for item in find_datasets(folder)}
    assert found["plant"].header == (30, 2, 3, "kernels")
    assert found["plant"].copy.likeness == "same kernels"
    assert found["mine"].header == (5, 1, 3, "features")
    assert found["mine"].entry is None
    assert "yale_kernels.npz" in found["yale"].problem
    assert found["ccv"].path is None
    assert len(found) == len(known_datasets()) + 1


def test_folders_of_tables_are_data_sets(folder):
    pytest.importorskip("pandas")
    (folder / "study").mkdir()
    (folder / "study" / "genes.csv").write_text("id,a\nx,1\ny,2\n")
    (folder / "study" / "labels.csv").write_text("id,c\nx,u\ny,v\n")
    found = {item.name: item for item in find_datasets(folder)}
    assert found["study"].header == (2, 1, 2, "features")
    assert load_dataset("study", data=folder).target_names == ("u", "v")


def test_large_tables_are_listed_only(folder, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_TABLE", 3)
    (folder / "big.csv").write_text("a,b\n1,2\n")
    (item,) = [item for item in find_datasets(folder) if item.name == "big"]
    assert item.header is None
    assert "large" in item.problem


@pytest.mark.parametrize("name", ["plant", "Plant", "PLANT_Kmatrix"])
def test_loading_by_any_name(folder, name, monkeypatch):
    save_kernels(folder / "plant_Kmatrix.mat")
    monkeypatch.setenv("LATEFUSION_DATA", str(folder))
    dataset = load_dataset(name)
    assert dataset.name == "plant"
    assert dataset.kind == "kernels"
    assert "Plant of the paper: same kernels" in dataset.description
    assert "Licence: not stated" in dataset.description


def test_the_closest_copy_is_taken(folder):
    np.savez(folder / "flower17.npz", view_0=np.eye(30))
    assert "recomputed features" in load_dataset("flower17", data=folder).description
    save_kernels(folder / "flower17_Kmatrix.mat")
    dataset = load_dataset("flower17", data=folder)
    assert dataset.kind == "kernels"
    assert "same kernels" in dataset.description


def test_unknown_files_and_embedded_sets(folder):
    np.savez(folder / "My-Data.npz", view_0=np.eye(5))
    assert load_dataset("my_data", data=folder).name == "My-Data"
    assert len(load_dataset("digits").views) == 1797
    assert load_dataset("Breast-Cancer").views.n_views == 3


def test_what_is_not_here(folder):
    with pytest.raises(FileNotFoundError, match=r"'plant'.*no data folder is set.*put plant_Kmatrix\.mat.*mkl\.ucsd"):
        load_dataset("plant")
    with pytest.raises(FileNotFoundError, match=r"'ar10p'.*not in '.*data'.*load_dataset\('ar10p', download=True\)"):
        load_dataset("AR10P", data=folder)
    with pytest.raises(FileNotFoundError, match=r"'plant' cannot be downloaded"):
        load_dataset("plant", download=True)
    with pytest.raises(ValueError, match=r"Unknown data set 'flower71'.*Did you mean flower17"):
        load_dataset("flower71", data=folder)


def test_data_folders_that_are_none(tmp_path, monkeypatch):
    assert data_folder() is None
    with pytest.raises(NotADirectoryError, match=r"data must be a folder of data sets; '.*nowhere'"):
        find_datasets(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    monkeypatch.setenv("LATEFUSION_DATA", str(tmp_path / "file"))
    with pytest.raises(NotADirectoryError, match="LATEFUSION_DATA must be"):
        load_dataset("yale")
    monkeypatch.setenv("LATEFUSION_DATA", str(tmp_path))

    def refuse(path):  # what happens to those who have no rights
        raise PermissionError(path)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(PermissionError, match="Permission denied: the data folder"):
        find_datasets()


def test_download_by_name(tmp_path, monkeypatch):
    save_kernels(tmp_path / "k.mat")
    with serving({"/ar10p/AR10P_Kmatrix.mat": (site := Site((tmp_path / "k.mat").read_bytes()))}) as address:
        known = next(entry for entry in known_datasets() if entry.name == "ar10p")
        copy = DatasetCopy("AR10P_Kmatrix.mat", "same kernels", url=f"{address}/ar10p/AR10P_Kmatrix.mat")
        served = dataclasses.replace(known, copies=(copy,))
        monkeypatch.setattr(module, "known_datasets", lambda: (served,))
        dataset = load_dataset("ar10p", download=True)
        assert dataset.views.n_views == 2
        assert load_dataset("ar10p").views.n_views == 2
        assert len(site.requests) == 1
        assert [item.header for item in find_datasets()] == [(30, 2, 3, "kernels")]


def test_download_through_a_fetcher(tmp_path, monkeypatch):
    seen = {}

    def fetch(**options):
        seen.update(options)
        return make_views(10, 2, random_state=0)

    monkeypatch.setattr(fetchers, "fetch_three_sources", fetch)
    dataset = load_dataset("3sources", download=True)
    assert seen == {"only_complete": True}
    assert dataset.name == "3sources"
    monkeypatch.setattr("latefusion.datasets.download.N_RETRIES", 0)
    monkeypatch.setattr(fetchers, "UCI_MULTIFEATURE", RemoteFile("ftp://x/y", "y"))
    with pytest.raises(OSError, match="No connection adapters were found for 'ftp"):
        load_dataset("mfeat", download=True)


def test_the_guide_lists_the_catalogue():
    guide = Path(__file__).parents[2] / "docs" / "DATA.md"
    if not guide.exists():
        pytest.skip("docs are not part of the source archive")
    rows = [line.split(" | ") for line in guide.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    listed = {row[0].strip("| `"): [*row[1:6], row[-1].strip(" |")] for row in rows if len(row) == 9}
    assert listed == {
        e.name: [e.paper or "–", str(e.n_samples), str(e.n_views), str(e.n_classes), e.kind, e.licence]
        for e in known_datasets()
    }
