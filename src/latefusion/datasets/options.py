"""Options of the user for reading tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# Any number of blanks or tabs, as pandas writes it.
BLANKS = r"\s+"
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blank": BLANKS}
_NAMES = {sign: name for name, sign in SEPARATORS.items()}


class TableOptions(NamedTuple):
    """Options for reading tables.

    Attributes
    ----------
    id_column : str or None
        Column with the sample ids.
    label_column : str or None
        Column with the classes.
    separator : str or None
        Character between values; None to detect it.
    decimal : str or None
        Decimal separator; None to detect it.
    transpose : bool or tuple of Path
        Whether columns are samples: in all tables, or in the given files.
    sheet : str or None
        Sheet of a workbook; None for its only one.
    left_out : tuple of str
        Columns that are left out of the values, such as known classes of some samples.
    """

    id_column: str | None = None
    label_column: str | None = None
    separator: str | None = None
    decimal: str | None = None
    transpose: bool | tuple[Path, ...] = False
    sheet: str | None = None
    left_out: tuple[str, ...] = ()

    def transposed(self, file: Path) -> bool:
        """Whether the columns of a file are samples."""
        if isinstance(self.transpose, bool):
            return self.transpose
        return file.resolve() in {one.resolve() for one in self.transpose}


def table_options(
    id_column: str | None,
    label_column: str | None,
    separator: str | None,
    decimal: str | None,
    transpose: bool | Sequence[str | os.PathLike[str]],
    drop: Sequence[str] = (),
) -> TableOptions:
    """Checked options."""
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {decimal!r}.")
    sign = None if separator is None else separator_sign(separator)
    if sign is not None and sign == decimal:
        raise ValueError(f"separator and decimal are both {decimal!r}: they must differ.")
    if isinstance(transpose, str | os.PathLike):
        transpose = [transpose]
    chosen = transpose if isinstance(transpose, bool) else tuple(Path(file) for file in transpose)
    left_out = (drop,) if isinstance(drop, str) else tuple(map(str, drop))
    return TableOptions(id_column, label_column, sign, decimal, chosen, left_out=left_out)


def separator_sign(text: str) -> str:
    r"""The separator character for a name or a character.

    Examples
    --------
    >>> from latefusion.datasets.options import separator_sign
    >>> separator_sign("semicolon"), separator_sign("\\t"), separator_sign(":")
    (';', '\t', ':')
    """
    if text in SEPARATORS:
        return SEPARATORS[text]
    sign = {"\\t": "\t", " ": BLANKS, BLANKS: BLANKS}.get(text, text)
    if sign != BLANKS and (len(sign) != 1 or sign.isalnum() or sign in "\"'\r\n\0"):
        raise ValueError(f"separator must be a single character or one of {', '.join(SEPARATORS)}; got {text!r}.")
    return sign


def separator_name(sign: str) -> str:
    """The name of a separator, such as "comma", or the character in quotes."""
    return _NAMES.get(sign, repr(sign))
