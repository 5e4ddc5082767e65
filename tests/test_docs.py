"""The pages keep up with the library: nothing public is left out, and nothing is named that does not exist."""

import re
from functools import reduce
from pathlib import Path

import pytest

import latefusion
from latefusion import baselines, datasets, kernels, metrics, plots

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "gallery", "generated"} & set(path.parts))
REFERENCE = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "room", [latefusion, baselines, datasets, kernels, metrics, plots], ids=lambda one: one.__name__
)
def test_every_public_name_is_in_the_reference(room):
    listed = set(re.findall(r"^   (\w+)$", REFERENCE, re.MULTILINE))
    tables = {name for name in room.__all__ if isinstance(getattr(room, name), dict)}
    modules = {name for name in room.__all__ if type(getattr(room, name)).__name__ == "module"}
    assert set(room.__all__) - tables - modules - {"__version__"} <= listed


@pytest.mark.parametrize("name", [*baselines.METHODS, "LF-MVC-GAM", "LF-MVC-LAM"])
def test_every_method_has_its_page_with_problem_algorithm_cost_and_paper(name):
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / "methods").glob("*.md") if path.stem != "index"]
    own = [page for page in pages if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", page.splitlines()[0])]
    assert len(own) == 1
    for heading in ("## Problem", "## Algorithm", "## Cost", "## Paper"):
        assert heading in own[0]
    if name in baselines.METHODS:
        assert f"latefusion.baselines.{baselines.METHODS[name].__name__}`" in own[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_names_of_the_library_in_pages_exist(page):
    text = page.read_text(encoding="utf-8")
    for dotted in set(re.findall(r"(?<![\w.])lf\.(\w+(?:\.\w+)*)", text)):
        reduce(getattr, dotted.split("."), latefusion)
    for dotted in set(re.findall(r"\{py:\w+\}`~?latefusion\.([\w.]+)`", text)):
        reduce(getattr, dotted.split("."), latefusion)
    for method in set(re.findall(r'METHODS\["([^"]+)"\]', text)):
        assert method in baselines.METHODS
