"""The code and the command on a page run as they stand, and give the same clusters."""

import html
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli import main
from latefusion.interpretation.gather import gather
from latefusion.report import write_report
from latefusion.report.reproduce import code_of, loading_code, reproduction
from tests.cli.shell import write_tables
from tests.cli.test_cluster import write_cells


def shown(path, name):
    """What stands in one of the boxes of code."""
    page = path.read_text(encoding="utf-8")
    return html.unescape(re.search(rf'<code id="{name}">(.*?)</code>', page, re.DOTALL).group(1))


def labels_of(code):
    """Run code as a reader would paste it, and return the labels of its model."""
    names = {}
    exec(code, names)
    return names["model"].labels_.tolist()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tables(tmp_path, n_samples=60)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("genes.csv", "proteins.csv"), ["-k", "3"]),
        (("my <b>genes.csv", 'it\'s "{{ 7 * 7 }}" & $HOME.csv'), ["-k", "3", "--method", "gam", "--seed", "4"]),
        (("genes.csv", "proteins.csv"), ["-k", "3", "--method", "SimpleMKKM"]),
    ],
)
def test_command_and_code_of_a_page_run_as_they_stand(folder, names, words):
    for old, new in zip(("genes.csv", "proteins.csv"), names, strict=True):
        (folder / old).rename(folder / new)
    if "SimpleMKKM" not in words:  # five samples with a missing view
        pd.read_csv(names[0])[5:].to_csv(names[0], index=False)
    words = ["cluster", *names, *words, "--labels", "truth.csv", "-o", "labels.csv", "--report", "page.html", "--quiet"]
    assert main(words) == 0
    page = folder / "page.html"
    before, labels = page.read_bytes(), pd.read_csv("labels.csv")["label"].tolist()
    command, code = shlex.split(shown(page, "command")), shown(page, "code")
    assert command == ["latefusion", *words]
    page.unlink()
    assert main(command[1:]) == 0
    seconds = re.compile(rb'<td class="number">\d+\.\d\d</td>')  # how long baselines took
    assert seconds.sub(b"", page.read_bytes()) == seconds.sub(b"", before)
    assert labels_of(code) == labels
    assert "Agreement with the known classes" in (folder / "report.html").read_text(encoding="utf-8")


def test_options_of_the_command_are_in_the_code(folder):
    genes = pd.read_csv("genes.csv").rename(columns={"patient": "genes_id"})
    genes.assign(kind=["x", "y"] * 30).to_csv("genes.csv", index=False)
    words = ["genes.csv", "--id", "genes_id", "--labels", "kind", "-k", "2-3", "--seed", "4", "-o", "l.csv", "--quiet"]
    assert main(["cluster", *words, "--report", "page.html"]) == 0
    code = shown(folder / "page.html", "code")
    assert "id_column='genes_id', label_column='kind'" in code
    assert "n_clusters=range(2, 4), random_state=4" in code
    assert labels_of(code) == pd.read_csv("l.csv")["label"].tolist()


@pytest.mark.parametrize("labels", ["kind", "kinds.csv"])
def test_classes_of_some_samples_are_in_the_code(folder, labels):
    """They are annotation: the page is the same, and the column is not a feature."""
    kinds = pd.DataFrame({"patient": pd.read_csv("genes.csv")["patient"], "kind": ["x", "y", None] * 20})
    kinds.dropna().to_csv("kinds.csv", index=False)
    if labels == "kind":
        pd.read_csv("genes.csv").merge(kinds).to_csv("genes.csv", index=False)
    words = ["genes.csv", "proteins.csv", "--labels", labels, "-k", "3", "-o", "l.csv", "--quiet"]
    assert main(["cluster", *words, "--report", "page.html"]) == 0
    assert labels_of(shown(folder / "page.html", "code")) == pd.read_csv("l.csv")["label"].tolist()
    tables = [
        re.findall(r"<h3>kind.*?</table>", (folder / one).read_text(encoding="utf-8"), re.DOTALL)
        for one in ("page.html", "report.html")
    ]
    assert len(tables[0]) == 1
    assert tables[0] == tables[1]


def test_the_outcome_is_in_the_code(folder, monkeypatch):
    """Also for new samples, whose labels are compared."""
    ids = pd.read_csv("genes.csv")["patient"]
    generator = np.random.default_rng(0)
    clinic = pd.DataFrame(
        {"patient": ids, "days": generator.exponential(9, 60).round(2), "dead": generator.random(60) < 0.6}
    )
    clinic.assign(stage=generator.choice(["I", "II"], 60)).to_csv("clinic.csv", index=False)
    words = ["-k", "3", "--method", "gam", "--save", "g.model", "--quiet"]
    words += ["--outcome", "clinic.csv", "--survival", "days", "dead"]
    assert main(["cluster", "genes.csv", "proteins.csv", *words, "--report", "page.html"]) == 0
    (folder / "new").mkdir()
    for name in ("genes.csv", "proteins.csv"):
        pd.read_csv(name).sort_values("patient")[:40].to_csv(folder / "new" / name, index=False)
    given = ["new/genes.csv", "new/proteins.csv", *words[-5:], "--quiet"]
    assert main(["report", "g.model", *given, "-o", "new.html"]) == 0
    for name in ("page.html", "new.html"):
        labels_of(shown(folder / name, "code"))
        for table in ("Survival of the clusters", "Do the clusters differ?", "What is different", "Does fusion help?"):
            parts = [
                re.findall(rf"<h3>{re.escape(table)}.*?</table>", (folder / one).read_text(encoding="utf-8"), re.DOTALL)
                for one in (name, "report.html")
            ]
            assert parts[0] == parts[1]


