"""Peak memory of this process."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
# Written to CLEAR, it sets the peak to the present size.
RESET_PEAK = "5"


class PeakMemory:
    """Memory of this process above that at the start; known on Linux only."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):  # where it cannot be reset, earlier peaks count
            CLEAR.write_text(RESET_PEAK)
        self._start = _kibibytes("VmRSS")

    def mebibytes(self) -> float | None:
        """The peak since the start above the size at the start, in MiB; None if it is not known.

        Returns
        -------
        float or None
        """
        peak = _kibibytes("VmHWM")
        return None if peak is None or self._start is None else max(0, peak - self._start) / 1024


def _kibibytes(name: str) -> int | None:
    try:
        found = re.search(rf"^{name}:\s*(\d+) kB", STATUS.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else int(found[1])
