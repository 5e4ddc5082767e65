"""`latefusion profiles`: the features by which the clusters of a saved model differ."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import latefusion as lf
from latefusion.cli import main
from tests.cli.shell import latefusion, one_line


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a table of words and amounts, a table of markers, and the model."""
    folder = tmp_path_factory.mktemp("trained")
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    ids = [f"p{row:02d}" for row in range(90)]
    clinic = pd.DataFrame(
        {
            "patient": ids,
            "region": np.where(rng.random(90) < 0.9, np.array(["=north", "south", "east"])[group], ""),
            "spend": [f"{value:.2f} €".replace(".", ",") for value in 100 * (1 + group) + rng.normal(0, 10, 90)],
            "since": [f"{day:%d.%m.%Y}" for day in pd.Timestamp("2020-01-01") + pd.to_timedelta(group * 365, "D")],
            "=cmd": rng.normal(0, 1, 90).round(4),
        }
    )
    markers = pd.DataFrame(rng.normal(np.eye(3)[group] * 8, 1), columns=["m0", "m1", "m2"])
    markers.insert(0, "patient", ids)
    clinic.sample(frac=1, random_state=0).to_csv(folder / "clinic.csv", sep=";", index=False)
    markers[5:].to_csv(folder / "markers.csv", index=False)
    words = ["-k", "3", "--quiet", "--save", str(folder / "groups.model")]
    assert main(["cluster", str(folder / "clinic.csv"), str(folder / "markers.csv"), *words]) == 0
    return folder


@pytest.fixture
def folder(trained, tmp_path, monkeypatch):
    for file in trained.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = ["profiles", "groups.model", "clinic.csv", "markers.csv"]


