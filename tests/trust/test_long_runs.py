"""Long runs: no memory is lost, a model serves many threads, Ctrl-C is heard, and libraries share the cores."""

import gc
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import latefusion as lf

DATA = lf.datasets.make_views(200, 3, n_views=2, n_features=6, random_state=0)


def resident():
    """Pages of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the memory of a process is read from /proc")
@pytest.mark.parametrize("similarity", ["kernel", "graph"])
def test_five_hundred_fits_lose_no_memory(similarity):
    model = lf.GlobalAlignmentClustering(3, similarity=similarity, random_state=0, n_init=1)
    views = DATA.views[:60]

    def fit(times):
        for _ in range(times):
            model.fit(views)
            model.predict(views)
        gc.collect()
        return resident()

    before = fit(100)  # until pools of memory are as large as they get
    assert fit(400) <= 1.05 * before


@pytest.mark.parametrize(
    "model",
    [
        lf.GlobalAlignmentClustering(3, random_state=0),
        lf.GlobalAlignmentClustering(3, similarity="graph", random_state=0),
        lf.LocalAlignmentClustering(3, random_state=0),
        lf.LateFusionClustering(3, random_state=0),
    ],
    ids=["GAM", "GAM graph", "LAM", "late fusion"],
)
def test_sixteen_threads_may_ask_one_model(model):
    model.fit(DATA.views)
    parts = [DATA.views[start : start + 20] for start in range(0, 200, 20)] * 16
    expected = [model.predict(part) for part in parts[:10]]
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(model.predict, parts))
    for position, labels in enumerate(found):
        np.testing.assert_array_equal(labels, expected[position % 10])


def processor_seconds(process):
    """That a process has used by now; only its own count on a machine that does other work as well."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


FIT = """
import latefusion as lf
data = lf.datasets.make_views(3000, 30, n_views=6, n_features=40, random_state=0)
lf.LateFusionClustering(30, n_init=50, n_jobs={}).fit(data.views)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the time of a process is read from /proc")
@pytest.mark.parametrize(
    ("kind", "delay"), [("fit", 2.5), ("fit with two jobs", 2.5), ("command that loads", 0.2), ("command", 2.5)]
)
def test_an_interrupt_ends_within_a_second(kind, delay, tmp_path):
    """Wherever it strikes, and no process is left behind."""
    if kind.startswith("fit"):
        command, word = ["-c", FIT.format(2 if "two" in kind else None)], b"KeyboardInterrupt"
    else:
        data = lf.datasets.make_views(2500, 30, n_views=1, n_features=40, random_state=0)
        np.savetxt(tmp_path / "view.csv", data.views.arrays[0], delimiter=",", fmt="%.3f")
        # While Python imports the package, no code of the command can catch the interrupt.
        command = ["-m", "latefusion", "cluster", tmp_path / "view.csv"]
        word = b"KeyboardInterrupt" if "loads" in kind else b"interrupted"
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, start_new_session=True) as process:
        while processor_seconds(process) < delay:
            assert process.poll() is None
            time.sleep(0.01)
        before = processor_seconds(process)
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert word in errors
    assert process.returncode in (130, -signal.SIGINT)  # a shell calls both 130
    assert usage.ru_utime + usage.ru_stime - before < 1.0
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
