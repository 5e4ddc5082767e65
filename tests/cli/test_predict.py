"""`latefusion predict`: the labels of the model, for samples in files."""

import json

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from latefusion.cli.predict import match_views
from latefusion.types import Views
from tests.cli.shell import latefusion, write_tables


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with tables, the labels of their samples, and the model."""
    folder = tmp_path_factory.mktemp("trained")
    write_tables(folder)
    words = ["-k", "3", "--quiet", "-o", str(folder / "labels.csv"), "--save", str(folder / "groups.model")]
    assert main(["cluster", str(folder / "genes.csv"), str(folder / "proteins.csv"), *words]) == 0
    return folder


@pytest.fixture
def folder(trained, tmp_path, monkeypatch):
    """A folder with thirty of the samples as new ones, under other file names."""
    for name in ("genes", "proteins"):
        table = pd.read_csv(trained / f"{name}.csv").sort_values("patient")
        table[30:60].to_csv(tmp_path / f"new_{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(capsys, *words):
    assert main(["predict", *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


def test_training_samples_get_their_labels_back(trained, tmp_path):
    words = ["predict", "groups.model", "proteins.csv", "genes.csv", "-o", tmp_path / "again.csv"]
    done = latefusion(*words, folder=trained)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("90 new samples, median confidence")
    again = pd.read_csv(tmp_path / "again.csv").set_index("patient")
    labels = pd.read_csv(trained / "labels.csv").set_index("patient").loc[again.index]
    np.testing.assert_array_equal(again["label"], labels["label"])
    np.testing.assert_allclose(again["confidence"], labels["confidence"], atol=1e-8)


@pytest.mark.parametrize("order", [["new_genes.csv", "new_proteins.csv"], ["new_proteins.csv", "new_genes.csv"]])
def test_files_are_matched_by_what_they_are_called(folder, trained, capsys, order):
    assert main(["predict", str(trained / "groups.model"), *order, "--json"]) == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert captured.err == ""
    assert any("new_genes as view genes" in one for one in answer["warnings"])
    labels = pd.read_csv(trained / "labels.csv").set_index("patient")["label"]
    assert answer["samples"]["label"] == labels.loc[answer["samples"]["id"]].tolist()
    assert answer["n_samples"] == 30


def test_unknown_file_names_are_matched_by_order(folder, trained, capsys):
    (folder / "new_genes.csv").rename("one.csv")
    (folder / "new_proteins.csv").rename("two.csv")
    assert main(["predict", str(trained / "groups.model"), "one.csv", "two.csv"]) == 0
    captured = capsys.readouterr()
    assert "Note: Using one as view genes, two as view proteins, in this order." in captured.out
    assert "30 new samples" in captured.out
    message = refusal(capsys, str(trained / "groups.model"), "two.csv", "one.csv")
    assert "View 'genes' does not have the columns ['genes_0', 'genes_1', 'genes_2' and" in message
    assert main(["predict", str(trained / "groups.model"), "one.csv", "two.csv", "--quiet", "-o", "l.csv"]) == 0
    assert capsys.readouterr() == ("", "")


def test_columns_in_another_order_are_reordered_by_name(folder, trained, capsys):
    command = ["predict", str(trained / "groups.model"), "new_genes.csv", "new_proteins.csv", "-o", "-"]
    assert main(command) == 0
    expected = capsys.readouterr().out
    table = pd.read_csv("new_genes.csv")
    table[["patient", *table.columns[:0:-1]]].to_csv("new_genes.csv", index=False)
    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.out == expected
    assert captured.err.count("View 'genes' had the columns in another order than in `fit`") == 1
    assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr() == (expected, "")


def test_errors_name_the_problem(folder, trained, capsys):
    model = str(trained / "groups.model")
    assert "'.' is a folder. Give the name of a model file" in refusal(capsys, ".", "new_genes.csv")
    assert "File not found: 'x.model' (a model file)" in refusal(capsys, "x.model", "new_genes.csv")
    assert "is not a model file" in refusal(capsys, "new_genes.csv", "new_genes.csv")
    (folder / "cut.model").write_bytes((trained / "groups.model").read_bytes()[:5000])
    assert "is damaged or not a model file" in refusal(capsys, "cut.model", "new_genes.csv", "new_proteins.csv")
    (folder / "new_genes.csv").rename("a.csv")
    assert "Give the files the names of the views" in refusal(capsys, model, "a.csv")
    pd.read_csv("new_proteins.csv").to_csv("proteins.csv", index=False)
    assert "The model has no view a" in refusal(capsys, model, "a.csv", "proteins.csv")
    plain = lf.baselines.METHODS["concat-kmeans"](2).fit(pd.read_csv("a.csv").iloc[:, 1:])
    lf.save(plain, "plain.model")
    assert "ConcatKMeans cannot label new samples" in refusal(capsys, "plain.model", "a.csv")
    lf.save(lf.LateFusionClustering(), "unfitted.model")
    assert "not fitted" in refusal(capsys, "unfitted.model", "a.csv")


@pytest.mark.parametrize("option", [["-o"], ["--force", "-o"]])
def test_neither_the_model_nor_the_data_are_overwritten(folder, trained, capsys, option):
    model = folder / "groups.csv"
    model.write_bytes((trained / "groups.model").read_bytes())
    before = sorted(path.read_bytes() for path in folder.iterdir())
    (folder / "link.csv").symlink_to(model)
    for name in ("groups.csv", "link.csv", "new_genes.csv", "./new_proteins.csv"):
        message = refusal(capsys, str(model), "new_genes.csv", "new_proteins.csv", *option, name)
        assert "would overwrite the input" in message
    (folder / "link.csv").unlink()
    (folder / "new").mkdir()
    for name in ("genes", "proteins"):
        (folder / f"new_{name}.csv").rename(folder / "new" / f"{name}.csv")
    assert "of the input folder 'new'" in refusal(capsys, str(model), "new", *option, "new/labels.csv")
    assert sorted(path.read_bytes() for path in folder.rglob("*.csv")) == before


def test_views_that_are_absent_are_named(folder, trained, capsys):
    model = str(trained / "groups.model")
    assert main(["predict", model, "new_genes.csv"]) == 0
    out = capsys.readouterr().out
    assert "Note: View 'proteins' is missing for all samples. They are labeled by the other views.\n" in out
    pd.read_csv("new_proteins.csv")[:18].to_csv("new_proteins.csv", index=False)
    assert main(["predict", model, "new_genes.csv", "new_proteins.csv", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["views"] == [{"name": "genes", "samples": 30}, {"name": "proteins", "samples": 18}]
    matched, message = answer["warnings"]
    assert matched == "Using new_genes as view genes, new_proteins as view proteins."
    assert message == "View 'proteins' is missing for 12 of 30 samples. They are labeled by the other views."
    files = [str(trained / f"{name}.csv") for name in ("genes", "proteins")]
    assert main(["predict", model, *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []


def test_samples_far_from_the_training_samples_are_counted(folder, trained, capsys):
    for name in ("genes", "proteins"):
        table = pd.read_csv(f"new_{name}.csv")
        table.loc[:4, table.columns != "patient"] += 1000
        table.to_csv(f"new_{name}.csv", index=False)
    words = ["predict", str(trained / "groups.model"), "new_genes.csv", "new_proteins.csv"]
    assert main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    novel = np.array(answer["samples"]["novelty"]) > 1
    assert novel[:5].all()
    assert answer["novel"] == novel.sum() < 10
    assert main([*words, "-o", "l.csv"]) == 0
    assert f"Novelty: {answer['novel']} of 30 samples are farther from all training samples" in capsys.readouterr().out
    assert list(pd.read_csv("l.csv").columns) == ["patient", "label", "confidence", "novelty"]


def test_views_are_never_guessed_when_names_contradict():
    views = Views({"a_b": np.eye(2), "c": np.eye(2), "d": np.eye(2)})
    with pytest.raises(ValueError, match="no view a_b, d, and no file matches its view a, b"):
        match_views(views, ("a", "b", "c"))
    found, message = match_views(Views({"new_a": np.eye(2), "c": np.eye(2)}), ("c", "a"))
    assert found.names == ("a", "c")
    assert message == "using new_a as view a, c as view c"


def test_memberships_of_new_samples_are_summarized(folder, trained, capsys):
    words = [str(trained / name) for name in ("genes.csv", "proteins.csv")]
    how = ["-k", "3", "--method", "gam", "--memberships", "--save", "m.model", "--quiet"]
    assert main(["cluster", *words, *how]) == 0
    command = ["predict", "m.model", "new_genes.csv", "new_proteins.csv", "--memberships"]
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    own = np.array(answer["samples"]["membership"])
    assert answer["membership"] == {"median": np.median(own), "below_half": int(np.sum(own < 0.5))}
    assert main(command) == 0
    text = capsys.readouterr().out
    assert f"\nMembership: median {np.median(own):.2f} (probability that a sample keeps" in text
    assert main(["predict", "m.model", "new_genes.csv", "new_proteins.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["membership"] is None


def test_a_model_without_calibrated_memberships_is_refused(folder, trained, capsys):
    model = str(trained / "groups.model")
    message = refusal(capsys, model, "new_genes.csv", "new_proteins.csv", "--memberships")
    assert "was written without the calibration of memberships" in message
    assert f"latefusion cluster ... --memberships --save {model}" in message
