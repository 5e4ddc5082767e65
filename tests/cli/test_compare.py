import numpy as np

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.cli import main
from tests.cli.shell import write_tables


def test_all_methods_on_the_digits_views(capsys):
    assert main(["compare", "--samples", "150"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("150 samples, 5 views, 10 clusters")
    for name in [*METHODS, "late-fusion", "LF-MVC-GAM", "LF-MVC-LAM"]:
        assert any(line.startswith(f"{name} ") for line in out.splitlines()), name
    assert "failed" not in out


def test_a_file_of_kernels_and_chosen_methods(tmp_path, capsys):
    data = lf.datasets.make_views(40, 2, random_state=0)
    kernels = {f"kernel_{p}": lf.kernels.gaussian_kernel(view) for p, view in enumerate(data.views.arrays)}
    np.savez(tmp_path / "k.npz", names=np.array(["a", "b", "c"]), y=data.target, **kernels)
    assert main(["compare", str(tmp_path / "k.npz"), "--methods", "A-MKKM", "LF-MVC-LAM"]) == 0
    out = capsys.readouterr().out
    assert "A-MKKM" in out
    assert "LF-MVC-LAM" in out
    assert "concat-kmeans" not in out
    assert main(["compare", str(tmp_path / "k.npz"), "--samples", "20"]) == 1
    assert "cannot cut kernels" in capsys.readouterr().err


def test_without_classes_the_number_of_clusters_is_asked_for(tmp_path, capsys):
    data = lf.datasets.make_views(30, 2, random_state=0)
    views = {f"view_{p}": view for p, view in enumerate(data.views.arrays)}
    np.savez(tmp_path / "v.npz", names=np.array(["a", "b", "c"]), **views)
    assert main(["compare", str(tmp_path / "v.npz"), "--methods", "A-MKKM"]) == 1
    assert "-k" in capsys.readouterr().err
    assert main(["compare", str(tmp_path / "v.npz"), "-k", "2", "--methods", "A-MKKM"]) == 0
    assert "ACC" not in capsys.readouterr().out


def test_several_tables_with_classes_in_another(tmp_path, capsys, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["compare", "genes.csv", "proteins.csv", "--labels", "truth.csv", "--methods", "concat-kmeans", "gam"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("90 samples, 2 views, 3 clusters")
    assert [line.partition(":")[0] for line in captured.err.splitlines()] == ["concat-kmeans", "gam"]
    assert main([*words[:3], "--methods", "simplemkm"]) == 1
    assert "Did you mean SimpleMKKM?" in capsys.readouterr().err
