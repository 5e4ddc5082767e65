from pathlib import Path

import pytest

from latefusion.datasets.optional import require


def test_present_module():
    assert require("json", Path("a.mat")).dumps([1]) == "[1]"


def test_absent_module_names_file_module_and_extra():
    with pytest.raises(ImportError, match=r"'a\.mat' needs no_such_module.*latefusion\[io\]"):
        require("no_such_module", Path("a.mat"))
