"""Files that hold anything and commands of any words: an answer, or one line that names the file or the word.

`test_damaged_files` breaks the bytes of files; here they are sound, and what they hold is odd.
"""

import contextlib
import csv
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from latefusion.cli import main
from tests.properties import examples
from tests.trust.inputs import SCALES, SHAPES, seeds

REFUSALS = (ValueError, OSError)
WORDS = st.sampled_from(
    ["", " ", "id", "label", "1", "-1", "0.5", "1e400", "NaN", "inf", "ä", "a,b", 'q"q', "=1+1", "\t", "x\0y"]
)


def load(path):
    """The data set, or None where the file is refused by name; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return lf.datasets.load_views(path)
        except REFUSALS as error:
            refusal = error
    assert Path(path).name in str(refusal), repr(refusal)
    return None


def check(data):
    """What every data set promises, whatever it was read from."""
    assert data.views.n_views >= 1
    assert len({view.shape[0] for view in data.views.arrays}) == 1
    assert all(view.ndim == 2 for view in data.views.arrays)
    assert data.views.observed.shape == (len(data.views), data.views.n_views)
    if data.target is not None:
        assert len(data.target) == len(data.views)


@examples(60)
@given(
    table=st.lists(
        st.lists(st.one_of(WORDS, st.floats(width=32).map(str), st.text(max_size=5)), max_size=5), max_size=8
    ),
    separator=st.sampled_from([",", "\t", ";", "|", " "]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    suffix=st.sampled_from([".csv", ".tsv"]),
)
def test_tables_of_any_words(tmp_path, table, separator, encoding, suffix):
    path = tmp_path / f"words{suffix}"
    path.write_text("\n".join(separator.join(row) for row in table), encoding=encoding, errors="replace")
    data = load(path)
    if data is not None:
        check(data)
        check_columns(data.views.arrays[0])


@examples(60)
@given(
    tables=st.lists(
        st.lists(
            st.tuples(st.sampled_from("abcdef"), st.one_of(WORDS, st.integers(-2, 3).map(str)), st.text(max_size=2)),
            max_size=8,
            unique_by=lambda row: row[0],
        ),
        min_size=1,
        max_size=3,
    ),
    columns=st.sampled_from([None, ["label"], ["*"], ["x"]]),
    unassigned=st.sampled_from([None, [], [0, "a"]]),
)
def test_tables_of_any_labels(tmp_path, tables, columns, unassigned):
    """Each sample has the label of its row in its file, or the tables are refused by name."""
    paths = [tmp_path / f"run{number}.csv" for number in range(len(tables))]
    for path, rows in zip(paths, tables, strict=True):
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([("id", "label", "confidence"), *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            data = lf.datasets.load_clusterings(paths, columns=columns, unassigned=unassigned)
        except REFUSALS as error:
            message = str(error)
            assert any(word in message for word in (".csv", "No file has a column")), message
            return
    check(data)
    assert data.views.observed.any(axis=1).all()
    if columns in (None, ["label"]):
        for rows, array in zip(tables, data.views.arrays, strict=True):
            known = {sample: label.strip() for sample, label, _ in rows}
            for sample, label in zip(data.views.sample_ids, array.iloc[:, 0], strict=True):
                if isinstance(label, str):
                    assert known[sample] == label.strip()
                elif not pd.isna(label) and not isinstance(label, bool):
                    assert float(known[sample]) == label


@st.composite
def arrays(draw):
    """Of any shape, type, scale and order of memory."""
    rng = np.random.default_rng(draw(seeds))
    shape = draw(
        st.sampled_from([(), (0,), (6,), (1, 6), (6, 1), (6, 0), (0, 3), (6, 3), (6, 3), (6, 6), (6, 3, 2), (6, 6, 2)])
    )
    with np.errstate(all="ignore"):
        values = rng.standard_normal(shape) * draw(st.sampled_from(SCALES))
        kind = draw(
            st.sampled_from(["f8", "f8", "f4", "f2", "i8", "u1", "?", "c16", "U3", "S2", "M8[s]", "O", ">f8", "g"])
        )
        values = np.nan_to_num(values).clip(-1e6, 1e6).astype(kind) if kind[0] in "iuUSM" else values.astype(kind)
    values = np.asarray(values, dtype=kind)  # a single object is no array
    return np.asfortranarray(values) if draw(st.booleans()) and values.ndim else values


NAMES = st.sampled_from(
    ["view_0", "view_1", "view_2", "y", "names", "kernel_0", "X", "Y", "KH", "gt", "view_0_data", "ä"]
)


@examples(60)
@given(members=st.dictionaries(NAMES, arrays(), max_size=4))
def test_archives_of_any_arrays(tmp_path, members):
    path = tmp_path / "arrays.npz"
    np.savez(path, **members)
    data = load(path)
    if data is not None:
        check(data)


@examples(60)
@given(
    members=st.dictionaries(NAMES.filter(str.isascii), arrays(), max_size=4), sparse=st.booleans(), cell=st.booleans()
)
def test_matlab_files_of_any_arrays(tmp_path, members, sparse, cell):
    path = tmp_path / "arrays.mat"
    members = {name: value for name, value in members.items() if value.dtype.kind not in "MOg" and value.dtype != "f2"}
    if sparse:
        members["X"] = sp.csc_matrix(np.eye(6))
    if cell:
        holder = np.empty((1, len(members)), dtype=object)
        holder[0, :] = [None] * len(members)
        for position, value in enumerate(members.values()):
            holder[0, position] = value
        members = {**members, "X": holder}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scipy.io.savemat(path, members)
    data = load(path)
    if data is not None:
        check(data)


OPTIONS = [
    [],
    ["-k", "2"],
    ["-k", "1-3"],
    ["-k", "0"],
    ["-k", "99"],
    ["-k", "two"],
    ["--method", "gam"],
    ["--method", "MKKM"],
    ["--method", "nobody"],
    ["--seed", "-1"],
    ["--id", "nowhere"],
    ["--labels", "label"],
    ["--transpose", "a.csv"],
    ["--transpose", "all"],
    ["--transpose", "nowhere.csv"],
    ["--separator", ";"],
    ["--separator", "nothing"],
    ["--decimal", ","],
    ["--labels", "nothing.csv"],
    ["-o", "out.csv"],
    ["-o", "no/such/folder/out.csv"],
    ["-o", "out.xyz"],
    ["--json"],
    ["--quiet"],
    ["--save", "."],
    ["--nonsense"],
    ["--column", "label"],
    ["--column", "*"],
    ["--unassigned", "x"],
    ["-o", "page.html"],
    ["--report", "page.html"],
]


def run(words):
    """Exit code of a command and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), err.getvalue()


