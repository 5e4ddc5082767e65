"""Long runs: no memory is lost, a model serves many threads, Ctrl-C is heard, and libraries share the cores."""

import gc
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import latefusion as lf

DATA = lf.datasets.make_views(200, 3, n_views=2, n_features=6, random_state=0)


def resident():
    """Pages of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the memory of a process is read from /proc")
@pytest.mark.parametrize("partition", ["kernel", "graph"])
def test_five_hundred_fits_lose_no_memory(partition):
    model = lf.GlobalAlignmentClustering(3, partition=partition, random_state=0, n_init=1)
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
        lf.GlobalAlignmentClustering(3, partition="graph", random_state=0),
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


@pytest.mark.parametrize("options", ["", ", n_jobs=2"])
def test_an_interrupt_ends_a_fit_at_once(options):
    command = (
        "import latefusion as lf; data = lf.datasets.make_views(3000, 30, n_views=6, n_features=40, random_state=0); "
        f"model = lf.LateFusionClustering(30, n_init=50{options}); print('begins', flush=True); model.fit(data.views)"
    )
    process = subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"begins\n"
    time.sleep(1.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in errors
    assert time.monotonic() - begin < INTERRUPT_SECONDS


# One second on a machine that does nothing else; tests share theirs.
INTERRUPT_SECONDS = 5
