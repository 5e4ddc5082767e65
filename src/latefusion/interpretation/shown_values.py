"""Numbers, dates, durations and shares as text, in the units of the user."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latefusion.encoding.codings import NumberCoding
from latefusion.encoding.columns import YEARS

# Units that stand before a number.
CURRENCIES = ("$", "€", "£", "¥", "₹", "US$")


class Unit(NamedTuple):
    """How the values of a feature are written.

    Attributes
    ----------
    kind : {"value", "share", "number", "date", "duration"}
        "value" for features without a unit, which are written with four digits.
    how : str
        Unit of numbers, or format of dates.
    whole_days : bool
        Whether dates have no time of day.
    """

    kind: str = "value"
    how: str = ""
    whole_days: bool = False

    def __call__(self, value: float) -> str:
        """The value as text."""
        if self.kind == "value":
            return f"{value:.4g}"
        if self.kind == "share":
            return f"{value:.0%}"
        return shown_value(float(np.floor(value)) if self.whole_days else value, self.kind, self.how)


def unit_of(coding: NumberCoding) -> Unit:
    """The unit of a column of numbers, dates or durations."""
    return Unit(coding.kind, coding.how, coding.kind == "date" and "time of day" not in coding.parts)


def shown_value(value: float, kind: str, unit: str = "") -> str:
    """A number, a date or a duration as text, in the unit of the user.

    Parameters
    ----------
    value : float
        Days since 1970 for dates, seconds for durations.
    kind : {"number", "date", "duration"}
    unit : str, default=""
        Of numbers; of dates, their format: years are shown without month and day.

    Returns
    -------
    str

    Examples
    --------
    >>> from latefusion.interpretation.shown_values import shown_value
    >>> shown_value(1200.5, "number", "$"), shown_value(7.25, "number", "%"), shown_value(31.5, "date")
    ('$1,200', '7.25 %', '1970-02-01 12:00')
    """
    if kind == "date" and unit == YEARS:
        return str(np.datetime64(0, "D") + np.timedelta64(round(value), "D"))[:4]
    if kind == "date":
        moment = np.datetime64(0, "s") + np.timedelta64(round(value * 86_400), "s")
        text = str(moment.astype("datetime64[m]")).replace("T", " ")
        return text.removesuffix(" 00:00")
    if kind == "duration":
        seconds = round(abs(value))
        days, rest = divmod(seconds, 86_400)
        clock = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
        return "-" * (value < 0) + (f"{days} days {clock}" if days else clock)
    digits = 0 if abs(value) >= 1000 or value == round(value) else max(0, 3 - len(str(int(abs(value)))))
    number = f"{value:,.{digits}f}" if abs(value) >= 0.01 or value == 0 else f"{value:.3g}"
    if not unit:
        return number
    return f"{unit}{number}" if unit in CURRENCIES else f"{number} {unit}"
