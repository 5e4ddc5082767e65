"""Text tables: the dialect of a file is detected from its first lines, and pandas reads it.

Detected are: compression, encoding (UTF-8, UTF-16 with a mark, Windows-1252), lines of comments at the top (``#``),
the separator (tab, semicolon, pipe, comma, blanks), decimal commas, separators of thousands, markers of missing values
among numbers, a line of names or none, names that are one fewer than the values (R writes the ids without a name), and
separators at the end of lines. Columns that contain anything but numbers stay text.

Lines are counted from 1, as in an editor, also in errors.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
import warnings
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from latefusion.datasets.compression import compression_of, open_unpacked
from latefusion.datasets.labels import plain
from latefusion.datasets.optional import require
from latefusion.datasets.options import BLANKS, SEPARATORS, TableOptions, separator_name
from latefusion.datasets.text_values import EXPONENT, THOUSANDS, as_numbers, is_gap, parses
from latefusion.encoding.columns import DECIMAL, number_in

Frame = Any
Line = tuple[int, list[str]]

ID_NAMES = (
    "", "id", "ids", "index", "sample", "sampleid", "samples", "samplename", "name", "barcode", "cell", "cellid",
    "patient", "patientid", "subject", "subjectid", "rowname", "rownames", "obs", "obsnames",
)  # fmt: skip
# Names that mean ids in any column.
SURE_ID_NAMES = ("id", "sampleid", "cellid", "patientid", "subjectid", "barcode")
# Names such as customer_id, order-ID and userId; not those of words such as "paid".
ID_ENDING = re.compile(r"[\W_][iI][dD]$|[a-z]I[dD]$")
# In the order in which they are tried. Commas are last, since they may be decimal commas.
CANDIDATES = ("\t", ";", "|", ",")
# Lines used to detect the dialect, and bytes read at a time.
SAMPLE_LINES = 20
LONGEST_PREAMBLE = 100
BLOCK = 2**16
# The largest limit of the csv module that all platforms take.
LONGEST_FIELD = 2**31 - 1
# Names of columns without a name in the file, counted from 1.
MADE_UP = "column {}"
# Name of the empty column after the last separator, if every line ends with one.
TRAILING = "\0"

# Numbers that have only three digits behind one sign.
AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
EXCEL_HINT = re.compile(r'"?sep=(.)"?', re.IGNORECASE)


class Dialect(NamedTuple):
    """The dialect of a text table.

    Attributes
    ----------
    compression : str
        Empty if there is none.
    encoding : str
    separator : str
        A character, or `BLANKS`.
    decimal : str
    decimal_known : bool
        Whether the user gave the decimal separator, or values show it; a point otherwise.
    first_line : int
        Line of the names, or of the first values if there are none.
    has_names : bool
        Whether that line contains names.
    names : list of str
        Of all columns, generated if the file has none; the last is `TRAILING` if lines end with a separator.
    """

    compression: str
    encoding: str
    separator: str
    decimal: str
    decimal_known: bool
    first_line: int
    has_names: bool
    names: list[str]


def read_text(file: Path, options: TableOptions) -> tuple[Frame, Dialect]:
    """A text table as a data frame, and its dialect.

    Parameters
    ----------
    file : Path
    options : TableOptions
        Its separator, if it occurs in the file, and its decimal separator override the detected ones; its column of ids
        is kept as text.

    Returns
    -------
    frame : DataFrame
    dialect : Dialect
    """
    pandas = require("pandas", file)
    with _fields_of_any_length(), open_unpacked(file) as stream:
        dialect = _recognize(stream, file, options)
        frame = _parse(stream, dialect, file, options, pandas)
        if TRAILING in frame and frame.pop(TRAILING).notna().any():
            _complain_about_width(stream, dialect, file)
        # Lines that are too short end in missing values.
        if len(frame.columns) > 1 and frame.iloc[:, -1].isna().any():
            _complain_about_width(stream, dialect, file)
    as_text = text_columns(dialect.names, options)
    for at, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if name in as_text or getattr(dtype, "kind", "O") in "biuf":
            continue
        numbers = as_numbers(frame.iloc[:, at], dialect.decimal)
        if numbers is not None:
            frame.isetitem(at, numbers)
    if dialect.decimal_known:  # for columns of text that are amounts
        frame.attrs[DECIMAL] = dialect.decimal
    return frame, dialect


def line_of_row(file: Path, row: int, options: TableOptions) -> int:
    """The line in which a row of values begins, rows counted from 0; for errors."""
    with _fields_of_any_length(), open_unpacked(file) as stream:
        dialect = _recognize(stream, file, options)
        position = row + dialect.has_names
        with contextlib.suppress(csv.Error), contextlib.closing(_lines(stream, dialect)) as lines:
            return next(itertools.islice(lines, position, None), (0, []))[0]
    return dialect.first_line + position


@contextlib.contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Without the limit of the csv module on the length of a field, 128 KiB; the limit is one of the process."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _recognize(stream: BinaryIO, file: Path, options: TableOptions) -> Dialect:
    encoding = _encoding(stream)
    with _as_text(stream, encoding) as text:
        if "\0" in text.read(BLOCK):
            raise ValueError(
                f"{str(file)!r} contains zero bytes: it is not text, or it is UTF-16 without a mark. Save it as CSV in "
                f"UTF-8."
            )
    with _as_text(stream, encoding) as text:
        numbered = [
            (number, line)
            for number, line in itertools.islice(_whole_lines(text), LONGEST_PREAMBLE + SAMPLE_LINES)
            if line.strip()
        ]
    hint = EXCEL_HINT.fullmatch(numbered[0][1].strip()) if numbered else None
    numbered = numbered[1:] if hint else numbered
    separator = hint[1] if hint else None
    # The option applies to all tables; it is ignored for tables without that character.
    if options.separator is not None and any(len(_split(line, options.separator)) > 1 for _, line in numbered):
        separator = options.separator
    numbered = _without_comments(numbered, separator)
    lines = [line for _, line in numbered]
    if not lines:
        raise ValueError(f"{str(file)!r} is empty. A table has a line of names and a line per sample.")
    separator = separator or _separator(lines)
    names, has_names = _column_names(lines, separator, file, numbered[0][0])
    decimal = options.decimal or _decimal(numbered[has_names:], separator, file)
    return Dialect(
        compression_of(file), encoding, separator, decimal or ".", bool(decimal), numbered[0][0], has_names, names
    )


def _encoding(stream: BinaryIO) -> str:
    """UTF-8 if the bytes are valid; otherwise UTF-16 if it has a mark, or Windows-1252."""
    stream.seek(0)
    if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    for encoding in ("utf-8-sig", "cp1252"):
        stream.seek(0)
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            while block := stream.read(BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


@contextlib.contextmanager
def _as_text(stream: BinaryIO, encoding: str) -> Iterator[io.TextIOWrapper]:
    """The stream from its beginning as text; it stays open."""
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")
    try:
        yield text
    finally:
        text.detach()


def _whole_lines(text: io.TextIOWrapper) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; those inside quotes are joined, as spreadsheets write names of several lines."""
    start, held = 1, ""
    for number, line in enumerate(text, start=1):
        held += line
        if held.count('"') % 2 and number - start < SAMPLE_LINES:
            continue
        yield start, held
        start, held = number + 1, ""
    if held:
        yield start, held


