import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from latefusion.baselines import METHODS
from latefusion.cli import main
from latefusion.experiments import outside_methods as outside
from latefusion.experiments.leaderboard import methods as board_methods
from latefusion.experiments.leaderboard.results import read_leaderboard
from tests.cli.shell import ENVIRONMENT, latefusion
from tests.experiments.leaderboard.conftest import data_folder  # noqa: F401 (a fixture)

TEMPLATE = Path(__file__).parents[2] / "docs" / "templates" / "method"
NAME = "average-embedding"

PLAIN = """
import numpy as np

class Plain:
    def __init__(self, n_clusters):
        self.n_clusters = n_clusters

    def fit_predict(self, X):
        return np.arange(len(X)) % self.n_clusters

class Failing(Plain):
    def fit_predict(self, X):
        raise KeyError("a key")

class NoNumber:
    def fit_predict(self, X):
        return X

class NoPrediction:
    def __init__(self, n_clusters):
        pass

class NeedsMore(Plain):
    def __init__(self, n_clusters, number):
        pass

def function(n_clusters):
    pass
"""


def clear():
    for cached in (outside.outside_methods, outside.refused_methods, board_methods.entrants):
        cached.cache_clear()


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Write the files of an installed distribution with entry points by name."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "plain_method.py").write_text(PLAIN)
    (folder / "broken_method.py").write_text("import a_module_that_does_not_exist")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(distribution="own", **points):
        write_distribution(folder, distribution, "1.5", points)
        clear()

    yield written
    clear()
    for name in ("plain_method", "broken_method"):
        sys.modules.pop(name, None)


def write_distribution(folder, name, version, points):
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"{key} = {value}" for key, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[latefusion.methods]", *lines, ""]))


def test_methods_are_found_without_an_import(offer):
    offer(plain="plain_method:Plain", broken="broken_method:Anything")
    assert {"plain", "broken"} <= set(outside.outside_methods())
    assert "plain" in board_methods.entrants()
    assert not {"plain_method", "broken_method"} & set(sys.modules)
    assert outside.outside_methods()["plain"].load().__name__ == "Plain"
    (entrant,) = board_methods.find_entrants(["PLAIN"])
    entry = entrant.entry
    assert (entry.name, entry.class_name, entry.year, entry.family) == ("plain", "plain_method.Plain", None, "outside")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("broken_method:Anything", "cannot be imported: ModuleNotFoundError: No module named 'a_module_that"),
        ("plain_method:Absent", "cannot be imported: AttributeError"),
        ("plain_method:function", "is <function function at .*, but must be a class"),
        ("plain_method:NoNumber", "has no parameter n_clusters in the class NoNumber"),
        ("plain_method:NoPrediction", "has no method fit_predict in the class NoPrediction"),
        ("plain_method:NeedsMore", "has the parameter 'number' without a default in the class NeedsMore"),
    ],
)
def test_a_class_without_the_interface_is_refused_and_the_others_are_not(offer, value, words):
    offer(bad=value, plain="plain_method:Plain")
    with pytest.raises(ValueError, match=words) as error:
        board_methods.find_entrants(["bad"])
    assert f"Method 'bad' of own 1.5 (entry point {value!r})" in str(error.value)
    assert outside.refused_methods() == {"bad": str(error.value)}
    names = [entrant.name for entrant in board_methods.find_entrants()]
    assert "plain" in names
    assert "bad" not in names
    assert set(METHODS) - {"Co-reg"} < set(names)


def test_a_name_of_this_package_stays_with_this_package(offer):
    offer(snf="plain_method:Plain", GAM="plain_method:Plain")
    assert board_methods.find_entrants(["snf"])[0].estimator is METHODS["SNF"]
    assert set(outside.refused_methods()) == {"snf", "GAM"}
    for name, reason in outside.refused_methods().items():
        assert reason.startswith(f"Method {name!r} of own 1.5 (entry point 'plain_method:Plain') has the name of a")


def test_one_name_in_two_distributions_is_refused_in_both(offer):
    offer("first", plain="plain_method:Plain")
    offer("second", PLAIN="plain_method:Plain", other="plain_method:Plain")
    assert set(outside.outside_methods()) == {"other"}
    assert "of first 1.5" in outside.refused_methods()["PLAIN"]
    assert "of second 1.5" in outside.refused_methods()["plain"]
    with pytest.raises(ValueError, match=r"has the same name as Method .* Uninstall one of them"):
        board_methods.find_entrants(["plain"])
    assert outside.refusal("other") == outside.refusal("unknown") == ""


def test_names_that_break_the_command_line_are_refused(offer):
    offer(**{"100% mine": "plain_method:Plain"})
    assert outside.outside_methods() == {}
    assert "is not made of letters" in outside.refused_methods()["100% mine"]


