"""`latefusion cluster --hints`: known classes of some samples in a table or in a column."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from tests.cli.shell import one_line
from tests.hinted import two_clusterings

DATA = two_clusterings()
HINTS = DATA.hints(30)
FILES = [f"{name}.csv" for name in DATA.views.names]
COMMAND = ("cluster", *FILES, "-k", "3", "--method", "gam")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table per view, in different orders, and known.csv with the classes of 30 samples."""
    monkeypatch.chdir(tmp_path)
    ids = [f"p{row:03d}" for row in range(150)]
    rng = np.random.default_rng(0)
    for name, array in DATA.views.items():
        frame = pd.DataFrame(array, columns=[f"{name}_{column}" for column in range(5)])
        frame.insert(0, "patient", ids)
        frame.iloc[rng.permutation(150)].to_csv(f"{name}.csv", index=False)
    known = pd.DataFrame({"patient": ids, "subtype": [f"S{one}" if one >= 0 else None for one in HINTS]})
    known.iloc[rng.permutation(150)].to_csv("known.csv", index=False)
    return tmp_path


def answer_of(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, *words):
    """The error message of a command that writes nothing."""
    before = {entry: entry.stat().st_mtime_ns for entry in Path().rglob("*")}
    assert main([*words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert one_line(captured.err)
    assert {entry: entry.stat().st_mtime_ns for entry in Path().rglob("*")} == before
    return captured.err


def labels_of(file):
    return pd.read_csv(file, index_col=0)["label"].sort_index().to_numpy()


def test_a_table_of_hints_changes_the_clusters_as_in_python(folder, capsys):
    assert main([*COMMAND, "--hints", "known.csv", "-o", "labels.csv", "--save", "hinted.model"]) == 0
    assert "Hints: 30 samples, " in capsys.readouterr().out
    labels = labels_of("labels.csv")
    assert lf.metrics.adjusted_rand(DATA.hidden, labels) > 0.9
    assert lf.load("hinted.model").hints_.followed
    assert main([*COMMAND, "-o", "without.csv", "--quiet"]) == 0
    assert lf.metrics.adjusted_rand(DATA.common, labels_of("without.csv")) > 0.9


def test_json_has_the_hints(folder, capsys):
    found = answer_of(capsys, *COMMAND, "--hints", "known.csv")["hints"]
    assert (found["samples"], found["followed"]) == (30, True)
    assert found["kept"] + len(found["overruled"]) == 30
    assert sorted(found["classes"]) == ["S0", "S1", "S2"]
    assert sorted(found["classes"].values()) == [0, 1, 2]
    assert found["pairs"] == {"kept": 0, "all": 0}
    assert answer_of(capsys, *COMMAND)["hints"] is None


def test_a_column_and_a_shorter_table_are_the_same_hints(folder, capsys):
    """The column is not a feature: labels are those of tables without it."""
    known = pd.read_csv("known.csv")
    known.dropna().to_csv("few.csv", index=False)
    pd.read_csv(FILES[1]).merge(known, on="patient").to_csv("with.csv", index=False)
    words = ["cluster", FILES[0], "with.csv", *FILES[2:], "-k", "3", "--method", "gam"]
    assert main([*COMMAND, "--hints", "known.csv", "-o", "labels.csv", "--quiet"]) == 0
    assert main([*COMMAND, "--hints", "few.csv", "-o", "short.csv", "--quiet"]) == 0
    assert main([*words, "--hints", "subtype", "-o", "column.csv", "--quiet"]) == 0
    np.testing.assert_array_equal(labels_of("short.csv"), labels_of("labels.csv"))
    np.testing.assert_array_equal(labels_of("column.csv"), labels_of("labels.csv"))
    assert answer_of(capsys, *words, "--hints", "subtype")["views"][1]["columns"] == 5


def test_a_column_in_a_folder_of_tables(folder, capsys):
    known = pd.read_csv("known.csv")
    Path("views").mkdir()
    for file in FILES:
        pd.read_csv(file).merge(known, on="patient").to_csv(Path("views", file), index=False)
    found = answer_of(capsys, "cluster", "views", "-k", "3", "--method", "gam", "--hints", "subtype")
    assert found["hints"]["samples"] == 30
    assert {view["columns"] for view in found["views"]} == {5}


def test_known_classes_for_scores_take_no_part_in_the_fit(folder, capsys):
    ids = [f"p{row:03d}" for row in range(150)]
    pd.DataFrame({"patient": ids, "truth": DATA.hidden}).to_csv("truth.csv", index=False)
    plain = answer_of(capsys, *COMMAND, "--labels", "truth.csv")
    hinted = answer_of(capsys, *COMMAND, "--labels", "truth.csv", "--hints", "known.csv")
    assert plain["scores"]["nmi"] < 0.1 < 0.9 < hinted["scores"]["nmi"]


def test_wrong_hints_are_errors_in_the_words_of_the_command_line(folder, capsys):
    known = pd.read_csv("known.csv")
    known.fillna("S0").to_csv("all.csv", index=False)
    known.assign(subtype=None).to_csv("none.csv", index=False)
    known.assign(patient="x" + known["patient"]).to_csv("strange.csv", index=False)
    known.replace({"S1": "S0", "S2": "S0"}).to_csv("one.csv", index=False)
    for words, message in {
        ("--hints", "nothing"): "--hints 'nothing' is not a file, and no table has a column with this name",
        ("--hints", "nothing.csv"): "File not found: 'nothing.csv'",
        ("--hints", "all.csv"): "--hints 'all.csv' has a class for all 150 samples",
        ("--hints", "none.csv"): "--hints 'none.csv' contains no class",
        ("--hints", "strange.csv"): "--hints names 30 samples that do not exist: 'xp",
        ("--hints", "one.csv"): "To put samples into one cluster, use --must-link.",
        ("--hints", FILES[0]): f"'{FILES[0]}' is given as a view and as --hints",
        ("--hints", "known.csv", "--labels", "known.csv"): "--hints and --labels both name 'known.csv'",
        ("--hints", "known.csv", "-k", "2"): "--hints contains 3 classes ('S0', 'S1', 'S2'), but there are at most 2",
        ("--hints", "known.csv", "--method", "SimpleMKKM"): "--hints requires --method late-fusion",
        ("--hints", "known.csv", "-k", "2", "--method", "lam"): "at most 2 clusters. Raise -k, or merge classes",
        ("--hints", "known.csv", "-o", "known.csv"): "would overwrite the input 'known.csv'",
    }.items():
        assert message in refusal(capsys, *COMMAND, *words)


def pairs_of(hints):
    """Chains of the samples with a class, and pairs of samples with different classes."""
    ids = [f"p{row:03d}" for row in range(150)]
    chains = [np.flatnonzero(hints == one) for one in range(3)]
    must = [(ids[rows[0]], ids[one]) for rows in chains for one in rows[1:]]
    return must, [(ids[chains[one][0]], ids[chains[other][0]]) for one, other in ((0, 1), (0, 2), (1, 2))]


def test_pairs_in_tables_are_those_of_python(folder, capsys):
    must, cannot = pairs_of(HINTS)
    pd.DataFrame(must, columns=["one", "other"]).to_csv("must.csv", index=False)
    pd.DataFrame(cannot).to_csv("cannot.tsv", index=False, header=False, sep="\t")
    words = ("--must-link", "must.csv", "--cannot-link", "cannot.tsv")
    answer = answer_of(capsys, *COMMAND, *words)
    assert answer["hints"]["pairs"]["all"] == len(must) + 3  # the first row of a table without names is a pair, too
    assert answer["hints"]["followed"]
    tables = {file.removesuffix(".csv"): pd.read_csv(file, index_col="patient") for file in FILES}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(tables, must_link=must, cannot_link=cannot)
    labels = pd.Series(model.labels_, index=model.sample_ids_)
    found = pd.Series(answer["samples"]["label"], index=answer["samples"]["id"])
    assert lf.metrics.adjusted_rand(labels[found.index], found) == 1


def test_ids_of_pairs_are_text(folder, capsys):
    """007 is not 7, in both columns."""
    rng = np.random.default_rng(0)
    ids = [f"{row:03d}" for row in range(20)]
    for name in "ab":
        table = pd.DataFrame(rng.standard_normal((20, 3)) + 9 * (np.arange(20) % 2)[:, None])
        table.add_prefix(name).assign(id=ids)[["id", *(f"{name}{one}" for one in range(3))]].to_csv(
            f"{name}.csv", index=False
        )
    Path("pairs.csv").write_text("first,second\n001,007\n 002 ,004\n")
    assert answer_of(capsys, "cluster", "a.csv", "b.csv", "-k", "2", "--must-link", "pairs.csv")["hints"]["pairs"] == {
        "kept": 2,
        "all": 2,
    }


def test_wrong_pairs_are_errors_in_the_words_of_the_command_line(folder, capsys):
    Path("three.csv").write_text("a,b,c\np000,p001,x\n")
    Path("strange.csv").write_text("a,b\np000,zoe\n")
    Path("pair.csv").write_text("a,b\np000,p001\n")
    for words, message in {
        ("--must-link", "three.csv"): "--must-link: 'three.csv' has the columns 'a', 'b', 'c'. Keep two",
        ("--cannot-link", "strange.csv"): "--cannot-link names 1 sample that does not exist: 'zoe'",
        ("--must-link", "pair.csv", "--cannot-link", "pair.csv"): "--cannot-link contradicts the other hints: sample",
        ("--must-link", "nothing.csv"): "File not found: 'nothing.csv'",
        ("--must-link", FILES[0]): f"'{FILES[0]}' is given as a view and as --must-link. Remove it from the views.",
        ("--must-link", "pair.csv", "--method", "SimpleMKKM"): "--must-link requires --method late-fusion",
        ("--must-link", "pair.csv", "--save", "pair.csv"): "would overwrite the input 'pair.csv'",
    }.items():
        assert message in refusal(capsys, *COMMAND, *words)
    for file in FILES:
        pd.read_csv(file).drop(columns="patient").to_csv(file, index=False)
    assert "--must-link names samples by their ids, but" in refusal(capsys, *COMMAND, "--must-link", "pair.csv")
