"""`latefusion consensus`: tables of labels become one clustering."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from latefusion.metrics import adjusted_rand
from tests.cli.shell import ENVIRONMENT, latefusion, one_line

IDS = [f"p{row:03d}" for row in range(90)]
TRUTH = np.arange(90) % 3


def noisy(share, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(90) < share, rng.integers(3, size=90), TRUTH)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three clusterings in the ways in which people store them; samples are missing from two of them."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"id": IDS, "label": noisy(0.2, 0), "confidence": 0.5}).to_csv("kmeans.csv", index=False)
    snf = pd.DataFrame({"patient": IDS, "group": np.array(["low", "mid", "high"])[noisy(0.2, 1)]})
    snf.sample(frac=1, random_state=0)[:80].to_csv("snf.csv", sep=";", index=False, encoding="utf-8-sig")
    leiden = pd.DataFrame({"id": IDS, "label": noisy(0.2, 2)}).astype({"label": object})
    leiden.loc[::9, "label"] = ""
    leiden.loc[1::9, "label"] = -1
    leiden.to_csv("leiden.tsv", sep="\t", index=False)
    pd.DataFrame({"id": IDS, "class": TRUTH}).to_csv("truth.csv", index=False)
    return tmp_path


FILES = ["kmeans.csv", "snf.csv", "leiden.tsv"]
NAMES = {"kmeans", "snf", "leiden"}


def refusal(capsys, *words):
    assert main(["consensus", *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert one_line(captured.err)
    return captured.err


def answer_of(capsys, *words, command="consensus"):
    assert main([command, *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_labels_are_those_of_python(folder, capsys):
    assert main(["consensus", *FILES, "-o", "out.csv", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    written = pd.read_csv("out.csv", index_col=0)
    series = {
        "kmeans": pd.read_csv("kmeans.csv", index_col=0)["label"],
        "snf": pd.read_csv("snf.csv", sep=";", index_col=0)["group"],
        "leiden": pd.read_csv("leiden.tsv", sep="\t", index_col=0)["label"],
    }
    model = lf.consensus(series, random_state=0)
    expected = pd.Series(model.labels_, model.sample_ids_)
    assert written["label"].equals(expected.reindex(written.index).astype("int64"))
    np.testing.assert_allclose(written["confidence"], pd.Series(model.confidence_, model.sample_ids_)[written.index])
    assert adjusted_rand(TRUTH, written["label"].reindex(IDS)) > 0.75


def test_the_printed_table_has_a_row_per_clustering(folder):
    done = latefusion("consensus", *FILES, "--labels", "truth.csv", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "90 samples, 3 clusterings: 3 clusters"
    (head,) = [line for line in lines if line.startswith("clustering")]
    assert head.split() == [
        "clustering", "clusters", "samples", "weight", "ARI", "NMI", "with", "others", "changed", "advice",
    ]  # fmt: skip
    rows = {line.split()[0]: line.split()[1:3] for line in lines if line.split()[:1] and line.split()[0] in NAMES}
    assert rows == {"kmeans": ["3", "90"], "snf": ["3", "80"], "leiden": ["3", "70"]}
    assert any(line.startswith("Agreement with the known classes: accuracy 0.") for line in lines)
    assert lines[-1] == "Labels were not written. Add -o labels.csv."


def test_json_has_the_verdicts_of_python(folder, capsys):
    answer = answer_of(capsys, *FILES)
    data = lf.datasets.load_clusterings(FILES)
    model = lf.ConsensusClustering(random_state=0).fit(data.views)
    for found, verdict in zip(answer["clusterings"], model.leave_one_view_out(), strict=True):
        assert found["name"] == verdict.view
        assert found["changed"] == verdict.changed
        assert found["with_others"] == pytest.approx(verdict.agreement)
        assert (found["advice"], found["text"]) == (verdict.advice, str(verdict))
    np.testing.assert_allclose([one["ari"] for one in answer["clusterings"]], model.adjusted_rand_)
    assert answer["samples"]["label"] == model.labels_.tolist()
    assert answer["scores"] is None


def test_known_classes_are_for_scores_only(folder, capsys):
    with_classes = answer_of(capsys, *FILES, "--labels", "truth.csv")
    assert with_classes["scores"]["ari"] > 0.75
    assert with_classes["samples"] == answer_of(capsys, *FILES)["samples"]


def test_noise_is_advised_against(folder, capsys):
    rng = np.random.default_rng(5)
    pd.DataFrame({"id": IDS, "label": rng.integers(4, size=90)}).to_csv("noise.csv", index=False)
    answer = answer_of(capsys, *FILES, "noise.csv")
    assert [one["name"] for one in answer["clusterings"] if one["advice"] == "remove"] == ["noise"]
    assert main(["consensus", *FILES, "noise.csv"]) == 0
    assert "Without 'noise': " in capsys.readouterr().out


def test_a_saved_model_labels_its_files_and_new_ones(folder, capsys):
    assert main(["consensus", *FILES, "--save", "m.model", "-o", "out.csv", "--memberships", "--quiet"]) == 0
    assert main(["predict", "m.model", *FILES, "-o", "again.csv", "--memberships", "--quiet"]) == 0
    assert (folder / "out.csv").read_bytes() == (folder / "again.csv").read_bytes()
    for name, separator in zip(FILES, ",;\t", strict=True):  # three samples, in a single cluster of each clustering
        table = pd.read_csv(name, sep=separator, index_col=0)
        table[table.index.isin(["p002", "p005", "p008"])].to_csv(f"new_{name}", sep=separator)
    assert main(["predict", "m.model", *[f"new_{name}" for name in FILES], "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    whole = pd.read_csv("out.csv", index_col=0)["label"]
    for one, label in zip(answer["samples"]["id"], answer["samples"]["label"], strict=True):
        assert whole[one] == label


def test_columns_of_one_table(folder, capsys):
    table = pd.DataFrame({"id": IDS, "age": np.arange(90), "k_a": noisy(0.1, 0), "k_b": noisy(0.1, 1), "site": "x"})
    table.to_csv("table.csv", index=False)
    answer = answer_of(capsys, "table.csv", "--column", "k_*")
    assert [one["name"] for one in answer["clusterings"]] == ["k_a", "k_b"]
    message = refusal(capsys, "table.csv")
    assert "column 'age' has a different value in each of its 90 rows" in message
    assert "`latefusion cluster table.csv`" in message
    assert "name them with --column NAME" in message
    # A model takes its columns from the same table without being told.
    assert main(["consensus", "table.csv", "--column", "k_*", "--save", "m.model", "--quiet"]) == 0
    assert (
        answer_of(capsys, "m.model", "table.csv", command="predict")["samples"]["label"] == answer["samples"]["label"]
    )


def test_labels_of_samples_without_a_cluster(folder, capsys):
    zero = pd.DataFrame({"id": IDS, "label": np.where(np.arange(90) < 5, 0, noisy(0.1, 0) + 1)})
    words = pd.DataFrame({"id": IDS, "label": np.where(np.arange(90) < 9, "noise", np.array(list("abc"))[TRUTH])})
    zero.to_csv("zero.csv", index=False)
    words.to_csv("words.csv", index=False)
    options = ["--unassigned", "0", "--unassigned", "noise"]
    answer = answer_of(capsys, "zero.csv", "words.csv", *options, "--save", "m.model")
    assert answer["n_samples"] == 85
    assert [one["samples"] for one in answer["clusterings"]] == [85, 81]
    assert "Left out: 5 samples without a cluster in any table, such as 'p000'." in answer["warnings"]
    assert answer_of(capsys, "m.model", "zero.csv", "words.csv", command="predict")["n_samples"] == 85
    assert answer_of(capsys, "zero.csv", "words.csv")["clusterings"][0]["clusters"] == 4


def test_ids_in_two_spellings_are_noticed(folder, capsys):
    table = pd.read_csv("kmeans.csv")
    table.loc[:9, "id"] = table.loc[:9, "id"].str.upper()
    table.to_csv("upper.csv", index=False)
    answer = answer_of(capsys, "upper.csv", "leiden.tsv")
    note = (
        "7 samples may be counted twice: ids of 'upper' and 'leiden' differ only in upper and lower case, such as "
        "'P002' and 'p002'. Write them in the same way."
    )
    assert note in answer["warnings"]
    assert answer["n_samples"] == 97


def test_the_report_shows_clusterings_and_code_that_runs(folder, capsys):
    assert main(["consensus", *FILES, "-k", "3", "--report", "page.html", "-o", "out.csv", "--quiet"]) == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "agreement with the others" in page
    assert "change of stability" not in page
    code = page[page.index('<code id="code">') :].split("</code>")[0].split(">", 1)[1]
    code = code.replace("&#39;", "'").replace("&#34;", '"').replace("&gt;", ">")
    known = {}
    exec(code.split("write_report(model")[0], known)
    assert known["model"].labels_.tolist() == pd.read_csv("out.csv")["label"].tolist()


def test_standard_input_is_a_table(folder):
    text = pd.DataFrame({"id": IDS, "a": noisy(0.1, 0), "b": noisy(0.1, 1)}).to_csv(index=False)
    (folder / "runs.csv").write_text(text)
    script = "import sys; sys.stdin = open('runs.csv'); from latefusion.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", script, "consensus", "-", "--json"]
    done = subprocess.run(words, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [one["name"] for one in json.loads(done.stdout)["clusterings"]] == ["a", "b"]


def test_nothing_is_written_over_and_nothing_is_left_behind(folder, capsys):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for words in (["-o", "kmeans.csv"], ["-o", "./snf.csv", "--force"], ["-o", "out.csv", "--labels", "out.csv"]):
        refusal(capsys, *FILES, *words)
    for words in (["--save", "truth.csv"], ["--report", "page.txt"], ["-k", "80", "-o", "new.csv", "--save", "n.m"]):
        refusal(capsys, *FILES, *words)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "0"], "argument -k/--clusters: the number of clusters must be at least 1, got 0"),
        (["-k", "x"], "argument -k/--clusters: 'x' is not a number such as 5"),
        (["-k", "5-2"], "argument -k/--clusters: the range 5-2 is empty"),
        (["--weights", "mine"], "argument --weights: invalid choice: 'mine'"),
        (["--seed", "x"], "argument --seed: must be an integer from 0 to"),
    ],
)
def test_wrong_words(folder, capsys, words, message):
    with pytest.raises(SystemExit) as stop:
        main(["consensus", *FILES, *words])
    assert stop.value.code == 2
    assert f"latefusion consensus: error: {message}" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(("words", "number"), [("2-4", 3), ("2,4", 2), ("4-6", 4)])
def test_numbers_to_choose_from(folder, capsys, words, number):
    answer = answer_of(capsys, *FILES, "-k", words, "--save", "m.model")
    assert answer["n_clusters"] == number
    assert answer_of(capsys, "m.model", *FILES, command="predict")["samples"] == answer["samples"]


def test_the_advice_and_the_warning_agree_if_all_clusterings_are_noise(folder, capsys):
    rng = np.random.default_rng(7)
    for name in "ab":
        pd.DataFrame({"id": IDS, "label": rng.integers(3, size=90)}).to_csv(f"{name}.csv", index=False)
    answer = answer_of(capsys, "a.csv", "b.csv", "-k", "3")
    assert [(one["advice"], one["unrelated"]) for one in answer["clusterings"]] == [("remove", True)] * 2
    assert any("Their consensus has no meaning" in one for one in answer["warnings"])


def test_files_of_all_commands_are_clusterings(folder, capsys):
    """The columns that `update -o` adds are no clusterings."""
    table = pd.read_csv("kmeans.csv").assign(novelty=0.5, before=0, change="kept").drop(columns="confidence")
    table.assign(confidence=0.25).to_csv("updated.csv", index=False)
    table.assign(membership=0.9, membership_0=0.9, membership_1=0.1).to_csv("members.csv", index=False)
    answer = answer_of(capsys, "updated.csv", "members.csv", "snf.csv")
    assert [one["name"] for one in answer["clusterings"]] == ["updated", "members", "snf"]


def test_new_samples_may_lack_a_clustering(folder, capsys):
    assert main(["consensus", *FILES, "--save", "m.model", "--quiet"]) == 0
    answer = answer_of(capsys, "m.model", "snf.csv", "kmeans.csv", command="predict")
    assert "View 'leiden' is missing for all samples. They are labeled by the other views." in answer["warnings"]
    series = {
        "kmeans": pd.read_csv("kmeans.csv", index_col=0)["label"],
        "snf": pd.read_csv("snf.csv", sep=";", index_col=0)["group"],
    }
    model = lf.load("m.model")
    expected = pd.Series(model.predict({**series, "leiden": pd.Series(np.nan, index=IDS)}), index=IDS)
    np.testing.assert_array_equal(model.predict(series), expected)
    assert expected[answer["samples"]["id"]].tolist() == answer["samples"]["label"]
    assert adjusted_rand(TRUTH, expected) > 0.6
    assert main(["report", "m.model", "kmeans.csv", "snf.csv", "-o", "page.html", "--quiet"]) == 0
    assert 'id="clusters"' in (folder / "page.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"fitted on the partitions .*; got \['kmeans', 'other'\]\. Give some or all"):
        model.predict({"kmeans": series["kmeans"], "other": series["snf"]})


def test_an_unassigned_label_that_no_file_has_is_noted(folder, capsys):
    answer = answer_of(capsys, *FILES, "--unassigned", "nothere", "--unassigned", "0", "--unassigned", "low")
    notes = [one for one in answer["warnings"] if "--unassigned" in one]
    assert notes == ["--unassigned 'nothere': no clustering has this label. Check its spelling."]
    with (
        pytest.warns(UserWarning, match="unassigned='nothere': no clustering has this label"),
        pytest.warns(UserWarning, match="Left out: 2 samples"),
    ):
        lf.datasets.load_clusterings(FILES, unassigned=["nothere", 0])


def test_wrong_input(folder, capsys):
    assert "The only clustering is 'kmeans'" in refusal(capsys, "kmeans.csv")
    assert "given twice" in refusal(capsys, "kmeans.csv", "kmeans.csv")
    assert "File not found: 'nothing.csv'" in refusal(capsys, "kmeans.csv", "nothing.csv")
    pd.DataFrame({"id": [f"q{one}" for one in range(9)], "label": [0, 1, 2] * 3}).to_csv("other.csv", index=False)
    assert "no sample in common" in refusal(capsys, "kmeans.csv", "other.csv")
    pd.DataFrame({"id": IDS, "label": 1}).to_csv("one.csv", index=False)
    assert "has only the label '1'" in refusal(capsys, "kmeans.csv", "one.csv")
    pd.DataFrame({"id": IDS, "g": np.linspace(0, 1, 90)}).to_csv("genes.csv", index=False)
    assert "`latefusion cluster genes.csv`" in refusal(capsys, "kmeans.csv", "genes.csv")
    pd.DataFrame({"id": [*IDS, "p003"], "label": [*TRUTH, 1]}).to_csv("dup.csv", index=False)
    message = refusal(capsys, "kmeans.csv", "dup.csv")
    assert "'dup.csv' has the sample id 'p003' 2 times" in message
    assert "--id" in message
    pd.DataFrame({"id": IDS, "label": np.where(np.arange(90) < 80, -1, -2)}).to_csv("negative.csv", index=False)
    assert "--unassigned" in refusal(capsys, "kmeans.csv", "negative.csv")
