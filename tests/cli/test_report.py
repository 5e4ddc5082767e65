"""`latefusion report`: the page of a saved model."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from tests.cli.shell import one_line, write_tables
from tests.hinted import two_clusterings


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two tables of which the second lacks some samples, models of several methods, and their pages."""
    folder = tmp_path_factory.mktemp("trained")
    write_tables(folder)
    pd.read_csv(folder / "proteins.csv")[7:].to_csv(folder / "proteins.csv", index=False)
    files = [str(folder / name) for name in ("genes.csv", "proteins.csv")]
    for name, words in {
        "late": ["-k", "2-4"],
        "gam": ["-k", "3", "--method", "gam"],
        "one": ["-k", "3", "--method", "concat-kmeans"],
    }.items():
        given = files[:1] if name == "one" else files
        words = [*words, "--save", str(folder / f"{name}.model"), "--report", str(folder / f"{name}.html"), "--quiet"]
        assert main(["cluster", *given, *words]) == 0
    return folder


@pytest.fixture
def folder(trained, tmp_path, monkeypatch):
    for file in trained.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page(name):
    """A page without command line, paths and times."""
    with open(name, encoding="utf-8") as stream:
        text = stream.read()
    text = re.sub(r'<p class="small files">.*?</p>', "", text, flags=re.DOTALL)
    text = re.sub(r'<pre tabindex="0"><code id="(command|code)">.*?</code></pre>', "", text, flags=re.DOTALL)
    return re.sub(r'<td class="number">\d+\.\d\d</td>    <td>', "<td>", text)  # seconds of the baselines