def _without_comments(numbered: list[tuple[int, str]], separator: str | None) -> list[tuple[int, str]]:
    """The lines from the line of names on: comments begin with #, and so may the line of names."""
    comments = len(list(itertools.takewhile(lambda item: item[1].lstrip().startswith("#"), numbered)))
    rest = numbered[comments:]
    if comments and rest:
        sign = separator or _separator([line for _, line in rest])
        number, last = numbered[comments - 1]
        last = last.lstrip().removeprefix("#")
        widths = {len(_split(line, sign)) for _, line in rest[:SAMPLE_LINES]}
        holds_values = any(map(parses, _split(rest[0][1], sign)[1:]))
        if holds_values and widths == {len(_split(last, sign))}:
            rest = [(number, last), *rest]
    return rest[:SAMPLE_LINES]


def _separator(lines: Sequence[str]) -> str:
    """The character that splits all lines equally and gives most numbers; otherwise one that is in every line."""
    present = [one for one in CANDIDATES if all(len(_split(line, one)) > 1 for line in lines)]
    alike = [one for one in present if _divides_alike(lines, one)]
    alike += [BLANKS] * _divided_by_blanks(lines)
    if alike:
        return alike[0] if len(alike) == 1 else max(alike, key=lambda one: _share_of_numbers(lines, one))
    # The name of a single column of values needs no separator, as R writes tables.
    single = [one for one in CANDIDATES if len(lines) > 1 and all(len(_split(line, one)) == 2 for line in lines[1:])]
    return next(iter([*present, *single]), ",")


