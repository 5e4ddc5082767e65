"""`latefusion update`: what changed, in text, JSON and files; nothing that was read is overwritten."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from tests.cli.shell import latefusion, one_line
from tests.hinted import two_clusterings

FILES = ("new/genes.csv", "new/proteins.csv")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Tables of three clusters and their model, and a folder with tables of now, which have one cluster more."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "new").mkdir()
    data, ids = lf.datasets.make_views(160, 4, random_state=0), [f"p{row:03d}" for row in range(160)]
    old, now = (np.arange(160) < 120) & (data.target != 3), np.arange(160) >= 15
    for name, array in zip(("genes", "proteins"), data.views.arrays, strict=False):
        table = pd.DataFrame(array).rename(columns=f"{name}_{{}}".format)
        table.insert(0, "patient", ids)
        table[old].to_csv(folder / f"{name}.csv", index=False)
        table[now].sample(frac=1, random_state=len(name)).to_csv(folder / "new" / f"{name}.csv", index=False)
    words = ["-k", "3-4", "--quiet", "-o", str(folder / "labels.csv"), "--save", str(folder / "groups.model")]
    assert main(["cluster", str(folder / "genes.csv"), str(folder / "proteins.csv"), *words]) == 0
    return folder


@pytest.fixture
def folder(trained, monkeypatch, tmp_path):
    """A fresh folder that sees the files of the trained one."""
    for path in ("genes.csv", "proteins.csv", "groups.model", "labels.csv", "new"):
        (tmp_path / path).symlink_to(trained / path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(capsys, *words):
    assert main(["update", *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert one_line(captured.err)
    return captured.err


def test_text_and_files(folder):
    done = latefusion("update", "groups.model", *FILES, "-o", "now.csv", "--save", "new.model", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "145 samples: 78 known, 67 new, 11 no longer there. 4 clusters, 3 before."
    for start in ("Moved: ", "Appeared: 3 (", "Drift: ", "Sizes of clusters: ", "Labels: now.csv", "Model:  new.model"):
        assert any(line.startswith(start) for line in lines), start
    table = pd.read_csv("now.csv").set_index("patient")
    assert table.columns.tolist() == ["label", "confidence", "novelty", "before", "change"]
    old = pd.read_csv("labels.csv").set_index("patient")["label"]
    known = table.index.intersection(old.index)
    np.testing.assert_array_equal(table.loc[known, "before"], old[known])
    moved = table.loc[known, "label"] != old[known]
    assert (table.loc[known, "change"] == np.where(moved, "moved", "kept")).all()
    assert (table.drop(known)["change"] == "new").all()
    model = lf.load("new.model")
    assert pd.Series(model.labels_, index=model.sample_ids_)[table.index].tolist() == table["label"].tolist()


def test_the_same_tables_change_nothing(folder, capsys):
    assert main(["update", "groups.model", "proteins.csv", "genes.csv", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["moved"], answer["appeared"], answer["vanished"], answer["gone"]) == ([], [], [], [])
    assert (answer["n_known"], answer["n_new"]) == (89, 0)
    labels = pd.read_csv("labels.csv").set_index("patient")["label"]
    assert labels[answer["samples"]["id"]].tolist() == answer["samples"]["label"] == answer["samples"]["before"]
    assert answer["drift"] == {"novel": 0, "share": None, "expected": pytest.approx(0.02, abs=0.01), "p_novelty": None,
                               "p_sizes": None}  # fmt: skip


def test_json_says_the_same_as_the_table(folder, capsys):
    assert main(["update", "groups.model", *FILES, "--json", "-o", "now.csv"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "samples" not in answer
    table = pd.read_csv("now.csv").set_index("patient")
    assert answer["moved"] == table.index[table["change"] == "moved"].tolist()
    assert answer["n_new"] == (table["change"] == "new").sum()
    assert answer["drift"]["novel"] == ((table["change"] == "new") & (table["novelty"] > 1)).sum()
    assert answer["drift"]["p_novelty"] < 0.05
    sizes = table["label"].value_counts()
    assert {one["cluster"]: one["after"] for one in answer["clusters"]} == sizes.to_dict()
    assert [one["change"] for one in answer["clusters"]].count("appeared") == len(answer["appeared"]) == 1
    assert sum(one["samples"] for one in answer["moves"]) == len(answer["moved"])


def test_an_update_of_an_update(folder, capsys):
    """Ids stay, outputs of before are replaced, and the new model predicts."""
    assert main(["update", "groups.model", *FILES, "--save", "new.model", "-o", "now.csv", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    first = pd.read_csv("now.csv")
    assert main(["update", "new.model", *FILES, "-o", "now.csv"]) == 0
    assert "Moved: 0 of 145 known samples are in another cluster." in capsys.readouterr().out
    np.testing.assert_array_equal(pd.read_csv("now.csv")["label"], first["label"])
    assert main(["predict", "new.model", *FILES, "-o", "again.csv"]) == 0
    np.testing.assert_array_equal(pd.read_csv("again.csv")["label"], first["label"])
    assert main(["update", "groups.model", *FILES, "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") >= 146
    assert "4 clusters, 3 before" in captured.err


def test_report(folder, capsys):
    pytest.importorskip("jinja2")
    assert main(["update", "groups.model", *FILES, "--report", "page.html"]) == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    parts = {name: re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL) for name in ("update", "warnings")}
    for text in ("Appeared: 3", "have a novelty above 1 in the old model;", "Clusters keep their ids", "Moved: 0 of"):
        assert text in parts["update"].group()
        assert parts["warnings"] is None or text not in parts["warnings"].group()
    assert "latefusion update groups.model" in page
    assert "Report: page.html" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "name"), [("--save", "groups.model"), ("-o", "new/genes.csv"), ("--report", "page.model")]
)
def test_inputs_are_never_overwritten(folder, capsys, option, name):
    before = (folder / "groups.model").read_bytes()
    message = refusal(capsys, "groups.model", *FILES, option, name, "--force")
    assert f"{option} {name!r}" in message
    assert (folder / "groups.model").read_bytes() == before


def test_a_failed_update_writes_nothing(folder, capsys):
    table = pd.read_csv("genes.csv").drop(columns="genes_3")
    table.to_csv("less_genes.csv", index=False)
    words = ("-o", "now.csv", "--save", "new.model", "--report", "page.html")
    files = sorted(path.name for path in folder.iterdir())
    message = refusal(capsys, "groups.model", "less_genes.csv", "proteins.csv", "--quiet", *words)
    assert "View 'genes' does not have the columns ['genes_3']" in message
    assert sorted(path.name for path in folder.iterdir()) == files


def test_refusals(folder, capsys):
    message = refusal(capsys, "groups.model", "new/genes.csv")
    assert "update needs all views of the model, but these are missing for all samples: 'proteins'." in message
    assert "lf.match" not in message
    assert "To cluster without them, fit a new model with `latefusion cluster`" in message
    assert "cannot label new samples" in save_and_refuse(capsys)
    assert "not found" in refusal(capsys, "nothing.model", *FILES)


def save_and_refuse(capsys):
    words = ["-k", "3", "--method", "MKKM-MR", "--save", "method.model", "--quiet"]
    assert main(["cluster", "genes.csv", "proteins.csv", *words]) == 0
    return refusal(capsys, "method.model", *FILES)


def test_tables_without_ids(folder, capsys):
    for name in ("genes", "proteins"):
        table = pd.read_csv(f"{name}.csv").sort_values("patient").drop(columns="patient")
        table.to_csv(f"plain_{name}.csv", index=False)
        table.iloc[::-1].to_csv(f"other_{name}.csv", index=False)
    plain, other = ([f"{kind}_genes.csv", f"{kind}_proteins.csv"] for kind in ("plain", "other"))
    assert main(["cluster", *plain, "-k", "3", "--save", "plain.model", "--quiet"]) == 0
    assert main(["update", "plain.model", *plain]) == 0
    assert "89 samples: 89 known, 0 new, 0 no longer there" in capsys.readouterr().out
    assert main(["update", "plain.model", *other, "-o", "now.csv"]) == 0
    assert "The samples have no ids in both tables" in capsys.readouterr().out
    assert set(pd.read_csv("now.csv")["change"]) == {"new"}


@pytest.fixture
def hinted(monkeypatch, tmp_path):
    """A model that follows hints, and tables in which 20 of its samples are gone."""
    monkeypatch.chdir(tmp_path)
    problem = two_clusterings()
    ids = [f"p{row:03d}" for row in range(150)]
    files = [f"{name}.csv" for name in problem.views.names]
    (tmp_path / "new").mkdir()
    for file, array in zip(files, problem.views.arrays, strict=True):
        table = pd.DataFrame(array, index=pd.Index(ids, name="id")).add_prefix(file[0])
        table.to_csv(file)
        table.iloc[20:].to_csv(f"new/{file}")
    known = pd.Series(problem.hints(60), index=pd.Index(ids, name="id"), name="class")
    known[known >= 0].to_csv("known.csv")
    words = ["-k", "3", "--method", "gam", "--hints", "known.csv", "--save", "hinted.model", "--quiet"]
    assert main(["cluster", *files, *words]) == 0
    return ["update", "hinted.model", *(f"new/{file}" for file in files)], known


def test_hints_are_kept_or_given_again(hinted, capsys):
    words, known = hinted
    n_left = int((known[20:] >= 0).sum())
    assert main([*words, "--json", "-o", "kept.csv"]) == 0
    kept = json.loads(capsys.readouterr().out)
    assert len(kept["moved"]) <= 2
    assert (kept["hints"]["samples"], kept["hints"]["followed"], kept["vanished"]) == (n_left, True, [])
    assert f"The hints of the old model were given again, for {n_left} of its 60 samples with hints." in kept["notes"]
    known[20:][known[20:] >= 0].to_csv("later.csv")
    assert main([*words, "--hints", "later.csv", "-o", "given.csv"]) == 0
    printed = capsys.readouterr().out
    assert f"Hints: {n_left} samples, " in printed
    assert "hints of the old model" not in printed
    assert Path("given.csv").read_text() == Path("kept.csv").read_text()
    pd.DataFrame({"one": ["p021"], "other": ["p022"]}).to_csv("pair.csv", index=False)
    assert main([*words, "--must-link", "pair.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hints"]["pairs"]["all"] == 1


def test_advice_of_an_update_can_be_followed(hinted, trained, capsys):
    words, known = hinted
    assert main([*words, "--hints", "known.csv"]) == 1
    assert "--hints names " in capsys.readouterr().err
    (known[20:] * 2 + np.arange(130) % 2)[known[20:] >= 0].to_csv("six.csv")
    assert main([*words, "--hints", "six.csv"]) == 1
    err = capsys.readouterr().err
    assert "--hints contains 6 classes" in err
    assert err.endswith("Merge classes, or fit a new model with `latefusion cluster` and a larger -k.\n")
    pd.read_csv(trained / FILES[0]).rename(columns={"genes_0": "other"}).to_csv("new/genes.csv", index=False)
    err = refusal(capsys, str(trained / "groups.model"), "new/genes.csv", str(trained / FILES[1]))
    assert "does not have the columns ['genes_0']" in err
    assert err.endswith("Add them, or fit a new model with `latefusion cluster`.\n")
    np.savetxt("one.csv", np.repeat([0, 1], 20), header="a", comments="")
    np.savetxt("two.csv", np.repeat([0, 1], 20), header="b", comments="")
    assert main(["consensus", "one.csv", "two.csv", "--save", "consensus.model", "--quiet"]) == 0
    err = refusal(capsys, "consensus.model", "one.csv", "two.csv", "--hints", "b")
    assert "--hints requires a model of late-fusion, LF-MVC-GAM, LF-MVC-LAM, but 'consensus.model' contains" in err
