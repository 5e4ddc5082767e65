"""The licences of everything that may run beside the package: ``python -m tests.trust.licences`` prints the table.

What ``pyproject.toml`` names comes with its extra; what those bring along follows, as far as it is installed here.
"""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
# Extras of those who use the package; the others serve its tests and pages.
RUN_TIME = ("plot", "report", "torch", "frames", "io", "excel", "datasets", "scverse", "dask")


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement).group().lower().replace("_", "-")


def named():
    """Every dependency that the project names for running, and the extras that ask for it."""
    found = {name_of(one): [] for one in PROJECT["dependencies"]}
    for extra in RUN_TIME:
        for one in PROJECT["optional-dependencies"][extra]:
            found.setdefault(name_of(one), []).append(f"`{extra}`")
    return {name: ", ".join(extras) or "always" for name, extras in found.items()}


def brought(names):
    """What they need themselves, and so on."""
    todo, found = list(names), set()
    while todo:
        try:
            needs = distribution(todo.pop()).requires or []
        except PackageNotFoundError:
            continue
        fresh = {name_of(one) for one in needs if "extra ==" not in one} - found - set(names)
        found |= fresh
        todo += fresh
    return sorted(found)


def licence(name):
    """As its metadata state it; the newer field comes first."""
    try:
        about = distribution(name).metadata
    except PackageNotFoundError:
        return None
    classifiers = [one.rpartition(":: ")[2] for one in about.get_all("Classifier") or [] if one.startswith("License")]
    stated = (about.get("License") or "").strip().partition("\n")[0]
    short = stated if 0 < len(stated) < 60 else ""
    return about.get("License-Expression") or ", ".join(classifiers) or short or "not stated"


def table():
    """Markdown."""
    lines = ["| needs | for | licence |", "|---|---|---|"]
    direct = named()
    lines += [f"| {name} | {why} | {licence(name) or 'not installed here'} |" for name, why in sorted(direct.items())]
    lines += [f"| {name} | brought along | {licence(name)} |" for name in brought(direct) if licence(name)]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201