def _share_of_numbers(lines: Sequence[str], separator: str) -> float:
    """The share of numbers and gaps: without gaps, blanks would win over tabs before an empty last column."""
    values = [value for line in lines[1:] or lines for value in _split(line, separator)[1:]]
    return sum(map(_may_be_number, values)) / len(values) if values else 0.0


def _divides_alike(lines: Sequence[str], separator: str) -> bool:
    widths = [len(_split(line, separator)) for line in lines]
    return len(set(widths[1:])) <= 1 and abs(widths[0] - widths[-1]) <= 1


def _divided_by_blanks(lines: Sequence[str]) -> bool:
    """Whether blanks separate values: names and ids may contain blanks, so at least one column must be numeric."""
    rows = [_split(line, BLANKS) for line in lines]
    if not _divides_alike(lines, BLANKS) or len(rows[-1]) < 2:
        return False
    if all(parses(value) for row in rows for value in row):
        return True
    headless = len(rows) == 1 or (len(rows[0]) > 1 and all(map(parses, rows[0][1:])))
    values = rows if headless else rows[1:]
    if len(set(map(len, values))) > 1:
        return False
    numeric = any(all(map(_may_be_number, column)) for column in list(zip(*values, strict=True))[1:])
    firsts = [row[0] for row in values]
    quoted = all(line.lstrip().startswith('"') for line in lines)
    return numeric and len(set(firsts)) == len(firsts) and (quoted or len(rows[0]) > 1)


def _may_be_number(value: str) -> bool:
    return parses(value) or is_gap(value)


def _split(line: str, separator: str) -> list[str]:
    if separator == BLANKS:
        line, separator = line.strip().replace("\t", " "), " "
    try:
        fields = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        fields = [line]
    return [field.strip() for field in fields]


def _column_names(lines: Sequence[str], separator: str, file: Path, number: int) -> tuple[list[str], bool]:
    """Names of the columns, and whether the first line holds them."""
    names = _split(lines[0], separator)
    first_row = _split(lines[1], separator) if len(lines) > 1 else names
    trailing = len(names) > 1 and first_row[-1] == "" and (names[-1] == "" or len(first_row) > len(names))
    names = names[:-1] if trailing and names[-1] == "" else names
    has_names = holds_names(names)
    if not has_names:
        names = [MADE_UP.format(position) for position in range(1, len(names) + 1)]
    elif not trailing and len(first_row) == len(names) + 1:
        names = ["", *names]  # the ids have no name, as R writes tables
    _check_names(names, file, number)
    return [*names, TRAILING] if trailing else names, has_names


def holds_names(values: Sequence[str]) -> bool:
    """Whether the first row of a table contains names: a row of numbers contains values, unless it counts columns.

    So does an id followed by numbers.
    """
    if len(values) < 2:
        return not parses(values[0])
    counted = [str(position) for position in range(len(values))]
    if plain(values[0]) in ID_NAMES or list(values[1:]) in (counted[1:], counted[:-1]):
        return True
    return not all(map(parses, values[1:]))


def _check_names(names: Sequence[str], file: Path, number: int) -> None:
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(position)
    repeated = {name: found for name, found in positions.items() if len(found) > 1}
    if repeated:
        shown = [
            f"{repr(name) if name else 'none'} ({len(found)} times: columns {found[0]} and {found[1]})"
            for name, found in repeated.items()
        ]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        raise ValueError(
            f"{str(file)!r}, line {number}: several columns with the same name, {', '.join(shown[:5])}{more}. Rename "
            f"them."
        )


