import sys

import numpy as np
import pytest

from latefusion.experiments.leaderboard import peak
from latefusion.experiments.leaderboard.peak import PeakMemory


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_peak_is_that_since_the_start():
    np.ones(2**25).sum()  # 256 MiB, before the start
    memory = PeakMemory()
    before = memory.mebibytes()
    np.ones(2**23).sum()  # 64 MiB
    after = memory.mebibytes()
    assert 0 <= before < 32
    assert 60 < after < 120
    assert memory.mebibytes() >= after


def test_it_is_unknown_where_the_system_does_not_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(peak, "STATUS", tmp_path / "status")
    monkeypatch.setattr(peak, "CLEAR", tmp_path / "absent" / "clear")
    assert PeakMemory().mebibytes() is None
