"""The house itself: every source file has its test file, imports stay light, docstrings tell the truth."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import latefusion

SOURCE = Path(latefusion.__file__).parent
TESTS = Path(__file__).parent

# Source files without a test file of their own, and why.
EXCEPTIONS = {
    "__init__.py": "names only, no code of its own",
    "__main__.py": "one call of the command line, which has its tests",
}

HEAVY = (
    "torch", "cupy", "dask", "matplotlib", "jinja2", "pandas", "polars", "h5py", "openpyxl", "anndata", "mudata",
    "zarr", "pooch",
)  # fmt: skip


def source_files():
    return sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.name not in EXCEPTIONS)


def test_every_source_file_has_its_test_file():
    partners = {path: path.parent / f"test_{path.name}" for path in source_files()}
    missing = [f"{path} has no tests/{partner}" for path, partner in partners.items() if not (TESTS / partner).exists()]
    assert not missing, "\n".join(missing)


def test_only_the_command_line_prints():
    """The linter refuses a bare `print`, but not one with ``file=`` and no write to a standard stream."""
    for path in source_files():
        if path.parts[0] == "cli":
            continue
        for node in ast.walk(ast.parse((SOURCE / path).read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Name) and node.id == "print"), f"{path}:{node.lineno} prints"
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys":
                assert node.attr not in ("stdout", "stderr"), f"{path}:{node.lineno} uses sys.{node.attr}"


def answer_of_a_fresh_process(command):
    return subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout.strip()


def test_import_is_light():
    """Array and frame libraries are not loaded, but for those that scikit-learn loads by itself."""
    loaded = f"{{name for name in {HEAVY} if name in sys.modules}}"
    command = f"import sys, sklearn.base; before = {loaded}; import latefusion; print({loaded} - before)"
    assert answer_of_a_fresh_process(command) == "set()"


WITHOUT_OPTIONAL_LIBRARIES = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
"""


def test_import_needs_no_optional_library():
    command = f"{WITHOUT_OPTIONAL_LIBRARIES}import latefusion; print(latefusion.__version__)"
    assert answer_of_a_fresh_process(command) == latefusion.__version__


def test_import_is_the_same_with_and_without_numpy_loaded():
    loaded = "sorted(name for name in sys.modules if name.startswith('latefusion'))"
    found = {
        answer_of_a_fresh_process(f"import sys{first}; import latefusion; print({loaded})") for first in ("", ", numpy")
    }
    assert len(found) == 1


def test_without_dask_the_extra_is_named():
    command = f"""{WITHOUT_OPTIONAL_LIBRARIES}
try:
    import latefusion.distributed
except ImportError as error:
    print(error)
"""
    assert "pip install 'latefusion[dask]'" in answer_of_a_fresh_process(command)


def public_callables():
    """Public classes and functions of all modules, and public methods of the classes, by their full name."""
    found = {}
    for info in pkgutil.walk_packages(latefusion.__path__, "latefusion."):
        if "__main__" in info.name:
            continue
        module = importlib.import_module(info.name)
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != info.name:
                continue
            if inspect.isclass(thing):
                found[f"{info.name}.{name}"] = thing
                for member, function in vars(thing).items():
                    if inspect.isfunction(function) and not member.startswith("_"):
                        found[f"{info.name}.{name}.{member}"] = function
            elif inspect.isfunction(thing):
                found[f"{info.name}.{name}"] = thing
    return found


def documented_parameters(docstring):
    """Name and type line of every entry in the section "Parameters" of a numpydoc docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", inspect.cleandoc(docstring), re.DOTALL | re.MULTILINE
    )
    entries = re.findall(r"^(\w[\w, *]*) : (.*)$", section.group(1), re.MULTILINE) if section else []
    return {name.strip(" *"): kind for names, kind in entries for name in names.split(",")}


def stated_default(thing, text):
    """The value of a documented default: a literal, or a constant of the module."""
    constants = vars(sys.modules[thing.__module__])
    return constants[text] if text in constants else ast.literal_eval(text)


def wrong_parameters(thing):
    """Where the section "Parameters" of a docstring contradicts the signature."""
    try:
        parameters = inspect.signature(thing).parameters
    except ValueError:  # a class without a signature, such as a Protocol
        return
    for parameter, kind in documented_parameters(thing.__doc__ or "").items():
        if parameter not in parameters:
            yield f"documents {parameter}, which it does not take"
            continue
        default = parameters[parameter].default
        stated = re.search(r"default=(.+)$", kind)
        if stated and stated_default(thing, stated.group(1)) != default:
            yield f"documents {parameter} with the default {stated.group(1)}, which is {default!r}"
        elif not stated and default is not inspect.Parameter.empty and not re.match("ignored|as in", kind):
            yield f"does not document the default {default!r} of {parameter}"


def test_contradictions_between_docstring_and_signature_are_found():
    def takes(first=1, second=2, third=3, X=None, *rest):
        """Parameters of all kinds.

        Parameters
        ----------
        first : int, default=1
        second : int
        third : int, default=4
        fourth : int
        X : ignored
        """

    assert list(wrong_parameters(takes)) == [
        "does not document the default 2 of second",
        "documents third with the default 4, which is 3",
        "documents fourth, which it does not take",
    ]
    assert documented_parameters(latefusion.GlobalAlignmentClustering.__doc__)["tol"] == "float, default=1e-6"


def test_documented_defaults_are_those_of_the_signature():
    public = public_callables()
    assert len(public) > 100
    wrong = [f"{name} {complaint}" for name, thing in public.items() for complaint in wrong_parameters(thing)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package_and_no_other(tmp_path):
    """Data files too: the paper's values, the catalogue, the templates of the report."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(TESTS.parent),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "hatchling" in built.stderr and "No matching distribution" in built.stderr:
        pytest.skip("the build backend cannot be had here")
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert inside == {path.relative_to(SOURCE.parent).as_posix() for path in files}
    kinds = {Path(name).suffix for name in inside}
    assert {".csv", ".toml", ".html", ".css", ".js", ".typed"} <= kinds