def refusal(capsys, *words):
    assert main(["profiles", *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert one_line(captured.err)
    return captured.err


def test_the_file_has_the_table_of_python(folder, capsys):
    assert main([*WORDS, "-o", "profiles.csv", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    written = pd.read_csv("profiles.csv")
    data = lf.datasets.load_files(["clinic.csv", "markers.csv"])
    found = lf.profiles(lf.load("groups.model"), data.views).to_frame()
    assert list(written.columns) == list(found.columns)
    assert len(written) == len(found) == 3 * (1 + 1 + 3 + 1 + 3)
    for name in ("cluster", "effect", "auc", "p_adjusted", "inside"):
        np.testing.assert_allclose(written[name], found[name], rtol=1e-12)


def test_values_are_in_the_units_of_the_file_and_safe_for_spreadsheets(folder):
    assert main([*WORDS, "-o", "profiles.tsv", "--quiet"]) == 0
    table = pd.read_csv("profiles.tsv", sep="\t")
    assert set(table["kind"]) == {"number", "category", "date"}
    assert "'=cmd" in set(table["feature"])
    assert "region: =north" in set(table["feature"])
    assert table[table["feature"] == "spend"]["shown_inside"].str.startswith("€").all()
    assert {"2020-01-01", "2020-12-31", "2021-12-31"} == set(table[table["feature"] == "since"]["shown_inside"])


def test_the_printed_table_has_the_top_of_every_cluster_and_the_note(folder):
    done = latefusion(*WORDS, "--top", "2", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "90 samples, 27 comparisons of a cluster with all other samples"
    assert lines[11].startswith("effect: difference of the means in standard deviations. auc: probability that")
    assert [line.split()[0] for line in lines[4:10]] == ["0", "0", "1", "1", "2", "2"]
    assert (
        "Note: The p-values are too small, because the clusters were found with the same features. Use --honest for "
        "valid p-values."
    ) in lines
    assert "Note: View 'markers' is missing for 5 of 90 samples. They are left out of its comparisons." in lines
    assert lines[-1] == "Profiles were not written. Add -o profiles.csv."


def test_json_has_the_printed_features(folder, capsys):
    assert main([*WORDS, "--json", "--top", "1"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [row["cluster"] for row in answer["profiles"]] == [0, 1, 2]
    assert answer["n_comparisons"] == 27
    assert answer["honest"] is False
    assert "--honest" in answer["notes"][0]
    assert main([*WORDS, "--json", "-o", "p.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] == "p.csv"


def test_the_table_may_be_printed(folder, capsys):
    assert main([*WORDS, "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("cluster,view,feature,kind,effect,auc,p,p_adjusted,inside,outside")
    assert captured.out.count("\n") == 28
    assert "27 comparisons" in captured.err
    assert captured.err.endswith("\nProfiles: standard output\n")


def test_honest_p_values_depend_on_the_seed_only(folder, capsys):
    answers = []
    for seed in ("1", "1", "2"):
        assert main([*WORDS, "--honest", "--seed", seed, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1] != answers[2]
    assert answers[0]["honest"] is True
    assert "45 random samples were clustered again" in answers[0]["notes"][0]
    assert main([*WORDS[:2], "markers.csv", "--honest"]) == 1
    message = capsys.readouterr().err
    assert "--honest labels samples by the views that are not tested, but there is only one view" in message
    assert "honest=" not in message


def test_inputs_and_other_files_are_not_overwritten(folder, capsys):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in ("clinic.csv", "./markers.csv"):
        for force in ([], ["--force"]):
            assert "would overwrite the input" in refusal(capsys, *WORDS[1:], "-o", name, *force)
    assert "a table of profiles is written as .csv" in refusal(capsys, *WORDS[1:], "-o", "groups.model")
    (folder / "labels.csv").write_text("id,label\n")
    assert "exists and is not a table of profiles" in refusal(capsys, *WORDS[1:], "-o", "labels.csv")
    (folder / "labels.csv").unlink()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    for _ in range(2):  # earlier profiles are replaced
        assert main([*WORDS, "-o", "p.csv", "--quiet"]) == 0


def test_new_samples_are_labelled_first(folder, capsys):
    pd.read_csv("markers.csv")[::2].to_csv("new_markers.csv", index=False)
    assert main(["profiles", "groups.model", "new_markers.csv", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    answer = json.loads(captured.out)
    assert "Using new_markers as view markers." in answer["warnings"]
    assert answer["n_samples"] == 43
    assert {row["view"] for row in answer["profiles"]} == {"markers"}
    said = [note for note in (*answer["notes"], *answer["warnings"]) if "'clinic'" in note]
    assert said == ["View 'clinic' is missing for all samples."]


def test_comparison_methods_describe_what_they_were_fitted_on(folder, capsys):
    table = pd.read_csv("markers.csv").set_index("patient")
    lf.save(lf.baselines.METHODS["concat-kmeans"](3, random_state=0).fit({"markers": table}), "plain.model")
    assert main(["profiles", "plain.model", "markers.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_comparisons"] == 9
    (2 * table).set_axis([f"q{row}" for row in range(85)]).to_csv("other.csv", index_label="patient")
    assert "ConcatKMeans cannot label new samples" in refusal(capsys, "plain.model", "other.csv", "--quiet")
    assert "File not found: 'x.model'" in refusal(capsys, "x.model", "markers.csv")


def test_groups_of_columns_of_one_table(folder, capsys):
    table = pd.read_csv("markers.csv")
    words = ["--view", "a=m0,m1", "--view", "b=m2", "-k", "3", "--quiet", "--save", "one.model"]
    table.to_csv("one.csv", index=False)
    assert main(["cluster", "one.csv", *words]) == 0
    assert main(["profiles", "one.model", "one.csv", "--honest", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {(row["view"], row["feature"]) for row in answer["profiles"]} == {("a", "m0"), ("a", "m1"), ("b", "m2")}


@pytest.mark.filterwarnings("ignore::FutureWarning:mudata")
def test_genes_are_named_and_normalized(tmp_path, monkeypatch, capsys):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    rates = np.where(group[:, None] == np.arange(20) % 2, 6.0, 0.5)
    genes = pd.DataFrame(index=[f"gene{one}" for one in range(20)])
    cells = pd.DataFrame(index=[f"cell{one}" for one in range(80)])
    rna = anndata.AnnData(sp.csr_matrix(rng.poisson(rates).astype(np.float32)), obs=cells, var=genes)
    other = anndata.AnnData(rng.normal(group[:, None] * 6, 1, (80, 2)).astype(np.float32), obs=cells)
    mudata.MuData({"rna": rna, "shape": other}).write("cells.h5mu")
    assert main(["cluster", "cells.h5mu", "-k", "2", "--save", "cells.model", "--quiet"]) == 0
    assert main(["profiles", "cells.model", "cells.h5mu", "--json", "--top", "3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "View 'rna': normalized counts are compared." in answer["warnings"]
    assert {row["feature"] for row in answer["profiles"] if row["view"] == "rna"} <= set(genes.index)
    assert any(row["view"] == "rna" for row in answer["profiles"])
