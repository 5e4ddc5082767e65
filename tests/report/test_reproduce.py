"""The code and the command on a page run as they stand, and give the same clusters."""

import html
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.report import write_report
from latefusion.report.gather import gather
from latefusion.report.reproduce import code_of, loading_code, reproduction
from tests.cli.shell import ENVIRONMENT, latefusion, write_tables


def shown(path, name):
    """What stands in one of the boxes of code."""
    page = path.read_text(encoding="utf-8")
    return html.unescape(re.search(rf'<code id="{name}">(.*?)</code>', page, re.DOTALL).group(1))


def run_code(code, folder):
    """Run Python code in a folder, and return the labels of its model."""
    code += "\nprint(*model.labels_)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [int(label) for label in done.stdout.split()]


@pytest.mark.parametrize(
    "names",
    [
        ("genes.csv", "proteins.csv"),
        ("my <b>genes</b>.csv".replace("/", ""), 'it\'s "{{ 7 * 7 }}" & $HOME.csv'),
    ],
)
def test_command_and_code_of_a_page_run_as_they_stand(tmp_path, names):
    write_tables(tmp_path)
    for old, new in zip(("genes.csv", "proteins.csv"), names, strict=True):
        (tmp_path / old).rename(tmp_path / new)
    genes = pd.read_csv(tmp_path / names[0])
    genes[5:].to_csv(tmp_path / names[0], index=False)  # five samples with a missing view
    words = [*names, "-k", "3", "--labels", "truth.csv", "-o", "labels.csv", "--report", "page.html"]
    assert latefusion("cluster", *words, folder=tmp_path).returncode == 0
    page = tmp_path / "page.html"
    before, labels = page.read_bytes(), pd.read_csv(tmp_path / "labels.csv")["label"].tolist()
    command = shlex.split(shown(page, "command"))
    assert command[0] == "latefusion"
    code = shown(page, "code")
    page.unlink()
    done = latefusion(*command[1:], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    seconds = re.compile(rb'<td class="number">\d+\.\d\d</td>')  # how long baselines took
    assert seconds.sub(b"", page.read_bytes()) == seconds.sub(b"", before)
    assert run_code(code, tmp_path) == labels
    assert "Agreement with the known classes" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_options_of_the_command_are_in_the_code(tmp_path):
    write_tables(tmp_path)
    genes = pd.read_csv(tmp_path / "genes.csv").rename(columns={"patient": "genes_id"})
    genes["kind"] = ["x", "y"] * 45
    genes.to_csv(tmp_path / "genes.csv", index=False)
    words = ["genes.csv", "--id", "genes_id", "--labels", "kind", "-k", "2-3", "--method", "late-fusion", "--seed", "4"]
    assert latefusion("cluster", *words, "-o", "l.csv", "--report", "page.html", folder=tmp_path).returncode == 0
    code = shown(tmp_path / "page.html", "code")
    assert "id_column='genes_id', label_column='kind'" in code
    assert "n_clusters=range(2, 4), random_state=4" in code
    assert run_code(code, tmp_path) == pd.read_csv(tmp_path / "l.csv")["label"].tolist()


def test_a_comparison_method_is_imported(tmp_path):
    write_tables(tmp_path)
    words = ["genes.csv", "proteins.csv", "-k", "3", "--method", "SimpleMKKM", "-o", "l.csv", "--report", "page.html"]
    assert latefusion("cluster", *words, folder=tmp_path).returncode == 0
    code = shown(tmp_path / "page.html", "code")
    assert "import SimpleMKKM" in code
    assert run_code(code, tmp_path) == pd.read_csv(tmp_path / "l.csv")["label"].tolist()


def test_code_of_data_from_python_says_where_to_load_them(aligned, planted, tmp_path):
    code = reproduction(gather(aligned, planted.views, target=planted.target)).code
    assert "# Load your data here: 2 views, 'view_0' (90 × 4), 'view_1' (90 × 4).\nviews, target = ..., ...\n" in code
    loading = "data = lf.datasets.make_views(90, 3, n_views=2, n_features=4, separation=8.0, random_state=0)"
    loading += "\nviews = data.views"
    path = write_report(aligned, planted.views, tmp_path / "page.html", baselines=False, loading=loading)
    assert run_code(shown(path, "code"), tmp_path) == aligned.labels_.tolist()
    assert 'id="command"' not in path.read_text(encoding="utf-8")


def test_modalities_are_normalised_as_on_the_command_line():
    code = loading_code(["cells.h5mu"])
    assert "normalize_modalities(data.views).views" in code
    compile(code, "code", "exec")


def partition_classes():
    return [lf.KernelPartition, lf.GraphPartition]


@pytest.mark.parametrize(
    "model",
    [
        lf.GlobalAlignmentClustering(4, random_state=np.int64(3)),
        lf.GlobalAlignmentClustering(4, partition=[kind() for kind in partition_classes()]),
        lf.GlobalAlignmentClustering(4, partition={"a": lf.GraphPartition(n_neighbors=7), "b": "kernel"}),
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
