"""The core tests with the lowest or the newest versions: ``python -m tests.trust.versions lowest|newest FOLDER``.

The folder becomes a virtual environment with exactly the lowest versions that ``pyproject.toml`` declares, or with the
newest ones that can be had, of everything that the core rooms and their tests need. Then ``pip check`` and the tests of
those rooms run in it. Arguments after the folder go to pytest.
"""

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = ("plot", "frames", "io", "datasets")
ROOMS = ("arrays", "kernels", "partitions", "assignment", "solvers", "metrics", "validation", "estimators", "datasets")


def requirements(extras=EXTRAS):
    """What the package, these extras and the tests themselves ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for extra in extras for one in optional[extra]), *optional["test"]]
    return sorted({one for one in wanted if not one.startswith(project["name"])})


def lowest(requirement):
    """The requirement of exactly the lowest version that it allows."""
    name, bound = re.fullmatch(r"([\w.\[\],-]+)>=([\w.]+)", requirement).groups()
    return f"{name}=={bound}"


def main(which, folder, *arguments):
    wanted = [lowest(one) for one in requirements()] if which == "lowest" else requirements()
    python = Path(folder, "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--upgrade", *wanted]
    subprocess.run([*install, "--editable", ROOT], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    subprocess.run([python, "-m", "pip", "list"], check=True)
    # scikit-learn before 1.8 wants SciPy to be told that other array libraries will be at work, as some tests do.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SCIPY_ARRAY_API": "1"}
    tests = [f"tests/{room}" for room in ROOMS]
    command = [python, "-m", "pytest", "-q", "-m", "not slow", *tests, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
