"""How the pages are built: `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib
from sphinx.application import Sphinx

import latefusion

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
matplotlib.use("agg")

project = "latefusion"
author = "The latefusion developers"
release = version = latefusion.__version__
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "result_tables",
]
exclude_patterns = ["_build", "extensions", "templates"]
templates_path = ["templates"]
default_role = "py:obj"  # names in docstrings become links if they are documented

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# The notation that all pages share, for formulas only.
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
smartquotes = False  # quotes in docstrings are often code
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have shapes and meanings
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "subsection_order": ["../examples/stories", "../examples/recipes"],
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "plot_gallery": True,
    "capture_repr": ("_repr_html_",),  # tables; not the addresses of objects
    "parallel": 2,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # times depend on the machine
    "write_computation_times": False,
    "backreferences_dir": "reference/uses",
    "doc_module": ("latefusion",),
    "reference_url": {"latefusion": None},
    "inspect_global_variables": True,
    "reset_modules": ("matplotlib",),
    "thumbnail_size": (400, 280),
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}

html_theme = "furo"
html_title = "latefusion"
html_static_path = ["static", "_build/pictures"]  # the latter comes from picture.py
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f6fb4", "color-brand-content": "#1f6fb4"},
    "dark_css_variables": {"color-brand-primary": "#6db3ec", "color-brand-content": "#6db3ec"},
}


def skip_foreign(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Skip members inherited from scikit-learn and NumPy, which have their own documentation."""
    module = getattr(thing, "__module__", None) or getattr(type(thing), "__module__", "")
    foreign = str(module).partition(".")[0] in {"sklearn", "numpy"}
    return True if foreign or name.endswith("_request") else None


def escape_names(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep fitted attributes in shapes, as in (n_iter_,), from being read as links."""
    lines[:] = [re.sub(r"(?<=shape \()(\w+)_(?=,\))", r"\1\\_", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Connect the hooks above."""
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", escape_names, priority=100)  # before sections are taken apart
