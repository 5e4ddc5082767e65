"""Small faults put into the core rooms one at a time, and whether a test notices: ``python benchmarks/mutants.py``.

A mutant is the package with one operator, number, branch, call or result changed. mutmut and cosmic-ray make and run
every mutant of a file, in a fresh process each: thousands here, of which each waits for scikit-learn to be imported.
This draws a sample in proportion to the lines of the rooms, forks a process that has the libraries loaded already, and
runs only those tests that reach the changed line, the quickest first. Tests are those of the source file, then the
other ones of its room and the estimators' golden numbers, up to a number of seconds; a mutant that outlives them
survives. One that runs much longer than the tests usually take is killed by time.

A mutant is drawn by a number that comes from its own text and the seed: a change elsewhere does not change the sample.
Everything happens in copies of the tree. Results are kept as they come, and what is known already is not run again;
``--again`` runs those that survived once more, which is what one does after writing a test. Mutants that no test can
notice are listed with the reason in ``equivalent_mutants.toml`` beside the results, and counted apart.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import multiprocessing
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results/mutants.json"
EQUIVALENT = ROOT / "benchmarks/results/equivalent_mutants.toml"
ROOMS = ("solvers", "partitions", "kernels", "metrics", "assignment")
GOLDEN = ("tests/estimators/test_global_alignment.py", "tests/estimators/test_local_alignment.py")
# Libraries that every test needs; loaded once, before the fork.
LIBRARIES = ("numpy", "scipy.sparse.linalg", "sklearn.cluster", "sklearn.neighbors", "pandas", "hypothesis", "pytest")

# Asserts as they are: rewriting them wants to come before the libraries are loaded.
OPTIONS = ("-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-m", "not slow")

OPPOSITES: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


class Mutant(NamedTuple):
    """One fault: its name, the file, the lines that a test must reach to notice it, and how to put it there."""

    name: str
    path: str
    lines: tuple[int, ...]
    number: int  # of the fault among those of the file


def faults(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a piece of code by mistake."""
    match node:
        case ast.Compare(left, [first, *others], values) if type(first) in OPPOSITES:
            yield ast.Compare(left, [OPPOSITES[type(first)](), *others], values)
        case ast.BinOp(left, operator, right) if type(operator) in OPPOSITES:
            yield ast.BinOp(left, OPPOSITES[type(operator)](), right)
        case ast.AugAssign(target, operator, value) if type(operator) in OPPOSITES:
            yield ast.AugAssign(target, OPPOSITES[type(operator)](), value)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(OPPOSITES[type(operator)](), values)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.If(_, body, otherwise):
            yield ast.If(ast.Constant(True), body, otherwise)
            yield ast.If(ast.Constant(False), body, otherwise)
        case ast.IfExp(_, body, otherwise):
            yield body
            yield otherwise
        case ast.While(_, body, otherwise):
            yield ast.While(ast.Constant(False), body, otherwise)
        case ast.Return(value) if value is not None:
            yield ast.Return(ast.Constant(None))
        case ast.Expr(ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


# What says something and does nothing: types, messages, names.
SILENT = {"annotation", "returns", "decorator_list", "type_comment"}


def places(parent: ast.AST, statement: ast.AST, scope: str = "") -> Iterator[tuple]:
    """Every fault with its holder, field, position in a list or none, statement and the function that it is in."""
    for field, value in ast.iter_fields(parent):
        if field in SILENT or isinstance(parent, ast.Raise | ast.JoinedStr | ast.ImportFrom):
            continue
        for position, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or "TYPE_CHECKING" in ast.dump(child)[:90]:
                continue
            inside = child if isinstance(child, ast.stmt) else statement
            name = f"{scope}.{child.name}".strip(".") if hasattr(child, "name") and child.name else scope
            for replacement in faults(child):
                yield parent, field, position, child, replacement, inside, scope
            yield from places(child, inside, name)


def spelled(node: ast.AST) -> str:
    """One line of code."""
    return ast.unparse(ast.fix_missing_locations(node)).partition("\n")[0]


def lines_of(statement: ast.AST, tree: ast.Module) -> tuple[int, ...]:
    """Lines that run if the piece does: the statement, its head if it has a body, the function whose default it is."""
    if isinstance(statement, ast.FunctionDef):
        return tuple(range(statement.body[0].lineno, statement.end_lineno + 1))
    if statement in tree.body:
        return ()  # all tests import the module
    last = statement.body[0].lineno - 1 if hasattr(statement, "body") else statement.end_lineno
    return tuple(range(statement.lineno, max(last, statement.lineno) + 1))


def changed(parent: ast.AST, field: str, position: int | None, replacement: ast.AST) -> None:
    """Put a piece of code in its place, or back."""
    if position is None:
        setattr(parent, field, replacement)
    else:
        getattr(parent, field)[position] = replacement


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All mutants of a file."""
    tree, found, names = ast.parse(source), [], Counter()
    for number, (parent, field, position, child, replacement, statement, scope) in enumerate(places(tree, tree)):
        before = spelled(statement)
        changed(parent, field, position, replacement)
        after = spelled(statement if child is not statement else replacement)
        changed(parent, field, position, child)
        name = f"{path}: {scope}: {before}  ->  {after}"
        names[name] += 1
        name += f" ({names[name]})" if names[name] > 1 else ""
        found.append(Mutant(name, path, lines_of(statement, tree), number))
    return found


def mutated(source: str, number: int) -> str:
    """The file with that fault."""
    tree = ast.parse(source)
    parent, field, position, _, replacement, *_ = next(x for i, x in enumerate(places(tree, tree)) if i == number)
    changed(parent, field, position, replacement)
    return ast.unparse(ast.fix_missing_locations(tree))


def files_of(room: str) -> list[Path]:
    """The source files of a room that hold more than names."""
    return sorted(path for path in (ROOT / "src/latefusion" / room).glob("*.py") if path.name != "__init__.py")


def sample(count: int, seed: int) -> list[Mutant]:
    """Mutants of all rooms, as many of each as its share of the lines says."""
    rooms, lines = {}, {}
    for room in ROOMS:
        files = files_of(room)
        rooms[room] = [one for file in files for one in mutants_of(f"{room}/{file.name}", file.read_text())]
        lines[room] = sum(len(file.read_text().splitlines()) for file in files)

    def draw(one: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {one.name}".encode()).digest()

    shares = {room: round(count * lines[room] / sum(lines.values())) for room in ROOMS}
    return [one for room in ROOMS for one in sorted(rooms[room], key=draw)[: shares[room]]]


# ---------------------------------------------------------------------------------------------------------------------
# Tests, in processes that are forked from one with all libraries loaded.


class Chosen:
    """A plugin of pytest: keeps some tests, in a given order, and says which one failed first."""

    def __init__(self, tests: list[str], answer: int) -> None:
        self.order = {name: position for position, name in enumerate(tests)}
        self.answer = answer

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Those tests, in that order."""
        items[:] = sorted((one for one in items if one.nodeid in self.order), key=lambda one: self.order[one.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Name the one that failed."""
        if report.failed:
            os.write(self.answer, report.nodeid.encode())


class Watched:
    """A plugin of pytest: which test reaches which lines, and how long it takes."""

    def __init__(self, coverage: Any) -> None:
        self.coverage, self.seconds, self.bad = coverage, Counter(), set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up the time."""
        self.seconds[report.nodeid] += report.duration
        if not report.passed:
            self.bad.add(report.nodeid)

    def pytest_runtest_setup(self, item: Any) -> None:
        """What fixtures reach."""
        self.coverage.switch_context(f"{item.nodeid}|setup")

    def pytest_runtest_call(self, item: Any) -> None:
        """What the test itself reaches."""
        self.coverage.switch_context(item.nodeid)

    def pytest_runtest_teardown(self) -> None:
        """What nobody checks any more."""
        self.coverage.switch_context("")


def run_pytest(arguments: list[str], plugin: object) -> int:
    """Exit code of pytest."""
    import pytest

    return int(pytest.main([*OPTIONS, *arguments], plugins=[plugin]))


def in_a_fork(work: Callable[[int], int], folder: Path, seconds: float) -> tuple[str, str]:
    """How a function ends in a process of its own that lives in a copy of the tree: its word, and what it wrote."""
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.chdir(folder)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.environ["PYTHONPATH"] = str(folder / "src")
            sys.path[:0] = [str(folder / "src"), str(folder)]
            os._exit(work(outlet))
        except BaseException:  # noqa: BLE001
            os.write(outlet, traceback.format_exc().encode())
        finally:
            os._exit(99)
    os.close(outlet)
    answer, end = b"", time.monotonic() + 8 * seconds  # other programs may keep the machine busy
    while time.monotonic() < end:
        if select.select([inlet], [], [], 1.0)[0]:
            piece = os.read(inlet, 2**16)
            answer += piece
            if not piece:
                break
    else:
        os.killpg(child, signal.SIGKILL)
    os.close(inlet)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it has left behind
    return ("time" if status < 0 else str(status)), answer.decode()


def fingerprint(*paths: Path) -> str:
    """Of the content of files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def watch(job: tuple[str, str]) -> None:
    """What the tests of one file reach, kept until a test or the package changes."""
    test_file, print_of_source = job
    folder = Path(os.environ["MUTANTS_COPY"])
    known = Path(os.environ["MUTANTS_REACHED"], test_file.replace("/", ".") + ".json")
    now = print_of_source + fingerprint(ROOT / test_file)
    if known.exists() and json.loads(known.read_text())["fingerprint"] == now:
        return

    def work(answer: int) -> int:
        import coverage

        watching = coverage.Coverage(data_file=None, source=[str(folder / "src/latefusion" / room) for room in ROOMS])
        plugin = Watched(watching)
        watching.start()
        code = run_pytest(["--maxfail=100000", test_file], plugin)
        watching.stop()
        data, reached = watching.get_data(), {}
        for file in data.measured_files():
            lines = {line: sorted(contexts) for line, contexts in data.contexts_by_lineno(file).items()}
            reached["/".join(Path(file).parts[-2:])] = lines
        seconds = {name: duration for name, duration in plugin.seconds.items() if name not in plugin.bad}
        known.write_text(json.dumps({"fingerprint": now, "seconds": seconds, "reached": reached, "code": code}))
        return 0

    code, complaint = in_a_fork(work, folder, 1200)
    if code != "0":
        raise RuntimeError(f"{test_file} could not be watched: {code} {complaint}")
    print(f"watched {test_file}", flush=True)


class Tests:
    """Which tests reach a mutant, the quickest first."""

    def __init__(self, folder: Path, files: list[str]) -> None:
        self.seconds: dict[str, float] = {}
        self.reaching: dict[str, dict[int, set[str]]] = {}
        for file in files:
            known = json.loads((folder / (file.replace("/", ".") + ".json")).read_text())
            self.seconds |= known["seconds"]
            for source, lines in known["reached"].items():
                for line, contexts in lines.items():
                    names = self.reaching.setdefault(source, {}).setdefault(int(line), set())
                    for context in contexts:
                        # A fixture may serve all tests of its file; what is set up for one is set up for all.
                        names.update(known["seconds"] if context.endswith("|setup") else {context})

    def of(self, mutant: Mutant, seconds: float) -> tuple[list[str], list[str]]:
        """Those in the partner of the file, and others; each up to so many seconds."""
        lines = self.reaching.get(mutant.path, {})
        reach = set().union(*(lines.get(line, ()) for line in (mutant.lines or lines))) & self.seconds.keys()
        room, name = mutant.path.split("/")
        partner = {test for test in reach if test.startswith(f"tests/{room}/test_{name}")}
        others = {test for test in reach - partner if test.startswith(f"tests/{room}/") or test.startswith(GOLDEN)}
        return self.up_to(seconds, partner), self.up_to(seconds, others)

    def up_to(self, seconds: float, tests: set[str]) -> list[str]:
        """The quickest ones that take so long together."""
        chosen, total = [], 0.0
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            total += self.seconds[test]
            if total > seconds:
                break
            chosen.append(test)
        return chosen


def judge(job: tuple[Mutant, list[str], list[str], float]) -> dict:
    """Whether tests notice a mutant."""
    mutant, partner, others, usual = job
    folder = Path(os.environ["MUTANTS_COPY"])
    source = folder / "src/latefusion" / mutant.path
    original = source.read_text()

    def work(answer: int) -> int:
        sys.dont_write_bytecode = True
        for tests in (partner, others):
            files = sorted({test.partition("::")[0] for test in tests})
            if tests and (code := run_pytest(files, Chosen(tests, answer))):
                return code
        return 0

    begin = time.monotonic()
    try:
        source.write_text(mutated(original, mutant.number))
        code, failed = in_a_fork(work, folder, 20 + 3 * usual)
    finally:
        source.write_text(original)
    verdict = {"0": "survived", "time": "killed by time"}.get(code, "killed")
    return {
        "mutant": mutant.name,
        "verdict": verdict,
        "by": failed or ("import" if verdict == "killed" else None),
        "tests": len(partner) + len(others),
        "seconds": round(time.monotonic() - begin, 1),
    }


def prepare(base: str) -> None:
    """A copy of the tree for this worker."""
    folder = Path(tempfile.mkdtemp(dir=base))
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    os.environ["MUTANTS_COPY"] = str(folder)


def equivalents() -> dict[str, str]:
    """Mutants that no test can notice, and why."""
    return tomllib.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}


def summary(found: dict[str, dict], drawn: list[Mutant]) -> dict:
    """Figures of what is known by now, by room."""
    equivalent = equivalents()
    rows = [found[one.name] for one in drawn if one.name in found]
    for row in rows:
        row.pop("equivalent", None)
        if row["verdict"] == "survived" and row["mutant"] in equivalent:
            row["equivalent"] = equivalent[row["mutant"]]
    counts = {}
    for room in (*ROOMS, "all"):
        own = [row for row in rows if room == "all" or row["mutant"].startswith(room)]
        counts[room] = {
            "mutants": len(own),
            "killed": sum(row["verdict"] != "survived" for row in own),
            "equivalent": sum("equivalent" in row for row in own),
            "survived": sum(row["verdict"] == "survived" and "equivalent" not in row for row in own),
        }
    return {"rooms": counts, "drawn": len(drawn), "mutants": rows}


def main() -> None:
    """Draw, watch, judge, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=280, help="mutants in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="time of tests per mutant, as they usually take")
    parser.add_argument("--minutes", type=float, default=120, help="stop after; the next call goes on")
    parser.add_argument("--again", action="store_true", help="run those that survived once more")
    parser.add_argument("--work", default=None, help="folder for what is known about the tests between calls")
    options = parser.parse_args()

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    for name in LIBRARIES:
        __import__(name)
    drawn = sample(options.count, options.seed)
    found = {row["mutant"]: row for row in json.loads(RESULTS.read_text())["mutants"]} if RESULTS.exists() else {}
    again = {name for name, row in found.items() if row["verdict"] == "survived"} - equivalents().keys()
    todo = [one for one in drawn if one.name not in found or (options.again and one.name in again)]
    if todo:
        with tempfile.TemporaryDirectory() as base:
            for row in judge_all(todo, Path(options.work or base, "reached"), base, options):
                found[row["mutant"]] = row
                RESULTS.write_text(json.dumps(summary(found, drawn), indent=1, ensure_ascii=False) + "\n")
                print(f"{row['verdict']:15} {row['seconds']:6.1f} s  {row['mutant']}", flush=True)
    known = summary(found, drawn)
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    for room, counts in known["rooms"].items():
        print(room, counts)


def judge_all(todo: list[Mutant], reached: Path, base: str, options: argparse.Namespace) -> Iterator[dict]:
    """What becomes of mutants, as it is known, until the time is up."""
    end = time.monotonic() + 60 * options.minutes
    reached.mkdir(parents=True, exist_ok=True)
    os.environ["MUTANTS_REACHED"] = str(reached)
    rooms = {one.path.partition("/")[0] for one in todo}
    files = [path.relative_to(ROOT).as_posix() for room in rooms for path in (ROOT / "tests" / room).glob("test_*.py")]
    files = sorted([*files, *GOLDEN])
    source = fingerprint(*(path for room in ROOMS for path in files_of(room)))
    with multiprocessing.get_context("fork").Pool(options.jobs, prepare, (base,)) as pool:
        for _ in pool.imap_unordered(watch, [(file, source) for file in files]):
            pass
        tests = Tests(reached, files)
        jobs = []
        for one in todo:
            partner, others = tests.of(one, options.seconds)
            jobs.append((one, partner, others, sum(tests.seconds[test] for test in partner + others)))
        for row in pool.imap_unordered(judge, jobs):
            yield row
            if time.monotonic() > end:
                break


if __name__ == "__main__":
    main()