def _decimal(numbered: Sequence[tuple[int, str]], separator: str, file: Path) -> str:
    """The decimal separator: the character before digits that cannot be a group of thousands; empty if there is none.

    Numbers with a unit or currency are considered if those without do not show it.
    """
    numbers = [
        (number, value)
        for number, line in numbered
        for value in _split(line, separator)
        if "," in value or "." in value
    ]
    for texts in ([value for _, value in numbers], [number_in(value) for _, value in numbers]):
        comma, point = (any(_shows_decimal(text, sign) for text in texts) for sign in ",.")
        if comma or point:
            return "," if comma and not point else "."
    number, doubtful = next((item for item in numbers if "," in item[1] and AMBIGUOUS.fullmatch(item[1])), (0, ""))
    if doubtful and separator not in ",;":
        raise ValueError(
            f"{str(file)!r}, line {number}: the comma in {doubtful!r} may be a decimal comma or separate thousands. "
            f"Give decimal=',' for a decimal comma, or decimal='.' if it separates thousands."
        )
    # Spreadsheets separate by semicolons where the comma is the decimal sign.
    return "," if doubtful and separator == ";" else ""


def _shows_decimal(value: str, sign: str) -> bool:
    """Whether a value can only be read with this decimal separator."""
    if THOUSANDS[sign].fullmatch(value):
        return {".", ","} <= set(value) or value.count("," if sign == "." else ".") > 1
    return not AMBIGUOUS.fullmatch(value) and re.fullmatch(rf"[+-]?\d*\{sign}\d+{EXPONENT}", value) is not None


def text_columns(names: Sequence[str], options: TableOptions) -> list[str]:
    """Columns that may be ids and are read as text: 007 is not 7."""
    if options.id_column in names:
        return [str(options.id_column)]
    first = names[0] if plain(names[0]) in ID_NAMES or ID_ENDING.search(names[0]) else None
    sure = [] if first else [name for name in names if plain(name) in SURE_ID_NAMES]
    return sure if first is None else [first, *sure]


def _parse(stream: BinaryIO, dialect: Dialect, file: Path, options: TableOptions, pandas: Any) -> Frame:
    stream.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # lines with more values than there are names
            return pandas.read_csv(
                stream,
                sep=dialect.separator,
                encoding=dialect.encoding,
                skiprows=dialect.first_line - 1,
                header=0 if dialect.has_names else None,
                names=dialect.names,
                index_col=False,
                dtype=dict.fromkeys(text_columns(dialect.names, options), str),
                decimal=dialect.decimal,
                skipinitialspace=True,
                low_memory=False,
            )
    except (ValueError, OSError, OverflowError, pandas.errors.ParserWarning) as error:  # a ParserError is a ValueError
        _complain_about_width(stream, dialect, file)
        raise ValueError(
            f"{str(file)!r} cannot be read as a table of {len(dialect.names)} columns separated by "
            f"{separator_name(dialect.separator)} ({str(error).strip()})."
        ) from error


def _lines(stream: BinaryIO, dialect: Dialect) -> Generator[Line, None, None]:
    """The lines of the table with their line numbers, without empty ones."""
    blanks = dialect.separator == BLANKS
    with _as_text(stream, dialect.encoding) as text:
        lines = (line.strip().replace("\t", " ") + "\n" if blanks else line for line in text)
        start = dialect.first_line
        reader = csv.reader(
            itertools.islice(lines, start - 1, None),
            delimiter=" " if blanks else dialect.separator,
            skipinitialspace=True,
        )
        for fields in reader:
            if len(fields) > 1 or "".join(fields).strip():
                yield start, fields
            start = dialect.first_line + reader.line_num


def _complain_about_width(stream: BinaryIO, dialect: Dialect, file: Path) -> None:
    """Raise an error for the first line with more or fewer values than there are columns."""
    n_columns = len([name for name in dialect.names if name != TRAILING])
    with contextlib.suppress(csv.Error), contextlib.closing(_lines(stream, dialect)) as lines:
        for number, fields in itertools.islice(lines, dialect.has_names, None):
            n_fields = len(fields) - (len(fields) == len(dialect.names) > n_columns and fields[-1].strip() == "")
            if n_fields == n_columns:
                continue
            if any("\n" in field for field in fields):
                raise ValueError(
                    f'{str(file)!r}, line {number}: a quote (") is opened and not closed before the end of the line. '
                    f"Close or remove it."
                )
            names = "names in line" if dialect.has_names else "values in line"
            other = ", ".join(name for name, sign in SEPARATORS.items() if sign != dialect.separator)
            raise ValueError(
                f"{str(file)!r}, line {number}: {n_fields} values, but there are {n_columns} {names} "
                f"{dialect.first_line} (separated by {separator_name(dialect.separator)}). Correct the line, put "
                f"quotes around values that contain the separator, or give another one with separator= ({other})."
            )
