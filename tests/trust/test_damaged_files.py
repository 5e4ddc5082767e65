"""Files that were damaged at random are read or refused by name, in bounded time and memory."""

import json
import os
import subprocess
import sys

import pytest

from tests.properties import FACTOR
from tests.trust.fuzz_files import KINDS

# The HDF5 library itself runs in circles on about one in two hundred of such files; nothing in Python can end that.
MAY_BE_STUCK = {"h5ad", "h5mu", "mat73", "tenx"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited by a call of Linux")
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_or_refused_by_name(kind):
    if "excel" in kind:
        pytest.importorskip("openpyxl")
    seed = 0 if FACTOR == 1 else int.from_bytes(os.urandom(4))
    command = [sys.executable, "-m", "tests.trust.fuzz_files", kind, str(seed), str(50 * FACTOR)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found.get("wrong", 0) == 0, f"{found}: {done.stderr[-2000:]}"
    assert found.get("refused", 0) + found.get("read", 0) > 0.9 * 50 * FACTOR
    assert found.get("stuck", 0) == 0 or kind in MAY_BE_STUCK
