"""`--labels`: classes of all or some samples, further columns, and tables without ids."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from tests.cli.shell import one_line, write_tables

COMMAND = ("cluster", "genes.csv", "proteins.csv", "-k", "3", "--method", "gam")


@pytest.fixture
def truth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_tables(tmp_path)


def answer_of(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, *words):
    assert main([*words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert one_line(captured.err)
    return captured.err


def scores_of(classes, answer):
    """Scores on the samples that have a class, by id."""
    found = pd.Series(answer["samples"]["label"], index=answer["samples"]["id"])
    known = classes.dropna()
    return lf.metrics.clustering_scores(known, found[known.index])


@pytest.mark.parametrize("form", ["file", "blanks", "column", "numbers"])
def test_classes_of_some_samples(form, truth, capsys):
    """Those that have one are compared; the clusters are the same, and a column is no feature."""
    some = truth.set_index("patient")["subtype"].where(np.arange(90) < 40)
    if form == "numbers":
        some = some.str[1:].astype(float)
    words = [*COMMAND, "--labels", "some.csv"]
    if form == "column":
        table = pd.read_csv("genes.csv").merge(some.reset_index(), on="patient")
        table.to_csv("genes.csv", index=False)
        words = [*COMMAND, "--labels", "subtype"]
    (some if form == "blanks" else some.dropna()).sample(frac=1, random_state=0).to_csv("some.csv")
    answer = answer_of(capsys, *words)
    (found,) = answer["labels"]
    assert (found.pop("column"), found.pop("samples")) == ("subtype", 40)
    assert found == pytest.approx(scores_of(some, answer))
    assert answer["scores"] is None
    assert answer["views"][0]["columns"] == 10
    assert main(words) == 0
    assert f"Agreement with 'subtype' (40 of 90 samples): accuracy {found['accuracy']:.3f}" in capsys.readouterr().out


def test_several_columns_are_what_annotation_is_in_python(truth, capsys):
    rng = np.random.default_rng(0)
    clinic = truth.assign(
        age=rng.normal(60, 9, 90).round(1), stage=rng.choice(["I", "II"], 90), code=[f"x{row}" for row in range(90)]
    )
    clinic.loc[:9, "stage"] = None
    clinic.sample(frac=1, random_state=0).to_csv("clinic.csv", index=False)
    answer = answer_of(capsys, *COMMAND, "--labels", "clinic.csv", "--report", "page.html")
    assert [(one["column"], one["samples"]) for one in answer["labels"]] == [("subtype", 90), ("stage", 80)]
    assert answer["labels"][0]["ari"] == pytest.approx(scores_of(truth.set_index("patient")["subtype"], answer)["ari"])
    assert any(one.startswith("Column 'code' looks like an id and is left out.") for one in answer["warnings"])
    assert any(one.startswith("--labels: no scores for 'age' (numbers or dates).") for one in answer["warnings"])
    page = Path("page.html").read_text(encoding="utf-8")
    part = page[page.index('<section id="annotation"') :]
    assert all(f">{name}<" in part for name in ("subtype", "stage", "age", "I", "S0"))


def test_a_column_called_label_is_the_class_among_others(truth, capsys):
    """As in the output of other commands."""
    truth.rename(columns={"subtype": "label"}).assign(confidence=0.5 + np.arange(90) / 200).to_csv(
        "other.csv", index=False
    )
    answer = answer_of(capsys, *COMMAND, "--labels", "other.csv")
    assert answer["scores"]["accuracy"] > 0.9
    assert answer["labels"] == []


def test_numbers_have_no_scores(truth, capsys):
    truth.assign(subtype=np.linspace(20, 90, 90).round(2)).rename(columns={"subtype": "age"}).to_csv(
        "age.csv", index=False
    )
    answer = answer_of(capsys, *COMMAND, "--labels", "age.csv")
    assert (answer["scores"], answer["labels"]) == (None, [])
    assert any("--labels: no scores for 'age'" in one for one in answer["warnings"])


def test_labels_without_ids_are_in_the_order_of_the_samples(truth, capsys):
    order = pd.read_csv("genes.csv")["patient"]
    classes = truth.set_index("patient")["subtype"][order]
    classes.to_csv("words.txt", index=False)
    assert answer_of(capsys, *COMMAND, "--labels", "words.txt")["scores"]["accuracy"] > 0.9
    classes[:50].to_csv("words.txt", index=False)
    message = refusal(capsys, *COMMAND, "--labels", "words.txt")
    assert "'words.txt' has 50 labels, but there are 90 samples in the views. Add a column of ids" in message


def test_wrong_labels_are_named_before_the_fit(truth, capsys, monkeypatch):
    monkeypatch.setattr(lf.GlobalAlignmentClustering, "fit", lambda *_: pytest.fail("fitted"))
    truth.assign(patient="x" + truth["patient"]).to_csv("strange.csv", index=False)
    truth.assign(subtype=None).to_csv("empty.csv", index=False)
    for file, message in {
        "strange.csv": "The annotation has no sample id in common with the clustering. Its index has ids like 'xp",
        "empty.csv": "The annotation has no column that can be shown. Column 'subtype' has no values",
        "nothing.csv": "File not found: 'nothing.csv'",
    }.items():
        assert message in refusal(capsys, *COMMAND, "--labels", file)
    pd.read_csv("genes.csv").assign(kind=None).to_csv("genes.csv", index=False)
    assert "--labels 'kind': the column is empty." in refusal(capsys, *COMMAND, "--labels", "kind")
    assert "No file has a column 'other' of classes" in refusal(capsys, *COMMAND, "--labels", "other")


def test_hints_of_a_table_with_two_columns_have_advice_that_can_be_followed(truth, capsys):
    truth.assign(age=1).to_csv("two.csv", index=False)
    message = refusal(capsys, *COMMAND, "--hints", "two.csv")
    assert message.endswith("the column of labels is ambiguous. Keep one column, or name it 'label'.\n")


def test_other_commands_take_the_same_labels(truth, capsys):
    some = truth.set_index("patient")["subtype"][:40]
    some.to_csv("some.csv")
    assert main([*COMMAND, "--save", "m.model", "-o", "a.csv", "--quiet"]) == 0
    assert main([*COMMAND, "--seed", "1", "-o", "b.csv", "--quiet"]) == 0
    answer = answer_of(capsys, "consensus", "a.csv", "b.csv", "--labels", "some.csv")
    assert [(one["column"], one["samples"]) for one in answer["labels"]] == [("subtype", 40)]
    table = (
        pd.read_csv("a.csv")[["patient", "label"]]
        .rename(columns={"label": "a"})
        .assign(b=pd.read_csv("b.csv")["label"])
    )
    table.merge(some.reset_index(), on="patient", how="left").to_csv("runs.csv", index=False)
    found = answer_of(capsys, "consensus", "runs.csv", "--labels", "subtype")
    assert [one["name"] for one in found["clusterings"]] == ["a", "b"]
    assert found["labels"] == answer["labels"]
    assert (
        main(["report", "m.model", "genes.csv", "proteins.csv", "-o", "p.html", "--quick", "--labels", "some.csv"]) == 0
    )
    page = Path("p.html").read_text(encoding="utf-8")
    assert ">subtype<" in page[page.index('<section id="annotation"') :]
    capsys.readouterr()
    message = refusal(capsys, "compare", "genes.csv", "proteins.csv", "--labels", "some.csv", "--methods", "A-MKKM")
    assert "--labels 'some.csv' has no class for some samples, and the scores of all methods need all" in message
