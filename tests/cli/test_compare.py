import json

import numpy as np
import pandas as pd

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
    assert "KMeans on" in out  # the best single view
    assert "ARI with ours" in out
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
    assert "--samples requires features" in capsys.readouterr().err


def test_without_classes_the_number_is_found_and_ours_is_the_measure(tmp_path, capsys):
    data = lf.datasets.make_views(60, 3, random_state=0)
    views = {f"view_{p}": view for p, view in enumerate(data.views.arrays)}
    np.savez(tmp_path / "v.npz", names=np.array(["a", "b", "c"]), **views)
    file = str(tmp_path / "v.npz")
    assert main(["compare", file, "-k", "2-4", "--methods", "A-MKKM", "late-fusion"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("60 samples, 3 views, 3 clusters")
    assert "best of 2–4" in captured.err
    assert "ARI with ours" in captured.out
    assert "ACC" not in captured.out
    assert main(["compare", file, "-k", "2", "--methods", "A-MKKM", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["n_clusters"], [row["method"] for row in answer["methods"]]) == (2, ["A-MKKM"])


def test_samples_with_missing_views_are_excluded_and_counted(tmp_path, capsys, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    table = pd.read_csv("genes.csv").sort_values("patient")
    table[:70].to_csv("genes.csv", index=False)
    words = ["compare", "genes.csv", "proteins.csv", "-k", "3", "--methods", "concat-kmeans", "late-fusion", "--json"]
    assert main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["n_samples"] == 70
    assert "70 of 90 samples have all views" in answer["notes"][0]
    plain, ours = answer["methods"]
    assert (ours["scores"]["agreement"], plain["note"]) == (1.0, "")
    table[:7].to_csv("genes.csv", index=False)
    assert main(words) == 1
    assert "Only 7 of 90 samples have all views" in capsys.readouterr().err


def test_several_tables_with_classes_in_another(tmp_path, capsys, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["compare", "genes.csv", "proteins.csv", "--labels", "truth.csv", "--methods", "concat-kmeans", "gam"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("90 samples, 2 views, 3 clusters")
    assert captured.err == ""
    assert [line.split()[0] for line in captured.out.splitlines()[-2:]] == ["concat-kmeans", "gam"]
    assert main([*words[:3], "--methods", "simplemkm"]) == 1
    assert "Did you mean SimpleMKKM?" in capsys.readouterr().err


def test_messy_tables_are_compared_and_notes_are_shown_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng, group = np.random.default_rng(0), np.repeat([0, 1], 40)
    customers = ["nr;region;sales;discount", *(
        f"k{row};{'Nord' if one else 'Süd'};{1 + row % 7 + 3 * one}.{100 + row},50 €;{5 * one + row % 3},5 %"
        for row, one in enumerate(group)
    )]  # fmt: skip
    customers[3] = "k2;?;;1,5 %"
    customers[60] = customers[60].replace("Nord", " nord")
    (tmp_path / "customers.csv").write_text("\n".join(customers), encoding="cp1252")
    survey = pd.DataFrame({"nr": [f"k{row}" for row in range(80)], "visits": rng.poisson(2 + 8 * group)})
    survey["when"] = [f"2024-0{1 + 4 * one}-{1 + row % 28:02d}" for row, one in enumerate(group)]
    survey.iloc[4:].to_csv("survey.csv", index=False)
    methods = ["concat-kmeans", "MKKM", "LF-MVC-GAM", "late-fusion"]
    files = ["customers.csv", "survey.csv"]
    assert main(["compare", *files, "-k", "2", "--json", "--methods", *methods]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_samples"] == 76
    assert [row["method"] for row in found["methods"]] == methods
    assert [row["note"] for row in found["methods"]] == [""] * len(methods)
    assert all(row["clusters"] == 2 for row in found["methods"])
    assert found["notes"][0].startswith("76 of 80 samples have all views")
    assert found["notes"][1:] == [
        "View 'customers': Column 'region' has categories that differ only by case or blanks, such as 'Nord' and "
        "'nord'. They are taken as the same."
    ]
    assert main(["compare", *files, "-k", "2", "--methods", *methods]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("differ only by case or blanks") == 1
    assert "failed" not in printed.out