@examples(15)
@given(
    seed=seeds,
    shape=st.sampled_from(SHAPES),
    scale=st.sampled_from(SCALES),
    n=st.integers(1, 12),
    options=st.lists(st.sampled_from(OPTIONS), max_size=2),
    command=st.sampled_from(["cluster", "cluster", "compare", "info", "predict", "update", "consensus", "report"]),
    odd=st.sampled_from([None, None, "", "word", "nan"]),
)
def test_commands_of_any_words(tmp_path, monkeypatch, seed, shape, scale, n, options, command, odd):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(seed)
    for name in ("a.csv", "b.csv"):
        with np.errstate(all="ignore"):
            rows = (scale * shape(rng, n, 2)).astype(str)
        if odd is not None:
            rows[0, 0] = odd
        lines = [",".join([f"s{number}", *row, "x"]) for number, row in enumerate(rows)]
        Path(name).write_text("\n".join(["id,u,v,label", *lines]))
    code, _, err = run([command, "a.csv", "b.csv", *(word for option in options for word in option)])
    assert code in (0, 1, 2), err
    if code == 1:
        assert err.startswith(f"latefusion {command}: ")
        assert len(err.splitlines()) == 1
    if code == 2:
        assert err.startswith("usage: latefusion")
    assert "Traceback" not in err
    assert not list(tmp_path.glob("**/*.part"))


CELLS = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.timedeltas(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000),
    st.binary(max_size=3),
    st.lists(st.integers(0, 3), max_size=2),
)
COLUMN_NAMES = st.lists(st.one_of(WORDS, st.text(max_size=4)), min_size=1, max_size=4, unique=True)


def columns_of(draw, n_rows):
    """Of one kind of cell each, or of all kinds, so that a library may refuse to write them."""
    kind = draw(st.sampled_from([CELLS, *CELLS.original_strategies]))
    return draw(st.lists(st.one_of(st.none(), kind), min_size=n_rows, max_size=n_rows))


@examples(80)
@given(data=st.data(), names=COLUMN_NAMES, n_rows=st.integers(0, 5), suffix=st.sampled_from([".parquet", ".feather"]))
def test_typed_tables_of_any_values(tmp_path, data, names, n_rows, suffix):
    path = tmp_path / f"values{suffix}"
    frame = pd.DataFrame({name: pd.Series(columns_of(data.draw, n_rows), dtype=object) for name in names})
    frame = frame.infer_objects() if data.draw(st.booleans()) else frame
    try:
        frame.to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    except Exception:  # noqa: BLE001
        return  # pyarrow writes columns of one type only
    found = load(path)
    if found is not None:
        check(found)
        check_columns(found.views.arrays[0])


@examples(40)
@given(data=st.data(), n_rows=st.integers(0, 5), n_columns=st.integers(0, 4))
def test_sheets_of_any_values(tmp_path, data, n_rows, n_columns):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in range(1, n_rows + 1):
        for column in range(1, n_columns + 1):
            value = data.draw(CELLS)
            with contextlib.suppress(Exception):  # not every value can be written
                book.active.cell(row, column, value)
    path = tmp_path / "values.xlsx"
    try:
        book.save(path)
    except Exception:  # noqa: BLE001
        return
    found = load(path)
    if found is not None:
        check(found)
        check_columns(found.views.arrays[0])


def check_columns(view):
    """Numbers, text, booleans, dates, durations and categories: nothing else reaches the estimators."""
    if isinstance(view, np.ndarray):
        assert view.dtype.kind == "f"
        return
    assert list(view.index) == list(range(len(view)))
    assert all(isinstance(name, str) for name in view.columns)
    assert view.columns.is_unique
    for name in view.columns:
        column = view[name]
        if column.dtype == object:
            kinds = {type(value) for value in column.dropna()}
            assert kinds <= {str} or kinds <= {bool}, kinds
        else:
            assert column.dtype.kind in "bifumM" or isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype)
