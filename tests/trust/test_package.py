"""The package as others depend on it: quick to import, consistent, typed."""

import subprocess
import sys
from pathlib import Path

import pytest

import latefusion
from tests.trust import licences, versions

USER = """
import numpy as np
import latefusion as lf

data = lf.datasets.make_views(60, 3, random_state=0)
model = lf.LateFusionClustering(3, random_state=0)
labels = model.fit_predict(data.views)
score: float = lf.metrics.clustering_accuracy(np.asarray(data.target), labels)
views: lf.Views = data.views[:5]
print(score, views.names)
"""


def seconds(command):
    """Of processor time in a fresh process, the least of a few: what else runs on the machine is not ours."""
    command = f"import time; {command}; print(time.process_time() - begin)"
    runs = [
        subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True) for _ in range(3)
    ]
    return min(float(run.stdout) for run in runs)


def test_import_adds_little_to_scikit_learn():
    libraries = "import sklearn.base, sklearn.cluster, sklearn.neighbors"
    assert seconds(f"{libraries}; begin = time.process_time(); import latefusion") < 0.5


def test_the_first_fit_imports_nothing_large():
    assert seconds("import latefusion; begin = time.process_time(); latefusion.LateFusionClustering") < 0.1


def test_a_star_brings_all_names():
    found = {}
    exec("from latefusion import *", found)
    assert set(latefusion.__all__) <= set(found)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'latefusion' has no attribute 'GlobalAlignment'"):
        _ = latefusion.GlobalAlignment
    assert not hasattr(latefusion, "__wrapped__")


def test_installed_packages_fit_together():
    found = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert "latefusion" not in found.stdout, found.stdout


def test_a_strict_user_can_check_types(tmp_path):
    pytest.importorskip("mypy")
    assert (Path(latefusion.__file__).parent / "py.typed").exists()
    (tmp_path / "user.py").write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", "user.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_licences_of_all_dependencies_are_on_the_page():
    page = (Path(__file__).parents[2] / "docs/TRUST.md").read_text()
    rows = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.count(" | ") == 2}
    assert set(licences.named()) <= rows
    assert "gpl" not in page.lower().replace("lgpl", "")


def test_every_dependency_has_a_lowest_version():
    """Which `make test-lowest` installs."""
    project = licences.PROJECT
    extras = [extra for extra in project["optional-dependencies"] if extra != "dev"]
    for one in versions.requirements(extras):
        assert "==" in versions.lowest(one)