def answer_of(capsys, *words):
    assert main(["report", *words, "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


@pytest.mark.parametrize(("name", "files"), [("late", 2), ("gam", 2), ("one", 1)])
def test_the_page_of_the_training_files_is_that_of_cluster(folder, capsys, name, files):
    given = ["genes.csv", "proteins.csv"][:files]
    answer, _ = answer_of(capsys, f"{name}.model", *given, "-o", "again.html")
    assert not answer["new"]
    assert page("again.html") == page(f"{name}.html")


def test_the_order_of_files_and_rows_does_not_matter(folder, capsys):
    for name in ("genes.csv", "proteins.csv"):
        lines = (folder / name).read_text().splitlines()
        (folder / name).write_text("\n".join([lines[0], *lines[:0:-1]]))
    answer, _ = answer_of(capsys, "late.model", "proteins.csv", "genes.csv", "-o", "again.html")
    assert not answer["new"]
    assert page("again.html") == page("late.html")


def test_rounding_errors_of_other_programs_do_not_make_samples_new(folder, capsys):
    for name in ("genes.csv", "proteins.csv"):
        pd.read_csv(name).to_csv(name, index=False, float_format="%.14g")
    answer, _ = answer_of(capsys, "gam.model", "genes.csv", "proteins.csv", "-o", "again.html")
    assert not answer["new"]
    table = pd.read_csv("genes.csv")
    table.iloc[:, 1:] += 1.0
    table.to_csv("genes.csv", index=False)
    answer, _ = answer_of(capsys, "gam.model", "genes.csv", "proteins.csv", "-o", "again.html")
    assert answer["new"]


def test_quick_leaves_out_what_needs_fits(folder, capsys):
    answer, _ = answer_of(capsys, "late.model", "genes.csv", "proteins.csv", "-o", "quick.html", "--quick")
    text = (folder / "quick.html").read_text(encoding="utf-8")
    assert not answer["new"]
    assert "change of stability without it" not in text
    assert 'id="baselines"' not in text
    for section in ("summary", "maps", "clusters", "views", "choices", "missing", "reproduce"):
        assert f'id="{section}"' in text
    assert "change of stability without it" in (folder / "late.html").read_text(encoding="utf-8")


def test_new_samples_are_labeled_and_described(folder, capsys):
    new = {}
    for name in ("genes", "proteins"):
        table = pd.read_csv(f"{name}.csv").sort_values("patient")[20:60:2]
        table = table.assign(patient="q" + table["patient"])
        table.to_csv(f"new_{name}.csv", index=False)
        new[name] = table.set_index("patient")
    pd.DataFrame({"patient": new["genes"].index.union(new["proteins"].index), "class": "A"}).to_csv(
        "new_truth.csv", index=False
    )
    words = ["late.model", "new_genes.csv", "new_proteins.csv", "-o", "new.html", "--title", "Second <cohort>"]
    answer, _ = answer_of(capsys, *words, "--labels", "new_truth.csv")
    assert answer["new"]
    assert "Using new_genes as view genes, new_proteins as view proteins." in answer["warnings"]
    model = lf.load("late.model")
    labels, confidence = model.predict(new, return_confidence=True)
    text = (folder / "new.html").read_text(encoding="utf-8")
    assert answer["n_samples"] == len(labels)
    assert answer["n_clusters"] == len(np.unique(labels))
    for name, size in zip(*np.unique(labels, return_counts=True), strict=True):
        assert re.search(
            rf"Cluster <span[^>]*>{name}</span><span[^>]*></span></h4>\s*<p class=\"small\">{size} sample", text
        )
    assert f"{np.median(confidence):.2f}</span><span>median confidence" in text
    assert "<h1>Second &lt;cohort&gt;</h1>" in text
    assert "Agreement with the known classes" in text
    assert "lf.load(&#39;late.model&#39;)" in text
    assert "new=True" in text
    assert 'id="baselines"' not in text
    assert "Maps of the single views" not in text


def test_new_samples_may_lack_a_view_and_a_cluster(folder, capsys):
    table = pd.read_csv("genes.csv")
    model = lf.load("gam.model")
    labels = dict(zip(model.sample_ids_, model.labels_, strict=True))
    first = table[[labels[one] == 0 for one in table["patient"]]]
    first.assign(patient="q" + first["patient"]).to_csv("genes.csv", index=False)
    answer, _ = answer_of(capsys, "gam.model", "genes.csv", "-o", "new.html")
    text = (folder / "new.html").read_text(encoding="utf-8")
    assert answer["warnings"] == ["View 'proteins' is missing for all samples. They are labeled by the other views."]
    assert answer["n_clusters"] < 3
    assert f"of {len(first)} new samples</h1>" in text


def test_a_consensus_of_clusterings(folder, capsys):
    rng = np.random.default_rng(0)
    for name in "ab":
        labels = np.where(rng.random(60) < 0.2, rng.integers(3, size=60), np.arange(60) % 3)
        pd.DataFrame({"id": np.arange(60), "label": labels}).to_csv(f"{name}.csv", index=False)
    words = ["--save", "c.model", "--report", "c.html", "--quiet"]
    assert main(["consensus", "a.csv", "b.csv", *words]) == 0
    answer, _ = answer_of(capsys, "c.model", "b.csv", "a.csv", "-o", "again.html")
    assert not answer["new"]
    assert page("again.html") == page("c.html")
    assert "load_clusterings" in (folder / "again.html").read_text(encoding="utf-8")


def test_inputs_and_other_files_are_not_overwritten(folder, capsys):
    (folder / "page.html").write_text("<!doctype html><p>mine")
    (folder / "model.html").write_bytes((folder / "late.model").read_bytes())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    files = ["late.model", "genes.csv", "proteins.csv"]
    refused = {
        "-o 'page.html' exists and is not a report of latefusion. Give another name, or add --force": [
            *files, "-o", "page.html",
        ],
        "-o 'late.model' ends in '.model', but a report of latefusion is written as .html": [
            *files, "-o", "late.model", "--force",
        ],
        "-o 'model.html' would overwrite the input 'model.html'": [
            "model.html", *files[1:], "-o", "model.html", "--force",
        ],
        "-o 'genes.csv' ends in '.csv', but a report of latefusion is written as .html": [
            *files, "-o", "genes.csv", "--force",
        ],
        "'none/page.html' cannot be written: the folder 'none' does not exist": [*files, "-o", "none/page.html"],
        "'genes.csv' is not a model file": ["genes.csv", "proteins.csv", "-o", "new.html"],
        "File not found: 'nothing.model' (a model file)": ["nothing.model", "proteins.csv", "-o", "new.html"],
        "View 'genes' does not have the columns ['genes_0'": ["one.model", "proteins.csv", "-o", "new.html"],
        "File not found: 'nothing.csv'": [*files, "-o", "new.html", "--labels", "nothing.csv"],
    }  # fmt: skip
    for message, words in refused.items():
        assert main(["report", *words, "--quiet"]) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert one_line(captured.err)
        assert message in captured.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(SystemExit) as stop:
        main(["report", *files])
    assert stop.value.code == 2
    assert "-o/--output" in capsys.readouterr().err


def test_a_model_that_a_fit_does_not_give_is_described_as_it_is(folder, capsys):
    model = lf.load("late.model")
    model.labels_ = (model.labels_ + 1) % len(np.unique(model.labels_))
    lf.save(model, "other.model")
    answer, _ = answer_of(capsys, "other.model", "genes.csv", "proteins.csv", "-o", "other.html")
    assert any("other clusters than the model file" in one for one in answer["warnings"])
    text = (folder / "other.html").read_text(encoding="utf-8")
    for name, size in zip(*np.unique(model.labels_, return_counts=True), strict=True):
        assert re.search(
            rf"Cluster <span[^>]*>{name}</span><span[^>]*></span></h4>\s*<p class=\"small\">{size} sample", text
        )


def test_outcome_and_colours_reach_the_page_of_training_and_of_new_samples(folder, capsys):
    ids = pd.read_csv("genes.csv").iloc[:, 0]
    rng = np.random.default_rng(0)
    clinic = pd.DataFrame(
        {"id": ids, "stage": rng.choice(["I", "II"], len(ids)), "age": rng.integers(30, 80, len(ids))}
    )
    clinic.sample(frac=1.0, random_state=0).to_csv("clinic.csv", index=False)
    column = pd.read_csv("genes.csv").columns[2]
    words = ["--outcome", "clinic.csv", "--color-by", column]
    answer_of(capsys, "late.model", "genes.csv", "proteins.csv", "-o", "known.html", *words, "--quick")
    (folder / "new").mkdir()
    for name in ("genes.csv", "proteins.csv"):
        pd.read_csv(name)[10:60].to_csv(folder / "new" / name, index=False)
    answer, _ = answer_of(capsys, "gam.model", "new/genes.csv", "new/proteins.csv", "-o", "new.html", *words)
    assert answer["new"]
    for name in ("known.html", "new.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert 'id="outcome"' in text
        assert f">{column}</option>" in text
    assert (
        main(["report", "gam.model", "new/genes.csv", "new/proteins.csv", "-o", "no.html", "--color-by", "nowhere"])
        == 1
    )
    assert "--color-by contains 'nowhere'" in capsys.readouterr().err
    assert not (folder / "no.html").exists()


def test_a_model_with_hints_is_fitted_again_with_them(tmp_path, monkeypatch, capsys):
    """So the page has the importance of the views, and describes the clusters of the model file."""
    monkeypatch.chdir(tmp_path)
    problem = two_clusterings()
    files = [f"{name}.csv" for name in problem.views.names]
    ids = pd.Index([f"p{row:03d}" for row in range(150)], name="id")
    for file, array in zip(files, problem.views.arrays, strict=True):
        pd.DataFrame(array, index=ids).add_prefix(file[5]).to_csv(file)
    known = pd.Series(problem.hints(40), index=ids, name="class")
    known[known >= 0].to_csv("known.csv")
    assert main(["cluster", *files, "-k", "3", "--hints", "known.csv", "--save", "hinted.model", "--quiet"]) == 0
    assert main(["report", "hinted.model", *reversed(files), "-o", "page.html", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert not any("fitted with hints" in one or "gives other clusters" in one for one in answer["warnings"])
    assert "change of stability without it" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture
def customers(folder):
    """A model of a table of several kinds of columns beside the genes."""
    table = pd.read_csv("genes.csv")
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"patient": table["patient"], "age": rng.integers(20, 80, len(table))})
    people["site"] = rng.choice(["north", "south"], len(table))
    people["spend"] = [f"${one:,}" for one in rng.integers(1000, 9000, len(table))]
    people["since"] = (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, len(table)), "D")).strftime(
        "%F"
    )
    people[5:].to_csv("people.csv", index=False)
    words = ["-k", "3", "--method", "gam", "--save", "people.model", "--quiet"]
    assert main(["cluster", "genes.csv", "people.csv", *words]) == 0
    return people


@pytest.mark.parametrize("column", ["spend", "people: site", "since", "age"])
@pytest.mark.parametrize("words", [[], ["--quick"]])
def test_columns_of_tables_are_colours(customers, capsys, column, words):
    files = ["people.model", "genes.csv", "people.csv", "-o", "page.html"]
    answer, _ = answer_of(capsys, *files, "--color-by", column, *words)
    assert not answer["new"]
    with open("page.html", encoding="utf-8") as stream:
        text = stream.read()
    assert f'<option value="column-0">{column.split(": ")[-1]}</option>' in text
    assert text.count('<option value="column-') == 1


def test_annotation_and_outcomes_are_colours_by_their_names(folder, capsys):
    ids = pd.read_csv("genes.csv").iloc[:, 0]
    stage = np.random.default_rng(0).choice(["I", "II"], len(ids))
    pd.DataFrame({"id": ids, "stage": stage}).to_csv("clinic.csv", index=False)
    words = ["late.model", "genes.csv", "proteins.csv", "-o", "page.html", "--quick", "--labels", "truth.csv"]
    words += ["--outcome", "clinic.csv"]
    answer_of(capsys, *words, "--color-by", "outcome: stage", "--color-by", "subtype")
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert re.findall(r'<option value="column-\d">(.*?)</option>', text) == ["stage", "subtype"]
    (folder / "page.html").unlink()
    assert main(["report", *words, "--color-by", "grade"]) == 1
    assert "--color-by contains 'grade', which is not a column" in capsys.readouterr().err
    assert not (folder / "page.html").exists()


def test_hints_are_on_the_page(folder, capsys):
    """Whether they were followed, and how many were kept: that is in the model file."""
    truth = pd.read_csv("truth.csv")
    truth[::6].to_csv("known.csv", index=False)
    words = ["-k", "3", "--hints", "known.csv", "--save", "h.model", "--report", "h.html", "--quiet"]
    assert main(["cluster", "genes.csv", "proteins.csv", *words]) == 0
    answer, _ = answer_of(capsys, "h.model", "genes.csv", "proteins.csv", "-o", "again.html")
    line = lf.load("h.model").summary().hints
    assert line.startswith(f"Hints: {len(truth[::6])} samples")
    for name in ("h.html", "again.html"):
        text = html.unescape((folder / name).read_text(encoding="utf-8"))
        assert line.replace("± ", "±\u00a0") in text
    assert not any("fitted with hints" in one for one in answer["warnings"])


def test_memberships_are_on_the_page_where_they_were_computed(folder, capsys):
    files = ["genes.csv", "proteins.csv"]
    words = ["-k", "3", "--method", "gam", "--memberships", "--save", "m.model", "--report", "m.html", "--quiet"]
    assert main(["cluster", *files, *words]) == 0
    answer_of(capsys, "m.model", *files, "-o", "again.html")
    for name in ("m.html", "again.html"):
        assert "Calibration of memberships: samples kept" in (folder / name).read_text(encoding="utf-8")
    assert 'id="memberships"' not in (folder / "gam.html").read_text(encoding="utf-8")
