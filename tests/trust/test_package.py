"""The package as others depend on it: quick to import, consistent, typed."""

import subprocess
import sys
from pathlib import Path

import pytest

import latefusion

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


def test_import_adds_little_to_that_of_scikit_learn():
    command = (
        "import time, sklearn.base, sklearn.cluster, sklearn.neighbors; begin = time.process_time(); "
        "import latefusion; print(time.process_time() - begin)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True) for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.5


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
