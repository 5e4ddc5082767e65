"""`latefusion cluster`, from what a person types to what they read."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import latefusion as lf
from latefusion.cli import answers, cluster, compare, demo, info, main, predict
from tests.cli.shell import ENVIRONMENT, IS_ROOT, WORDS, give_up_power, latefusion, one_line, write_tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two tables, which is the current one."""
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer_of(capsys, *words):
    assert main(["cluster", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, *words):
    """The error message when a command does not work; nothing is printed or written."""
    before = {entry: entry.stat().st_mtime_ns for entry in Path().rglob("*")}
    assert main(["cluster", *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert one_line(captured.err)
    assert {entry: entry.stat().st_mtime_ns for entry in Path().rglob("*")} == before
    return captured.err


def test_two_tables_become_clusters_labels_and_a_model(tmp_path):
    truth = write_tables(tmp_path)
    done = latefusion(
        *("cluster", "genes.csv", "proteins.csv", "-k", "3", "-o", "labels.csv", "--save", "groups.model"),
        *("--labels", "truth.csv", "--explain"),
        folder=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("90 samples, 2 views: 3 clusters\n")
    assert "\x1b" not in done.stdout
    for words in (
        "Confidence: median",
        "Without 'genes'",
        "known classes: accuracy",
        "Labels: labels.csv",
    ):
        assert words in done.stdout
    labels = pd.read_csv(tmp_path / "labels.csv")
    assert list(labels.columns) == ["patient", "label", "confidence", "novelty"]
    assert labels["novelty"].ge(0).all()
    known = labels["patient"].map(truth.set_index("patient")["subtype"])
    assert lf.metrics.clustering_accuracy(known, labels["label"]) > 0.95
    assert labels["confidence"].between(0, 1).all()
    model = lf.load(tmp_path / "groups.model")
    np.testing.assert_array_equal(model.labels_, labels["label"])
    assert model.sample_ids_.tolist() == labels["patient"].tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("genes.csv", "groups.model", "labels.csv", "proteins.csv", "truth.csv")
    ]


@pytest.mark.parametrize(
    ("names", "words", "expected"),
    [
        (("case", "case"), (), "case"),
        (("case", "case"), ("--id", "case"), "case"),
        (("case", "Case"), (), "id"),  # which of them?
        (("", ""), (), "id"),
        (("confidence", "confidence"), ("--id", "confidence"), "id"),  # there is a column of that name already
        (("=1+1", "=1+1"), (), "'=1+1"),  # no spreadsheet shall carry it out
    ],
)
def test_ids_are_called_as_in_the_files(folder, names, words, expected):
    for file, name in zip(("genes.csv", "proteins.csv"), names, strict=True):
        pd.read_csv(file).rename(columns={"patient": name}).to_csv(file, index=False)
    assert main(["cluster", "genes.csv", "proteins.csv", "-k", "3", "--quiet", "-o", "labels.csv", *words]) == 0
    assert list(pd.read_csv("labels.csv").columns) == [expected, "label", "confidence", "novelty"]


def test_labels_can_be_given_back_with_the_same_column_of_ids(folder, capsys):
    for file in ("genes.csv", "proteins.csv"):  # numbers, which are ids because --id says so
        table = pd.read_csv(file)
        table["case"] = table.pop("patient").str[1:].astype(int)
        table.to_csv(file, index=False)
    first = ["cluster", "genes.csv", "proteins.csv", "-k", "3", "--id", "case"]
    assert main([*first, "--quiet", "-o", "groups.csv"]) == 0
    answer = answer_of(capsys, *first[1:], "--labels", "groups.csv")
    assert answer["scores"]["accuracy"] == 1.0


def test_the_number_is_found_and_the_answer_is_json_alone(folder):
    done = latefusion("cluster", "genes.csv", "proteins.csv", "-k", "2-4", "--json", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert (answer["n_clusters"], answer["n_samples"]) == (3, 90)
    assert sum(one["samples"] for one in answer["clusters"]) == 90
    assert [view["name"] for view in answer["views"]] == ["genes", "proteins"]
    assert 0 <= answer["stability"] <= 1
    assert len(answer["samples"]["id"]) == len(answer["samples"]["label"]) == 90
    assert done.stdout.count("\n") == 1


def test_other_clusterings_with_an_equal_score_are_noted(tmp_path, monkeypatch, capsys, conflict):
    monkeypatch.chdir(tmp_path)
    for name, view in conflict[0].items():
        pd.DataFrame(view, columns=list("abcdef")).rename_axis("id").to_csv(f"{name}.csv")
    answer = answer_of(capsys, "left.csv", "right.csv", "-k", "3")
    (one,) = answer["alternatives"]
    (note,) = [text for text in answer["warnings"] if text.startswith("1 other clustering scores as high")]
    assert f"it moves {one['share']:.0%} of the samples to another cluster" in note
    assert note.endswith("See the report (--report) or alternatives_.")
    assert one["moved"] == pytest.approx(one["share"] * one["samples"])
    assert abs(one["difference"]) <= one["standard_error"]
    assert one["view"] in ("left", "right")
    assert one["text"].startswith(f"With view '{one['view']}' alone")
    assert main(["cluster", "left.csv", "right.csv", "-k", "3", "--report", "page.html"]) == 0
    assert f"Note: {note}\n" in capsys.readouterr().out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Other clusterings with an equal score" in page
    assert f"{one['moved']} (" in page


def test_clear_clusters_have_no_note_of_others(folder, capsys):
    answer = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3")
    assert answer["alternatives"] == []
    assert not any("other clustering" in text for text in answer["warnings"])


def test_the_same_seed_gives_the_same_and_row_order_does_not_matter(folder, capsys):
    first = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3", "--seed", "5")
    assert first == answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3", "--seed", "5")
    other = answer_of(capsys, "proteins.csv", "genes.csv", "-k", "3")
    one, two = ({**dict(zip(x["samples"]["id"], x["samples"]["label"], strict=True))} for x in (first, other))
    assert lf.metrics.adjusted_rand([one[key] for key in one], [two[key] for key in one]) == 1.0


def test_files_of_all_kinds_are_views_together(folder, capsys):
    genes = pd.read_csv("genes.csv").set_index("patient").sort_index()
    proteins = pd.read_csv("proteins.csv").set_index("patient").sort_index()
    genes.reset_index(drop=True).to_csv("genes.csv", index=False)
    proteins.reset_index(drop=True).to_parquet("proteins.parquet")
    np.savez("more.npz", view_0=genes.to_numpy() * 2, view_1=proteins.to_numpy(), names=["x", "y"])
    answer = answer_of(capsys, "genes.csv", "proteins.parquet", "more.npz", "-k", "3", "-o", "labels.parquet")
    assert [view["name"] for view in answer["views"]] == ["genes", "proteins", "x", "y"]
    assert any("no sample ids" in note for note in answer["warnings"])
    assert "samples" not in answer
    assert pd.read_parquet("labels.parquet")["id"].tolist() == list(range(90))


@pytest.mark.parametrize("method", ["gam", "LF-MVC-LAM", "simplemkkm", "concat-kmeans", "MVGL"])
def test_any_method_in_any_case(folder, capsys, method):
    answer = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3", "--method", method, "--labels", "truth.csv")
    assert answer["n_clusters"] == 3
    assert answer["scores"]["accuracy"] > 0.9
    assert main(["cluster", "genes.csv", "proteins.csv", "-k", "3", "--method", method]) == 0
    assert "Labels were not written. Add -o labels.csv." in capsys.readouterr().out


def test_kernels_from_a_file(folder, capsys):
    views = lf.datasets.make_views(40, 2, random_state=0).views
    np.savez("k.npz", **{f"kernel_{p}": lf.kernels.gaussian_kernel(view) for p, view in enumerate(views.arrays)})
    assert [view["kind"] for view in answer_of(capsys, "k.npz", "-k", "2")["views"]] == ["kernel"] * 3
    assert "Some files contain kernels and others features" in refusal(capsys, "k.npz", "genes.csv", "-k", "2")


def test_mixed_encodings_separators_and_decimals(folder, capsys):
    for name, options in (
        ("genes", {"encoding": "cp1252", "sep": ";", "decimal": ","}),
        ("proteins", {"encoding": "utf-8-sig", "sep": "\t"}),
    ):
        table = pd.read_csv(f"{name}.csv")
        table["patient"] = "Zoë " + table["patient"]
        table.to_csv(f"{name}.csv", index=False, **options)
    done = latefusion(
        *("cluster", "genes.csv", "proteins.csv", "-k", "3", "-o", "-"),
        folder=folder,
        PYTHONIOENCODING="ascii",
    )
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "patient,label,confidence,novelty"
    assert len(done.stdout.splitlines()) == 91
    assert all(line.startswith("Zoë p") for line in done.stdout.splitlines()[1:])
    assert done.stderr.startswith("90 samples")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["genes.csv", "nothing.csv"], "File not found: 'nothing.csv'"),
        (["genes.csv", "proteins.csv", "--id", "name"], "has no column 'name' of ids; its columns are 'patient'"),
        (["genes.csv", "proteins.csv", "--labels", "kind"], "No file has a column 'kind' of classes"),
        (["genes.csv", "proteins.csv", "--labels", "kind.csv"], "File not found: 'kind.csv'"),
        (["genes.csv", "truth.csv", "--transpose", "truth.csv"], "rows that are not numbers: 'p000'"),
        (["genes.csv", "truth.csv", "--transpose", "truth.csv"], "with --id and --labels"),
        (["genes.csv", "genes.csv"], "was given twice"),
        (["genes.csv", "proteins.csv", "-k", "91"], "n_samples=90 should be >= n_clusters=91"),
        (["genes.csv", "proteins.csv", "--method", "simplemkm"], "Did you mean SimpleMKKM?"),
        (["genes.csv", "proteins.csv", "--method", "gam"], "needs a fixed number of clusters, such as -k 5"),
        (["genes.csv", "proteins.csv", "-k", "3", "--method", "gam", "--explain"], "--explain requires"),
        (["genes.csv", "proteins.csv", "-o", "labels.xlsx"], "a table of labels is written as .csv"),
        (["genes.csv", "proteins.csv", "-o", "far/labels.csv"], "Create it first"),
        (["genes.csv", "proteins.csv", "--save", "."], "is a folder"),
        (["genes.csv", "proteins.csv", "-o", "-", "--json"], "Use only one of them"),
    ],
    ids=lambda words: " ".join(words[-2:]) if isinstance(words, list) else "",
)
def test_errors_are_one_line(folder, capsys, words, message):
    assert message in refusal(capsys, *words)


def test_tables_that_do_not_fit_together(folder, capsys):
    genes = pd.read_csv("genes.csv")
    (folder / "empty.csv").touch()
    assert "'empty.csv' is empty" in refusal(capsys, "genes.csv", "empty.csv")
    pd.concat([genes, genes[:1]]).to_csv("twice.csv", index=False)
    assert "2 times" in refusal(capsys, "proteins.csv", "twice.csv")
    genes.assign(patient="x" + genes["patient"]).to_csv("others.csv", index=False)
    assert "no sample in common" in refusal(capsys, "proteins.csv", "others.csv")
    genes.mask(genes == genes.loc[7, "genes_4"]).to_csv("holes.csv", index=False)
    assert main(["cluster", "proteins.csv", "holes.csv", "-k", "3"]) == 0
    assert "View 'holes' has 1 missing value (0.1%), imputed" in capsys.readouterr().out


NOT_NUMBERS = ["five", "0", "5-2", "1-4", "-3", "2,x", "1,4", "2,", "2-4,6", "2--4", "²"]


@pytest.mark.parametrize("words", [*(["-k", number] for number in NOT_NUMBERS), ["--fast"]], ids=" ".join)
def test_wrong_words_are_a_matter_of_usage(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["cluster", "genes.csv", *words])
    assert stop.value.code == 2
    assert "usage: latefusion" in capsys.readouterr().err


def test_what_is_odd_about_the_data_is_pointed_out(folder, capsys):
    genes = pd.read_csv("genes.csv")
    genes.insert(0, "patient_number", range(1, 91))
    genes.drop(columns="patient").to_csv("numbered.csv", index=False)
    notes = " ".join(answer_of(capsys, "numbered.csv", "-k", "2")["warnings"])
    assert "only one view" in notes
    assert "add --id patient_number" in notes
    assert answer_of(capsys, "numbered.csv", "-k", "2", "--id", "patient_number")["views"][0]["columns"] == 10
    generator = np.random.default_rng(0)
    for name in ("a", "b"):
        pd.DataFrame(generator.normal(size=(60, 3))).to_csv(f"{name}.csv", index=False)
    notes = " ".join(answer_of(capsys, "a.csv", "b.csv", "-k", "2-4")["warnings"])
    assert "clusters" in notes  # that there are none


def test_samples_of_zeros_are_pointed_out(folder, capsys):
    genes = pd.read_csv("genes.csv")
    genes.loc[:8, genes.columns != "patient"] = 0
    genes.to_csv("zeros.csv", index=False)
    notes = answer_of(capsys, "zeros.csv", "proteins.csv", "-k", "2")["warnings"]
    assert [one for one in notes if one.startswith("View zeros: 9 of its 90 samples are zero in all columns")]


def test_quiet_prints_nothing(folder, capsys):
    assert main(["cluster", "genes.csv", "proteins.csv", "-k", "3", "--quiet", "-o", "labels.csv"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert (folder / "labels.csv").exists()


def spellings(name):
    """A file by other names: links, and other paths."""
    Path("symbolic").symlink_to(name)
    os.link(name, "hard")
    Path("door").symlink_to(".")
    return [name, f"./{name}", f"door/../{Path.cwd().name}/{name}", str(Path(name).resolve()), "symbolic", "hard"]


@pytest.mark.parametrize("option", ["-o", "--save", "--report"])
@pytest.mark.parametrize("file", ["genes.csv", "all.npz"])
def test_an_input_is_never_overwritten(folder, capsys, option, file):
    """Whatever it is called, and with --force."""
    views = lf.datasets.make_views(30, 2, random_state=0).views
    np.savez("all.npz", view_0=views.arrays[0], view_1=views.arrays[1])
    suffix = {"-o": ".csv", "--save": ".model", "--report": ".html"}[option]
    for number, path in enumerate(spellings(file)):
        link = Path(f"link{number}{suffix}")  # so that its name does not give another reason to refuse it
        link.symlink_to(path)
        for words in ([], ["--force"]):
            message = refusal(capsys, file, "-k", "2", option, str(link), *words)
            assert f"{option} {str(link)!r} would overwrite the input {file!r}" in message


def test_known_classes_are_an_input_too(folder, capsys):
    words = ["genes.csv", "proteins.csv", "-k", "3", "--labels", "truth.csv"]
    assert "would overwrite the input 'truth.csv'" in refusal(capsys, *words, "-o", "truth.csv", "--force")
    assert "would overwrite the input 'truth.csv'" in refusal(capsys, *words, "--save", "./truth.csv", "--force")


def test_a_folder_of_views_gets_no_labels_as_another_view(folder, capsys):
    (folder / "views").mkdir()
    for name in ("genes.csv", "proteins.csv"):
        Path(name).rename(f"views/{name}")
    words = ["views", "-k", "3", "--method", "gam"]
    assert "of the input folder 'views'" in refusal(capsys, *words, "--save", "views/genes.csv", "--force")
    assert "of the input folder 'views'" in refusal(capsys, *words, "-o", "views/l.csv")
    answer_of(capsys, *words, "--save", "views/a.model", "-o", "l.csv")
    assert [view["name"] for view in answer_of(capsys, *words)["views"]] == ["genes", "proteins"]


def test_outputs_of_another_kind_are_replaced_by_force_only(folder, capsys):
    words = ["genes.csv", "proteins.csv", "-k", "3", "--method", "gam"]
    for _ in range(2):  # older outputs are replaced without asking
        answer_of(capsys, *words, "-o", "l.csv", "--save", "a.model", "--report", "p.html")
    Path("p.htm").write_text("<!doctype html><p>my own</p>")
    assert "-o 'truth.csv' exists and is not a table of labels" in refusal(capsys, *words, "-o", "truth.csv")
    assert "--save 'l.csv' exists and is not a model" in refusal(capsys, *words, "--save", "l.csv")
    assert "--save 'p.html' exists and is not a model" in refusal(capsys, *words, "--save", "p.html")
    assert "--report 'p.htm' exists and is not a report" in refusal(capsys, *words, "--report", "p.htm")
    assert "--report 'page.pdf' ends in '.pdf'" in refusal(capsys, *words, "--report", "page.pdf")
    message = refusal(capsys, *words, "-o", "x", "--save", "./x")
    assert "-o 'x' and --save 'x' are the same file" in message
    answer_of(capsys, *words, "-o", "truth.csv", "--save", "l.csv", "--report", "p.htm", "--force")
    assert lf.load("l.csv").n_clusters == 3
    assert "patient,label" in Path("truth.csv").read_text()


@pytest.mark.skipif(IS_ROOT and sys.platform != "linux", reason="root may write everywhere")
def test_a_read_only_output_is_not_replaced(folder):
    (folder / "labels.csv").write_text("id,label\n")
    (folder / "labels.csv").chmod(0o400)
    words = ["cluster", "genes.csv", "proteins.csv", "-k", "3", "-o", "labels.csv"]
    done = latefusion(*words, folder=folder, before=give_up_power if IS_ROOT else None)
    assert (done.returncode, done.stdout) == (1, "")
    assert "'labels.csv' cannot be written: the file is read-only" in done.stderr
    assert (folder / "labels.csv").read_text() == "id,label\n"


@pytest.mark.parametrize(("number", "tried"), [("2,4,6", {2, 4, 6}), ("2-4", {2, 3, 4}), ("6, 3", {3, 6})])
def test_a_list_is_a_list_and_a_range_is_a_range(folder, capsys, number, tried):
    assert main(["cluster", "genes.csv", "proteins.csv", "-k", number, "--save", "a.model", "--quiet"]) == 0
    model = lf.load("a.model")
    assert {one.n_clusters for one in model.number_selection_.evidence} == tried
    assert model.n_clusters_ in tried


def test_models_that_cannot_predict_are_marked(folder, capsys):
    words = ["genes.csv", "proteins.csv", "-k", "3", "--save", "a.model"]
    assert main(["cluster", *words, "--method", "GMC"]) == 0
    message = capsys.readouterr().out
    assert "a.model (results only: this method cannot label new samples; late-fusion, LF-MVC-GAM" in message
    assert "latefusion predict" not in message
    assert lf.load("a.model").labels_.shape == (90,)
    assert main(["predict", "a.model", "nothing.csv"]) == 1  # before anything is read
    assert "GraphBasedClustering cannot label new samples. Only LateFusionClustering" in capsys.readouterr().err
    assert not answer_of(capsys, *words, "--method", "GMC")["can_predict"]
    assert answer_of(capsys, *words, "--method", "gam")["can_predict"]


def test_novelty_is_printed_and_in_json(folder, capsys):
    answer = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3")
    assert answer["novel"] == np.sum(np.array(answer["samples"]["novelty"]) > 1)
    assert main(["cluster", "genes.csv", "proteins.csv", "-k", "3"]) == 0
    assert f"Novelty: {answer['novel']} of 90 samples" in capsys.readouterr().out


@pytest.mark.skipif(IS_ROOT and sys.platform != "linux", reason="root may write everywhere")
@pytest.mark.parametrize("words", [["-o", "labels.csv"], ["--save", "a.model"], ["--report", "page.html"]])
def test_a_folder_that_is_read_only(folder, words):
    folder.chmod(0o500)
    before = give_up_power if IS_ROOT else None
    try:
        done = latefusion("cluster", "genes.csv", "proteins.csv", "-k", "3", *words, folder=folder, before=before)
    finally:
        folder.chmod(0o700)
    assert (done.returncode, done.stdout) == (1, "")
    assert "permission denied for the folder '.'" in done.stderr
    assert one_line(done.stderr)
    assert sorted(entry.name for entry in folder.iterdir()) == ["genes.csv", "proteins.csv", "truth.csv"]


def test_a_folder_that_turns_read_only_while_we_work(folder, capsys, monkeypatch):
    """As root may write everywhere, the refusal of the system is put in place of the write."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "labels.csv")

    monkeypatch.setattr(answers, "write_table", refuse)
    assert "Permission denied: 'labels.csv'" in refusal(capsys, "genes.csv", "proteins.csv", "-k", "3", "-o", "l.csv")


def test_a_page_to_look_at(folder, capsys):
    words = ["genes.csv", "proteins.csv", "-k", "3", "--report", "page.html"]
    assert answer_of(capsys, *words)["report"] == "page.html"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "genes" in page
    assert "change of stability without it" in page
    assert "nowhere" in refusal(capsys, *words[:-1], "nowhere/page.html")


def test_known_classes_and_chosen_columns_are_in_the_report(folder, capsys):
    column = pd.read_csv("genes.csv").columns[-1]
    words = ["genes.csv", "proteins.csv", "-k", "3", "--labels", "truth.csv", "--report", "page.html"]
    answer_of(capsys, *words, "--color-by", f"genes: {column}")
    page = Path("page.html").read_text(encoding="utf-8")
    classes = set(pd.read_csv("truth.csv")["subtype"])
    part = page[page.index('<section id="annotation"') :]
    assert all(f">{one}<" in part for one in classes)
    options = re.findall(r'<option value="column-\d+">(.*?)</option>', page)
    assert options == [column, "subtype"]


def test_columns_to_colour_by_are_checked_before_anything_is_written(folder, capsys):
    words = ["genes.csv", "proteins.csv", "-k", "3", "-o", "new.csv"]
    message = refusal(capsys, *words, "--report", "page.html", "--color-by", "unknown")
    assert "--color-by contains 'unknown', which is not a column. There are columns such as" in message
    assert "--color-by needs --report FILE" in refusal(capsys, *words, "--color-by", "unknown")


def test_ids_that_overlap_only_in_part(folder, capsys):
    pd.read_csv("genes.csv").sort_values("patient")[:80].to_csv("genes.csv", index=False)
    pd.read_csv("proteins.csv").sort_values("patient")[10:].to_csv("proteins.csv", index=False)
    answer = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3", "--labels", "truth.csv")
    assert (answer["n_samples"], len(answer["samples"]["id"])) == (90, 90)
    assert [view["samples"] for view in answer["views"]] == [80, 80]
    assert answer["scores"]["accuracy"] > 0.9
    assert any("20 of 90 samples are not in every view" in notes for notes in answer["warnings"])


def test_views_are_explained_with_missing_views(folder, capsys):
    pd.read_csv("genes.csv").sort_values("patient")[:80].to_csv("genes.csv", index=False)
    answer = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3", "--explain")
    texts = {one["view"]: one["text"] for one in answer["dropping"]}
    assert set(texts) == {"genes", "proteins"}
    assert "10 samples have no other view and are excluded." in texts["proteins"]
    assert "left out" not in texts["genes"]


def test_labels_are_written_even_if_views_cannot_be_explained(folder, capsys):
    pd.read_csv("genes.csv").sort_values("patient")[:12].to_csv("genes.csv", index=False)
    answer = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3", "--explain", "-o", "labels.csv")
    assert answer["dropping"] == []
    assert any("could not be estimated" in note for note in answer["warnings"])
    assert (folder / "labels.csv").exists()


def test_views_with_next_to_no_sample_in_common(folder, capsys):
    genes, proteins = pd.read_csv("genes.csv"), pd.read_csv("proteins.csv")
    shared = genes["patient"][:12]
    others = ~proteins["patient"].isin(shared)
    proteins.loc[others, "patient"] = "x" + proteins.loc[others, "patient"]
    proteins.to_csv("proteins.csv", index=False)
    notes = answer_of(capsys, "genes.csv", "proteins.csv", "-k", "3")["warnings"]
    assert sum(one.startswith("Only 12 of the 90 samples of view 'genes' are in another view") for one in notes) == 1


@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_run_that_is_stopped_leaves_nothing_behind(tmp_path, kind):
    """The line of progress on a terminal says when clustering has begun; then the run is interrupted, or killed."""
    write_tables(tmp_path, n_samples=3000, n_clusters=8)
    (tmp_path / "labels.csv").write_text("id,label\n")
    before = sorted(entry.name for entry in tmp_path.iterdir())
    ours, theirs = pty.openpty()
    words = ["cluster", "genes.csv", "proteins.csv", "-o", "labels.csv", "--save", "groups.model", "--report", "p.html"]
    with subprocess.Popen(
        [*WORDS, *words], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=theirs
    ) as running:
        os.close(theirs)
        seen = b""
        while b"clustering 3000 samples" not in seen:
            seen += os.read(ours, 1000)
        running.send_signal(getattr(signal, kind))
        printed, _ = running.communicate(timeout=60)
        if kind == "SIGINT":
            seen += os.read(ours, 1000)
    os.close(ours)
    assert running.returncode == (130 if kind == "SIGINT" else -getattr(signal, kind))
    assert printed == b""
    assert b"Traceback" not in seen
    assert (b"interrupted" in seen) == (kind == "SIGINT")
    assert (tmp_path / "labels.csv").read_text() == "id,label\n"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


SLOW_WRITING = """
import sys, time
from latefusion.cli import main
from latefusion.outputs import table_files

def slowly(columns, stream):
    stream.write(b"id,label")
    stream.flush()
    print("half", file=sys.stderr, flush=True)
    time.sleep(60)

table_files.WRITERS[".csv"] = slowly
main(sys.argv[1:])
"""


@pytest.mark.parametrize("kind", ["SIGINT", "SIGKILL"])
def test_a_run_that_is_stopped_while_it_writes_leaves_what_was_there(folder, kind):
    (folder / "labels.csv").write_text("id,label\n")
    before = sorted(entry.name for entry in folder.iterdir())
    words = ["cluster", "genes.csv", "proteins.csv", "-k", "3", "--method", "gam", "-o", "labels.csv"]
    with subprocess.Popen(
        [WORDS[0], "-c", SLOW_WRITING, *words], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stderr.readline() == b"half\n"
        running.send_signal(getattr(signal, kind))
        running.communicate(timeout=60)
    assert (folder / "labels.csv").read_text() == "id,label\n"
    assert sorted(entry.name for entry in folder.iterdir()) == before


@pytest.mark.parametrize("words", [["-o", "-"], ["--json"]])
def test_a_reader_that_leaves_is_no_error(tmp_path, words):
    write_tables(tmp_path, n_samples=3000)  # more than a pipe holds
    command = ["cluster", "genes.csv", "proteins.csv", "-k", "3", "--method", "gam", *words]
    with subprocess.Popen(
        [*WORDS, *command], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        running.stdout.read(5)
        running.stdout.close()
        errors = running.stderr.read()
        assert running.wait(60) == 0
    assert b"Traceback" not in errors
    assert b"rror" not in errors


def write_cells(folder):
    """cells.h5mu with counts of genes and proteins, of which each lacks some cells, and new.h5mu with some of them."""
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    rng = np.random.default_rng(0)
    types = rng.integers(3, size=120)
    rna = rng.poisson(np.exp(rng.normal(-1, 1, size=60) + 1.5 * np.eye(3).repeat(20, axis=1)[types]))
    proteins = rng.poisson(10 * np.exp(2 * np.eye(3).repeat(4, axis=1)[types] + rng.normal(0, 0.4, size=(120, 1))))
    cells = np.array([f"c{row}" for row in range(120)])

    def modality(counts, rows, name):
        names = pd.DataFrame(index=[f"{name}{place}" for place in range(counts.shape[1])])
        return anndata.AnnData(counts[rows].astype(np.float32), obs=pd.DataFrame(index=cells[rows]), var=names)

    for file, left, right in (("cells", np.arange(110), np.arange(10, 120)), ("new", np.arange(40), np.arange(20, 60))):
        mdata = mudata.MuData({"rna": modality(rna, left, "g"), "prot": modality(proteins, right, "p")})
        mdata.obs["type"] = pd.Categorical([f"T{types[int(cell[1:])]}" for cell in mdata.obs_names])
        mdata.write(folder / f"{file}.h5mu")
    return dict(zip(cells, types, strict=True))


@pytest.mark.filterwarnings("ignore::FutureWarning:mudata")
def test_cells_in_a_file_of_mudata(tmp_path, monkeypatch, capsys):
    types = write_cells(tmp_path)
    monkeypatch.chdir(tmp_path)
    answer = answer_of(capsys, "cells.h5mu", "-k", "3", "--save", "cells.model", "--report", "page.html")
    assert [view["samples"] for view in answer["views"]] == [110, 110]
    assert "View 'prot': counts to centred log ratios." in answer["warnings"]
    known = [types[cell] for cell in answer["samples"]["id"]]
    assert lf.metrics.clustering_accuracy(known, answer["samples"]["label"]) > 0.95
    assert main(["predict", "cells.model", "new.h5mu", "-o", "new.csv", "--quiet"]) == 0
    labels, first = pd.read_csv("new.csv"), dict(zip(answer["samples"]["id"], answer["samples"]["label"], strict=True))
    assert len(labels) == 60
    assert np.mean([first[one] == label for one, label in zip(labels["id"], labels["label"], strict=True)]) > 0.95
    assert answer_of(capsys, "cells.h5mu", "-k", "3", "--labels", "type")["scores"]["accuracy"] > 0.95


@pytest.mark.parametrize(
    "words",
    [
        ["cluster", "genes.csv", "proteins.csv", "-k", "3", "-o", "l.csv", "--save", "a.model", "--report", "p.html"],
        ["predict", "b.model", "genes.csv", "proteins.csv", "-o", "l.csv"],
        ["compare", "genes.csv", "proteins.csv", "-k", "3", "--methods", "concat-kmeans", "late-fusion"],
        ["info", "genes.csv"],
        ["demo"],
    ],
    ids=lambda words: words[0],
)
def test_nothing_that_grows_with_the_data_is_done_in_silence(folder, words, monkeypatch):
    """Most of the time of a command is spent under a line of progress."""
    main(["cluster", "genes.csv", "proteins.csv", "-k", "3", "--save", "b.model", "--quiet"])
    durations = []

    @contextlib.contextmanager
    def watched(what, *, quiet=False):
        start = time.perf_counter()
        yield
        durations.append(time.perf_counter() - start)

    for module in (cluster, predict, compare, info, demo, answers):
        monkeypatch.setattr(module, "progress", watched)
    start = time.perf_counter()
    assert main(words) == 0
    silence = time.perf_counter() - start - sum(durations)
    assert len(durations) > 0
    assert silence < max(0.3, 0.5 * sum(durations))


@pytest.mark.slow
def test_a_million_rows(tmp_path):
    generator = np.random.default_rng(0)
    truth = generator.integers(5, size=1_000_000)
    centers = 6 * generator.normal(size=(5, 4))
    for name in ("left", "right"):
        table = pd.DataFrame(centers[truth] + generator.normal(size=(len(truth), 4)), columns=list("abcd")).round(3)
        table.insert(0, "id", [f"s{row}" for row in range(len(truth))])
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    done = latefusion("cluster", "left.csv", "right.csv", "-k", "5", "-o", "labels.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    labels = pd.read_csv(tmp_path / "labels.csv")
    assert labels["id"].tolist() == [f"s{row}" for row in range(len(truth))]
    assert lf.metrics.adjusted_rand(truth, labels["label"]) > 0.95


def test_names_of_genes_reach_the_report_of_a_file_of_cells(tmp_path, capsys, monkeypatch):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    types = np.repeat([0, 1], 30)
    counts = generator.poisson(np.where((types[:, None] == np.arange(2)).repeat(10, axis=1), 9.0, 1.0))
    modalities = {}
    for name, prefix, form in (("rna", "GENE", scipy.sparse.csr_matrix), ("prot", "CD", np.asarray)):
        modalities[name] = anndata.AnnData(form(counts.astype(float)))
        modalities[name].obs_names = [f"cell {row}" for row in range(60)]
        modalities[name].var_names = [f"{prefix}{column}" for column in range(20)]
    with mudata.set_options(pull_on_update=False):
        mudata.MuData(modalities).write("cells.h5mu")
    assert main(["cluster", "cells.h5mu", "-k", "2", "--report", "page.html", "--quiet"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    for column in ("GENE1", "CD1"):
        assert f"{column}" in page


def test_memberships_are_columns_of_the_labels_and_part_of_the_model(folder, capsys):
    words = ["genes.csv", "proteins.csv", "-k", "3", "--method", "gam", "--memberships"]
    assert main(["cluster", *words, "-o", "labels.csv", "--save", "a.model", "--quiet"]) == 0
    labels = pd.read_csv("labels.csv").set_index("patient")
    every = labels[["membership_0", "membership_1", "membership_2"]].to_numpy()
    np.testing.assert_array_equal(every.argmax(axis=1), labels["label"])
    np.testing.assert_array_equal(labels["membership"], every.max(axis=1))
    np.testing.assert_allclose(every.sum(axis=1), 1)
    samples = answer_of(capsys, *words)["samples"]
    np.testing.assert_allclose(samples["membership"], labels["membership"])
    assert main(["predict", "a.model", "genes.csv", "proteins.csv", "-o", "again.csv", "--memberships", "--quiet"]) == 0
    again = pd.read_csv("again.csv").set_index("patient").loc[labels.index]
    np.testing.assert_allclose(again["membership_1"], labels["membership_1"], atol=1e-6)


def test_memberships_of_a_method_without_them_are_refused(folder, capsys):
    message = refusal(capsys, "genes.csv", "proteins.csv", "-k", "3", "--method", "GMC", "--memberships")
    assert "--memberships requires --method late-fusion, LF-MVC-GAM, LF-MVC-LAM, got 'GMC'" in message


def test_memberships_are_summarized_without_a_file(folder, capsys):
    words = ["genes.csv", "proteins.csv", "-k", "3", "--method", "gam", "--memberships"]
    assert main(["cluster", *words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    own = np.array(answer["samples"]["membership"])
    assert answer["membership"] == {"median": np.median(own), "below_half": int(np.sum(own < 0.5))}
    assert main(["cluster", *words, "-o", "-"]) == 0
    text = capsys.readouterr().err
    assert (
        f"Membership: median {np.median(own):.2f} (probability that a sample keeps its cluster when other samples are "
        f"clustered); {np.sum(own < 0.5)} of {len(own)} samples are below 0.5.\n"
    ) in text
    assert text.endswith("\nLabels: standard output\n")
    assert main(["cluster", *words[:-1]]) == 0
    assert "Membership" not in capsys.readouterr().out
