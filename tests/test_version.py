"""One version, wherever it is asked for."""

from importlib.metadata import version

import latefusion
from latefusion.version import __version__


def test_the_package_the_installation_and_the_module_agree():
    assert latefusion.__version__ == __version__ == version("latefusion")