def test_code_of_annotation_and_outcome_says_where_to_load_them(gathered, aligned):
    outcome = lf.outcome(aligned, {"age": np.arange(90) % 7}, n_permutations=9)
    code = reproduction(gathered, annotated=True, outcome=outcome).code
    for line in (
        "annotation = ...  # Load the annotation here.",
        "clinic = ...  # Load the table of the outcome here.",
        "outcome = lf.outcome(model, clinic, survival=None)",
        'write_report(model, views, "report.html", annotation=annotation, outcome=outcome)',
    ):
        assert line in code.splitlines()


@pytest.mark.filterwarnings("ignore::FutureWarning:mudata")
def test_modalities_are_normalised_as_on_the_command_line(folder):
    write_cells(folder)
    assert main(["cluster", "cells.h5mu", "-k", "3", "-o", "l.csv", "--report", "page.html", "--quiet"]) == 0
    assert labels_of(shown(folder / "page.html", "code")) == pd.read_csv("l.csv")["label"].tolist()


def test_code_of_data_from_python_says_where_to_load_them(aligned, planted, tmp_path, monkeypatch):
    code = reproduction(gather(aligned, planted.views, target=planted.target)).code
    assert "# Load your data here: 2 views, 'view_0' (90 × 4), 'view_1' (90 × 4).\nviews, target = ..., ...\n" in code
    loading = "data = lf.datasets.make_views(90, 3, n_views=2, n_features=4, separation=8.0, random_state=0)"
    loading += "\nviews = data.views"
    path = write_report(aligned, planted.views, tmp_path / "page.html", baselines=False, loading=loading)
    monkeypatch.chdir(tmp_path)
    assert labels_of(shown(path, "code")) == aligned.labels_.tolist()
    assert 'id="command"' not in path.read_text(encoding="utf-8")


def partition_classes():
    return [lf.KernelSimilarity, lf.GraphSimilarity]


@pytest.mark.parametrize(
    "model",
    [
        lf.GlobalAlignmentClustering(4, random_state=np.int64(3)),
        lf.GlobalAlignmentClustering(4, similarity=[kind() for kind in partition_classes()]),
        lf.GlobalAlignmentClustering(4, similarity={"a": lf.GraphSimilarity(n_neighbors=7), "b": "kernel"}),
        lf.LateFusionClustering(range(2, 5), views=[slice(0, 3), slice(3, 5)]),
        lf.LateFusionClustering(3, views={"it's": ("x",), '"': ("y", "z")}),
        lf.baselines.SimpleMKKM(2),
        *(lf.baselines.METHODS[name](n_clusters=3) for name in ("GMC", "concat-kmeans")),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_expression_of_a_model_makes_the_same_model(model):
    imports = {"import latefusion as lf"}
    expression = code_of(model, imports)
    names = {}
    exec("\n".join(imports), names)
    made = eval(expression, names)
    assert type(made) is type(model)
    assert repr(made.get_params()) == repr(model.get_params()).replace("np.int64(3)", "3")


def test_what_cannot_be_written_as_code_is_left_open():
    assert code_of(lf.GlobalAlignmentClustering(2, random_state=np.random.RandomState(0)), set()).endswith(
        "random_state=...)"
    )
    assert code_of(len, set()) == "..."


def test_seed_parameters_and_versions(gathered, section, text_of, page_of):
    text = text_of(section(page_of(gathered), "reproduce"))
    assert "The seed is 0." in text
    assert "random_state 0" in text
    assert f"numpy {np.__version__}" in text
    model = lf.GlobalAlignmentClustering(3).fit([gathered.views[0].array])
    text = text_of(section(page_of(gather(model, [gathered.views[0].array])), "reproduce"))
    assert "No seed was set" in text


def test_code_for_new_samples_loads_the_model(gathered):
    code = reproduction(gathered, loading="views = ...", fitting="model = lf.load('m')", new=True).code
    assert ".fit(" not in code
    assert "model = lf.load('m')" in code
    assert code.endswith('write_report(model, views, "report.html", new=True)')


def test_the_reader_of_the_files_is_named():
    code = loading_code(["a.csv"], reader="load_clusterings", columns=["k_*"], unassigned=None)
    assert code.startswith("data = lf.datasets.load_clusterings(['a.csv'], columns=['k_*'])")
