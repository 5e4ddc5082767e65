import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import latefusion
from latefusion.cli import main


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("LATEFUSION_DATA", raising=False)
    monkeypatch.setenv("LATEFUSION_CACHE", str(tmp_path / "cache"))


def test_installation(capsys, tmp_path):
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    assert latefusion.__version__ in out
    assert np.__version__ in out
    assert "not set (LATEFUSION_DATA)" in out
    assert str(tmp_path / "cache") in out


def test_libraries_and_devices_for_people_and_machines(capsys):
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    for words in ("array libraries", "cpu", "free memory"):
        assert words in out
    assert main(["info", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["backends"]["numpy"] == np.__version__
    assert answer["devices"][0]["name"] == "cpu"
    assert answer["data_folder"] is None


def test_datasets_here_and_not_here(capsys, tmp_path):
    scipy.io.savemat(tmp_path / "plant_Kmatrix.mat", {"KH": np.ones((6, 6, 3)), "Y": [[1, 1, 2, 2, 3, 3]]})
    np.savez(tmp_path / "mine.npz", view_0=np.eye(5))
    (tmp_path / "yale_kernels.npz").write_text("broken")
    assert main(["info", "--datasets", "--data", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("3 data sets here")
    rows = {line.split()[0]: line.split() for line in lines if line}
    assert rows["plant"][1:] == ["6", "3", "3", "kernels", "Plant", "same", "kernels", "plant_Kmatrix.mat"]
    assert rows["mine"][1:5] == ["5", "1", "–", "features"]
    assert rows["flower17"][1:5] == ["1360", "7", "17", "kernels"]
    text = " ".join(" ".join(lines).split())
    assert "is not a readable .npz archive" in text
    assert "ar10p: load_dataset('ar10p', download=True)" in text
    assert "http://www.robots.ox.ac.uk/~vgg/data/flowers/" in text
    assert main(["info", "--datasets", "--data", str(tmp_path), "--json"]) == 0
    known = {one["name"]: one for one in json.loads(capsys.readouterr().out)["datasets"]}
    assert known["plant"]["header"]["n_samples"] == 6
    assert known["flower17"]["path"] is None


def test_without_a_data_folder(capsys):
    assert main(["info", "--datasets"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("0 data sets here (no data folder: give --data, or set LATEFUSION_DATA)")
    assert "Always here: digits" in out


def test_one_file(capsys, tmp_path):
    parts = scipy.sparse.csr_array(np.eye(4))
    held = {f"view_1_{part}": getattr(parts, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "toy.npz", view_0=np.ones((4, 2)), **held, y=[0, 0, 0, 1], names=["a", "b"])
    assert main(["info", str(tmp_path / "toy.npz")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "toy: 4 samples, 2 views (features)"
    assert lines[1] == "2 classes of 1 to 3 samples"
    assert [line.split() for line in lines[-2:]] == [
        ["a", "2", "float64", "dense", "4"],
        ["b", "4", "float64", "sparse", "4"],
    ]
    assert main(["info", str(tmp_path / "toy.npz"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["files"][0]
    assert (answer["n_samples"], answer["class_sizes"], answer["views"][1]["form"]) == (4, [3, 1], "sparse")
    np.savez(tmp_path / "bare.npz", view_0=np.ones((4, 2)))
    assert main(["info", str(tmp_path / "bare.npz")]) == 0
    assert "no labels" in capsys.readouterr().out


def test_wrong_folders_and_files_exit_with_one(capsys, tmp_path, monkeypatch):
    assert main(["info", "--datasets", "--data", str(tmp_path / "nowhere")]) == 1
    assert "is not a folder" in capsys.readouterr().err
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert main(["info", str(tmp_path / "t.csv")]) == 1
    assert "latefusion[io]" in capsys.readouterr().err
