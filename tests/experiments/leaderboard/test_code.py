import sys

import pytest

from latefusion.experiments.leaderboard import code
from latefusion.experiments.leaderboard.code import method_version


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A module outside of the package, written anew by every call; its version."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def version(text):
        (tmp_path / "outside_method.py").write_text(text)
        for cached in (code._tree, code._code, code._imports, code._path):
            cached.cache_clear()
        return method_version("outside_method")

    return version


SOURCE = '''"""A method."""
from latefusion.solvers.late_fusion_alignment import align_partitions

def answer():
    """The answer."""
    return 41 + 1
'''


def test_code_changes_the_version_and_words_do_not(outside):
    version = outside(SOURCE)
    assert outside(SOURCE.replace('"""The answer."""', "# a comment\n")) == version
    assert outside(SOURCE.replace("A method.", "The method.")) == version
    assert outside(SOURCE.replace("41", "40")) != version


def test_imported_modules_of_the_package_count(outside):
    alone = outside("import numpy")
    assert outside("import numpy\nfrom latefusion.baselines import snf") != alone


def test_a_method_does_not_depend_on_other_methods():
    modules = ["latefusion.baselines.snf"]
    found = set()
    while modules:
        name = modules.pop()
        if name not in found:
            found.add(name)
            modules += code._imports(name)
    assert "latefusion.baselines.support" in {name.rpartition(".")[0] for name in found}
    assert "latefusion.arrays.linalg" in found
    assert not [name for name in found if name.startswith(("latefusion.estimators", "latefusion.baselines.nemo"))]


def test_the_evaluation_counts_for_every_method(monkeypatch):
    before = method_version("latefusion.baselines.snf")
    assert before == method_version("latefusion.baselines.snf")
    assert before != method_version("latefusion.baselines.nemo")
    monkeypatch.setattr(code, "EVALUATION", "latefusion.baselines.snf")
    assert method_version("latefusion.baselines.snf") != before


def test_other_modules_of_the_package_of_a_method_count(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    package = tmp_path / "outside_package"
    package.mkdir()
    (package / "__init__.py").write_text("from .method import Method")
    (package / "method.py").write_text("from .inner.core import answer\nclass Method: pass")
    (package / "inner").mkdir()
    (package / "inner" / "__init__.py").write_text("")

    def version(text, release=""):
        (package / "inner" / "core.py").write_text(text)
        for cached in (code._tree, code._code, code._imports, code._path):
            cached.cache_clear()
        return method_version("outside_package", release)

    first = version("answer = 41")
    assert version("answer = 42") != first
    assert version("answer = 41  # the answer") == first
    assert version("answer = 41", "outside 1.0") not in (first, version("answer = 41", "outside 1.1"))
    assert version("from .. import method\nanswer = 41") != first