def test_compare_runs_what_can_be_run_and_names_what_cannot(offer, data_folder, capsys):  # noqa: F811
    offer(plain="plain_method:Plain", failing="plain_method:Failing", broken="broken_method:Anything")
    small = str(data_folder / "small.npz")
    assert main(["compare", small, "--methods", "plain", "failing", "A-MKKM", "--json"]) == 0
    plain, failing, known = json.loads(capsys.readouterr().out)["methods"]
    assert (plain["clusters"], plain["note"]) == (3, "")
    assert (failing["clusters"], failing["note"]) == (None, "failed: KeyError: 'a key'")
    assert known["clusters"] == 3
    assert main(["compare", small, "--methods", "broken"]) == 1
    assert "Method 'broken' of own 1.5" in capsys.readouterr().err
    kernels = str(data_folder / "kernels.npz")
    assert main(["compare", kernels, "--methods", "plain"]) == 1
    assert "Plain needs features, but the files contain precomputed kernels" in capsys.readouterr().err


def test_compare_with_all_methods_leaves_out_those_that_cannot_run(offer, data_folder, monkeypatch, capsys):  # noqa: F811
    offer(plain="plain_method:Plain", broken="broken_method:Anything")
    monkeypatch.setattr("latefusion.cli.compare.METHODS", {"A-MKKM": METHODS["A-MKKM"]})
    monkeypatch.setattr("latefusion.cli.compare.OURS", {})
    for file, expected in (("small.npz", ["A-MKKM", "plain"]), ("kernels.npz", ["A-MKKM"])):
        assert main(["compare", str(data_folder / file), "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert [row["method"] for row in answer["methods"]][1:] == expected
        notes = " ".join(answer["notes"])
        assert "Method 'broken' of own 1.5" in notes
        assert ("plain is left out: it needs features, not kernels." in notes) == (file == "kernels.npz")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The template of the documentation, installed by pip, or as pip would do if setuptools is absent."""
    source = tmp_path_factory.mktemp("source") / "method"
    shutil.copytree(TEMPLATE, source)
    target = tmp_path_factory.mktemp("target")
    if all(importlib.util.find_spec(name) for name in ("pip", "setuptools")):
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    else:
        project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
        shutil.copy(source / "average_embedding.py", target)
        write_distribution(target, project["name"], project["version"], project["entry-points"][outside.GROUP])
    return {"PYTHONPATH": os.pathsep.join([ENVIRONMENT["PYTHONPATH"], str(target)])}


def test_the_template_runs_on_the_leaderboard(installed, data_folder, tmp_path):  # noqa: F811
    files = [str(data_folder / name) for name in ("small.npz", "kernels.npz")]
    words = ["leaderboard", "--data", *files, "--only", "small", "kernels", "--seeds", "2", "--jobs", "1"]
    done = latefusion(*words, "--methods", NAME, "A-MKKM", "--output", "out", folder=tmp_path, **installed)
    assert done.returncode == 0, done.stderr
    board = read_leaderboard(tmp_path / "out" / "leaderboard.json")
    (method,) = (one for one in board.methods if one.family == "outside")
    assert (method.name, method.class_name) == (NAME, "average_embedding.AverageEmbedding")
    cells = {(cell.board, cell.set): cell for cell in board.cells if cell.method == NAME}
    assert len(cells) == len(board.sets) == 6
    assert all(cell.seeds == [0, 1] and cell.code for cell in cells.values())
    assert min(cells["complete", "small"].acc) > 0.8
    assert min(cells["missing", "small, 30 % missing"].acc) > 0.6
    check = ["leaderboard", "--check", "out/leaderboard.json", "--share", "1", "--jobs", "1", "--data", *files]
    done = latefusion(*check, folder=tmp_path, **installed)
    assert done.returncode == 0, done.stderr
    done = latefusion(*words, "--methods", NAME, "--output", "other", folder=tmp_path)
    assert (done.returncode, "Unknown method 'average-embedding'" in done.stderr) == (1, True)


def test_the_template_runs_in_a_comparison(installed, data_folder, tmp_path):  # noqa: F811
    for file in ("small.npz", "larger.npz"):
        words = ["compare", str(data_folder / file), "--methods", NAME, "A-MKKM", "--json"]
        done = latefusion(*words, folder=tmp_path, **installed)
        assert done.returncode == 0, done.stderr
        own, known = json.loads(done.stdout)["methods"]
        assert (own["method"], own["clusters"], own["note"]) == (NAME, 3, "")
        assert own["scores"]["accuracy"] > 0.8
        assert known["method"] == "A-MKKM"


def test_the_template_finds_planted_clusters_with_sparse_views_and_gaps(installed):
    from scipy.sparse import csr_array

    import latefusion as lf

    sys.path.insert(0, str(TEMPLATE))
    try:
        from average_embedding import AverageEmbedding
    finally:
        sys.path.remove(str(TEMPLATE))
    data = lf.datasets.make_views(90, 3, missing=0.2, random_state=0)
    labels = AverageEmbedding(3, random_state=0).fit_predict(data.views)
    assert lf.metrics.adjusted_rand(data.target, labels) > 0.8
    whole = lf.datasets.make_views(90, 3, random_state=0)
    dense = [np.where(np.abs(view) > 0.5, view, 0) for view in whole.views.arrays]
    expected = AverageEmbedding(3, random_state=0).fit_predict(lf.Views(dense))
    sparse = AverageEmbedding(3, random_state=0).fit_predict(lf.Views([csr_array(view) for view in dense]))
    assert lf.metrics.adjusted_rand(expected, sparse) == 1
