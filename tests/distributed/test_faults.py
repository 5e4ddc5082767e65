"""A small cluster: the same labels when workers are killed, and names for what cannot go well."""

import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from distributed import Client, LocalCluster
from latefusion import distributed
from latefusion.distributed import chunks, passes

pytestmark = [
    pytest.mark.timeout(120),
    # Sockets of a worker that was killed are closed by the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    settings = {
        "distributed.comm.timeouts.connect": "10s",
        "distributed.worker.memory.terminate": 0.95,
        "distributed.admin.log-format": "%(message)s",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="700MiB", dashboard_address=None, silence_logs=50
        ) as started,
    ):
        yield started


@pytest.fixture(autouse=True)
def any_scheduler(small_pieces):
    with dask.config.set(scheduler=None):
        yield


def slowly(views, seconds):
    """Views that take their time to be read."""

    def wait(block):
        time.sleep(seconds)
        return block

    return {
        name: da.from_array(view, chunks=(100, -1)).map_blocks(wait, dtype=view.dtype) for name, view in views.items()
    }


def kill_a_worker(cluster, killed):
    """Kill the process of a worker that is alive; its nanny starts another."""
    pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
    os.kill(pids[-1], signal.SIGKILL)
    killed.append(pids[-1])


def test_workers_that_are_killed_twice_change_nothing(cluster, planted, monkeypatch):
    monkeypatch.setattr(chunks, "LEAST_ENTRIES", 1)
    views, _ = planted
    expected = lf.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(views)
    killed = []
    with Client(cluster):
        moments = np.random.default_rng().uniform([0.2, 2.0], [1.5, 3.5])
        killers = [threading.Timer(moment, kill_a_worker, [cluster, killed]) for moment in moments]
        for killer in killers:
            killer.start()
        model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(slowly(views, 0.05))
        for killer in killers:
            killer.join()
        labels = model.labels_.compute()
    assert len({*killed}) == 2
    assert adjusted_rand_score(labels, expected.labels_) >= 0.999


def test_errors_of_workers_are_named_and_another_client_can_go_on(cluster, planted, chunked):
    views, _ = planted
    first, *_ = views

    def fail(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 2:
            raise ArithmeticError("no such sector")
        return block

    model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0)
    with Client(cluster):
        cut = chunked(views, 300)
        bad = {**cut, first: cut[first].map_blocks(fail, dtype=float)}
        with pytest.raises(distributed.ChunkError, match=rf"View '{first}', chunk 2 .*no such sector") as caught:
            model.fit(bad)
        assert (caught.value.view, caught.value.chunk) == (first, 2)
        assert not hasattr(model, "labels_")
        number = da.arange(12_000, chunks=3000).reshape(1200, 10)
        with pytest.raises(
            ValueError, match=rf"View '{first}' has values that are NaN or infinite in 1 rows.* chunk 3"
        ):
            model.fit({**cut, first: da.where(number == 10_003, np.nan, cut[first])})
        model.fit(cut)
    # That client is gone. Another one computes the labels, on the same cluster.
    with Client(cluster):
        labels = model.labels_.compute()
    in_memory = lf.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(views)
    assert adjusted_rand_score(labels, in_memory.labels_) >= 0.999


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_chunk_that_no_worker_has_memory_for_is_named(position, cluster, planted, chunked):
    """The view among those that are read in one task, and its chunk as the view is chunked."""
    views, _ = planted
    own = [*views][position]

    def swell(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 1:
            kept = []
            while True:
                kept.append(np.ones(2**22))
                time.sleep(0.02)
        return block

    cut = chunked(views, 600)
    bad = {**cut, own: cut[own].map_blocks(swell, dtype=float)}
    with Client(cluster) as client:
        client.run_on_scheduler(_allow_no_failures)
        with pytest.raises(
            distributed.ChunkError, match=rf"view '{own}', chunk 1 \(rows 600 to 1199\).*memory"
        ) as caught:
            distributed.GlobalAlignmentClustering(4, kernel="linear").fit(bad)
        assert (caught.value.view, caught.value.chunk) == (own, 1)


def _allow_no_failures(dask_scheduler):
    dask_scheduler.allowed_failures = 0


@pytest.mark.parametrize("delay", [0.0, 0.5])
def test_a_client_that_goes_away_is_named(delay, cluster, planted, monkeypatch):
    """Whether it goes while a pass runs or between two; the threads of this process do not take over."""
    views, _ = planted
    client = Client(cluster)
    run = passes.run

    def leave_and_run(*args):
        if delay:
            threading.Timer(delay, client.close).start()
        else:
            client.close()
        return run(*args)

    monkeypatch.setattr(passes, "run", leave_and_run)
    with pytest.raises(ConnectionError, match="connection to the Dask scheduler was lost in the pass 'statistics'"):
        distributed.GlobalAlignmentClustering(4, kernel="linear").fit(slowly(views, 0.2))
