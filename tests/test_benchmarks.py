"""Scripts behind the figures of the documentation reach into the library: they must still run on this one."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from latefusion.datasets import make_views

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def data_folder(tmp_path):
    data = make_views(60, 3, n_views=2, n_features=4, random_state=0)
    arrays = {f"view_{p}": view for p, view in enumerate(data.views.arrays)}
    np.savez(tmp_path / "small.npz", **arrays, y=data.target, names=list(data.views.names))
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "selection_criteria.py DATA",
        "label_free.py local DATA",
        "label_free.py views DATA",
        "missing_views.py DATA --choices --sets small --seeds 1",
        "gaps.py --data DATA --sets small --draws 1 --rates 0.2",
    ],
)
def test_a_script_runs_and_leaves_its_results(command, data_folder):
    output = data_folder / "results.json"
    name, *arguments = [str(data_folder) if word == "DATA" else word for word in command.split()]
    whole = [sys.executable, str(BENCHMARKS / name), *arguments, "--output", str(output)]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(output.read_text())["rows"]
