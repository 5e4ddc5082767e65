"""The command line as a person meets it: another process, and tables to give to it."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import latefusion as lf

WORDS = [sys.executable, "-m", "latefusion"]
# The process is to meet the package that is tested, wherever it runs.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(lf.__file__).parents[1])}


def latefusion(*words, folder, before=None, **variables):
    """Run a command in a folder, after a function in its process; what it printed and how it ended."""
    return subprocess.run(
        [*WORDS, *map(str, words)],
        cwd=folder,
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        preexec_fn=before,
    )


def one_line(text):
    """Whether text is a single line, and no traceback."""
    return text.count("\n") == 1 and "Traceback" not in text


def write_tables(folder, n_samples=90, n_clusters=3, seed=0):
    """genes.csv and proteins.csv with ids in different orders, and truth.csv with the classes."""
    data = lf.datasets.make_views(n_samples, n_clusters, random_state=seed)
    ids = [f"p{row:03d}" for row in range(n_samples)]
    generator = np.random.default_rng(seed)
    for name, array in zip(("genes", "proteins"), data.views.arrays, strict=False):
        table = pd.DataFrame(array, columns=[f"{name}_{column}" for column in range(array.shape[1])])
        table.insert(0, "patient", ids)
        table.iloc[generator.permutation(n_samples)].to_csv(folder / f"{name}.csv", index=False)
    truth = pd.DataFrame({"patient": ids, "subtype": [f"S{label}" for label in data.target]})
    truth.to_csv(folder / "truth.csv", index=False)
    return truth


def give_up_power():
    """Let root, who may write everywhere, obey the rights of folders: takes CAP_DAC_OVERRIDE from what it starts."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # of Linux
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
