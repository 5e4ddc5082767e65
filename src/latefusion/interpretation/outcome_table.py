"""Columns of a table of outcomes: survival times, categories, and numbers, with notes on what cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.labels import plain
from latefusion.encoding.codings import LevelCoding, NumberCoding, RefusedColumn
from latefusion.encoding.columns import SECONDS_PER_DAY, Column, as_words, parse_numbers
from latefusion.encoding.table_encoding import Left, fit_column
from latefusion.interpretation.outcome_samples import TABLE, Matched, match_table
from latefusion.validation.sample_ids import shown_list

# Names of columns without case and punctuation, most common first. Endpoints: overall, disease-specific,
# progression-free and disease-free survival.
ENDPOINTS = ("os", "dss", "pfi", "pfs", "dfi", "dfs", "rfs")
UNITS = ("time", "days", "months", "years")
DEATH, FOLLOW_UP = "daystodeath", "daystolastfollowup"
TIMES = (
    *(f"{endpoint}{unit}" for endpoint in ENDPOINTS for unit in UNITS),
    *(f"{kind}{unit}" for kind in ("survival", "overallsurvival") for unit in UNITS),
    "futime", "followuptime", "timetoevent", "timetodeath", DEATH, FOLLOW_UP,
)  # fmt: skip
# Names that may mean something else are times only beside a column of events.
LOOSE_TIMES = ("time", "survival", "overallsurvival", "followup", "duration", "days", "months")
EVENTS = (
    "event", "status", "death", "dead", "died", "deceased", "vitalstatus", "survivalstatus", "survivalevent",
    "overallsurvivalstatus", "fustat",
    *(f"{endpoint}{end}" for endpoint in ENDPOINTS for end in ("", "status", "event")),
)  # fmt: skip
COMPARE_SURVIVAL = (
    "survival=(time, event) to compare survival. Otherwise times are tested as numbers, as if none was censored."
)
# What columns may be said to be.
TESTED_KINDS = ("number", "category", "ordered", "date", "duration")
# Words that mean survival under any name of the column, unlike yes and no.
VITAL = frozenset({"dead", "deceased", "died", "alive", "living", "censored"})
SURE_EVENTS = ("vitalstatus", "survivalstatus", "overallsurvivalstatus", "osstatus", "osevent")
# Words of events, in lower case.
HAPPENED = frozenset(
    {"1", "true", "yes", "y", "dead", "deceased", "died", "death", "event", "relapse", "relapsed", "recurred"}
    | {"progressed", "progression", "recurred/progressed"}
)
CENSORED = frozenset(
    {"0", "false", "no", "n", "alive", "living", "censored", "no event", "diseasefree", "disease-free"}
)
UNKNOWN = frozenset({"unknown", "not available", "[not available]", "not reported", "[not applicable]"})
# Words of a column of times must mostly be numbers, and numbers mostly valid.
LEAST_NUMBERS = 0.5
# A larger share of other words in a column of events may be one of its two values, written in an unknown way.
MOST_WRONG_EVENTS = 0.1
# Fewer different values may all be different by chance.
LEAST_IDS = 5
# Codes of events in R: censored, and event.
R_CODES = {"1", "2"}


class SurvivalTimes(NamedTuple):
    """Times and events of samples.

    Attributes
    ----------
    time : ndarray of shape (n_samples,)
        NaN if the time or the event is missing.
    event : ndarray of bool of shape (n_samples,)
    time_name, event_name : str
    """

    time: NDArray[np.float64]
    event: NDArray[np.bool_]
    time_name: str
    event_name: str


class OutcomeColumn(NamedTuple):
    """A column that is tested.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "duration", "category"}
    values : ndarray of shape (n_samples,)
        Numbers (NaN if missing), days since 1970, seconds, or positions of categories (-1 if missing).
    levels : tuple of str
        Names of the categories.
    unit : str
        Of numbers, or the format of dates.
    """

    name: str
    kind: str
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    unit: str = ""

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which values are not missing."""
        return np.asarray(self.values >= 0 if self.kind == "category" else ~np.isnan(self.values))


class OutcomeTable(NamedTuple):
    """A table of outcomes in the order of the samples.

    Attributes
    ----------
    survival : SurvivalTimes or None
    columns : tuple of OutcomeColumn
    present : ndarray of bool of shape (n_samples,)
        Samples that are in the table.
    notes : tuple of str
        What was recognized, and what cannot be used.
    problem : str
        Why survival that was recognized is not tested; empty if it is, or if none was recognized.
    """

    survival: SurvivalTimes | None
    columns: tuple[OutcomeColumn, ...]
    present: NDArray[np.bool_]
    notes: tuple[str, ...]
    problem: str = ""


def read_outcomes(
    table: Any,
    ids: Any,
    assigned: NDArray[np.bool_],
    *,
    survival: tuple[str, str] | bool | None = None,
    columns: Sequence[str] | Mapping[str, str] | None = None,
) -> OutcomeTable:
    """Read a table of outcomes.

    Parameters
    ----------
    table : data frame, or mapping of str to array
        As in `match_table`.
    ids : sequence of shape (n_samples,) or None
    assigned : ndarray of bool of shape (n_samples,)
        Samples that have a cluster. Values of other samples are not read.
    survival : (str, str), False or None, default=None
        Columns of times and events. By default they are recognized by their names. False means that survival is not
        tested.
    columns : sequence of str or mapping of str to str, default=None
        Columns to test, or their kinds; by default all, with recognized kinds.

    Returns
    -------
    OutcomeTable
    """
    matched = match_table(table, ids, len(assigned))
    held = {name: column.hidden(~assigned) for name, column in matched.columns.items()}
    _check_names(held, survival, columns)
    matched = matched._replace(columns=held, present=matched.present & assigned)
    problem = ""
    try:
        times, used, notes = _survival(matched, survival)
    except UnusableSurvival as error:
        problem = str(error)
        times, used, notes = None, error.columns, [problem]
    left = {name: column for name, column in held.items() if name not in used - set(columns or ())}
    wanted: dict[str, Any] = (
        dict.fromkeys(left) if columns is None else {name: None for name in columns if name in left}
    )
    if isinstance(columns, Mapping):
        wanted |= {name: kind for name, kind in columns.items() if name in left}
    tested = []
    for name, kind in wanted.items():
        found, more = _read_column(name, left[name].take(np.flatnonzero(matched.present)), kind, columns is not None)
        notes += more
        if found is not None:
            tested.append(_spread(found, matched.present))
    if times is None and not tested:
        raise ValueError(" ".join([f"{TABLE} has no column that can be tested.", *matched.notes, *notes]))
    return OutcomeTable(times, tuple(tested), matched.present, (*matched.notes, *notes), problem)


def _check_names(held: Mapping[str, Column], survival: Any, columns: Any) -> None:
    if survival is not None and survival is not False and (isinstance(survival, str) or np.shape(survival) != (2,)):
        raise ValueError(f"survival must be a pair of columns (time, event), False or None; got {survival!r}.")
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names or a dict of kinds; got {columns!r}. Write [{columns!r}].")
    for parameter, names in (("survival", survival or ()), ("columns", columns if columns is not None else ())):
        unknown = [name for name in names if name not in held]
        if unknown:
            raise ValueError(
                f"{parameter} contains {unknown[0]!r}, which is not a column of the outcome table. Its columns are "
                f"{', '.join(map(repr, held))}."
            )
    for name, kind in columns.items() if isinstance(columns, Mapping) else ():
        if isinstance(kind, str) and kind not in TESTED_KINDS:
            raise ValueError(
                f"columns has the kind {kind!r} for column {name!r}. Use one of {', '.join(map(repr, TESTED_KINDS))}."
            )


# Survival.


class UnusableSurvival(ValueError):
    """Columns that were recognized as survival, but have other values."""

    def __init__(self, times: Sequence[str], event: str, error: ValueError) -> None:
        pair = f"{' and '.join(map(repr, times))} and {event!r}"
        super().__init__(f"Survival is not tested: the columns {pair} cannot be used. {error}")
        # Events say little without their times; columns with less certain names may be something else.
        is_sure = any(plain(name) in TIMES for name in times) or plain(event) in SURE_EVENTS
        self.columns = {*times, *([event] if is_sure else [])}


def _survival(matched: Matched, survival: Any) -> tuple[SurvivalTimes | None, set[str], list[str]]:
    """Times and events, the columns that contain survival, and notes."""
    if survival is False:
        return None, set(), []
    if survival is not None:
        times, notes = _read_survival(matched, (survival[0],), survival[1])
        return times, {*survival, *_other_times(matched, survival[0], notes)}, notes
    found = recognize_survival(matched.columns)
    if found is None:
        return None, set(), _loose_times(matched)
    time_names, event_name = found
    try:
        times, notes = _read_survival(matched, time_names, event_name)
    except ValueError as error:
        raise UnusableSurvival(time_names, event_name, error) from error
    notes.insert(0, f"Survival: times from {' and '.join(map(repr, time_names))}, events from {event_name!r}.")
    return times, {*time_names, event_name, *_other_times(matched, time_names[0], notes)}, notes


def recognize_survival(columns: Mapping[str, Any]) -> tuple[tuple[str, ...], str] | None:
    """The columns of survival times and events by their names.

    Parameters
    ----------
    columns : mapping of str to object

    Returns
    -------
    times : tuple of str
        One column, or two that complement each other: days to death, and to the last follow-up.
    event : str

    Examples
    --------
    >>> from latefusion.interpretation.outcome_table import recognize_survival
    >>> recognize_survival(dict.fromkeys(["age", "OS.time", "OS"]))
    (('OS.time',), 'OS')
    >>> recognize_survival(dict.fromkeys(["vital_status", "days_to_death", "days_to_last_follow_up"]))
    (('days_to_death', 'days_to_last_follow_up'), 'vital_status')
    """
    by_name = {plain(name): name for name in reversed(list(columns))}
    for endpoint in ENDPOINTS:
        time = next((by_name[endpoint + unit] for unit in UNITS if endpoint + unit in by_name), None)
        event = next((by_name[endpoint + end] for end in ("", "status", "event") if endpoint + end in by_name), None)
        if time is not None and event is not None:
            return (time,), event
    times = [by_name[name] for name in (*LOOSE_TIMES[:1], *TIMES, *LOOSE_TIMES[1:]) if name in by_name]
    event = next((by_name[name] for name in EVENTS if name in by_name and by_name[name] not in times), None)
    if not times or event is None:
        return None
    both = plain(times[0]) == DEATH and FOLLOW_UP in by_name
    return (times[0], *([by_name[FOLLOW_UP]] if both else [])), event


def _other_times(matched: Matched, used: str, notes: list[str]) -> list[str]:
    """Further columns of survival times, which a rank test must not read as numbers."""
    others = [name for name in matched.columns if plain(name) in TIMES and name != used]
    others = [name for name in others if plain(name) != FOLLOW_UP or plain(used) != DEATH]
    if others:
        notes.append(
            f"{shown_list(others)}: further survival times, which are not tested as numbers because some are censored. "
            f"Give survival=(time, event) to use another one."
        )
    return others


def _loose_times(matched: Matched) -> list[str]:
    """A note if there are times without events, or events without times."""
    names = {plain(name): name for name in matched.columns}
    for known, there, absent in ((("time", *TIMES), "survival times", "events"), (SURE_EVENTS, "events", "times")):
        found = next((names[name] for name in known if name in names), None)
        if found is not None:
            return [
                f"Column {found!r} may contain {there}, but no column of {absent} was recognized. Give "
                f"{COMPARE_SURVIVAL}"
            ]
    vital = next((name for name, column in matched.columns.items() if _has_vital_words(column)), None)
    if vital is None:
        return []
    return [
        f"Column {vital!r} may contain events of survival, but no pair of times and events was recognized. Give "
        f"{COMPARE_SURVIVAL}"
    ]


def _has_vital_words(column: Column) -> bool:
    """Whether the values are words such as dead and alive."""
    words = {word.casefold().strip() for word in column.words or ()}
    return bool(words & VITAL) and words <= HAPPENED | CENSORED | UNKNOWN


def _read_survival(matched: Matched, time_names: Sequence[str], event_name: str) -> tuple[SurvivalTimes, list[str]]:
    notes: list[str] = []
    time = np.full(len(matched.present), np.nan)
    for name in time_names:
        own, more = _times(name, matched.columns[name], matched.names)
        time, notes = np.where(np.isnan(time), own, time), notes + more
    event, more = _events(event_name, matched.columns[event_name], matched.names)
    notes += more
    shown = " and ".join(map(repr, time_names))
    no_time, no_event = (np.isnan(one) & matched.present for one in (time, event))
    missing = no_time | no_event
    if missing.any():
        first = matched.names[int(np.argmax(missing))]
        notes.append(
            f"No time in {shown} or no event in {event_name!r}: {missing.sum()} of {matched.present.sum()} samples, "
            f"such as {first}. Left out of the survival tests."
        )
    known = ~np.isnan(time) & ~np.isnan(event)
    if not known.any():
        raise ValueError(f"No sample has both a time in {shown} and an event in {event_name!r}. Check these columns.")
    if event[known].all() and np.any(no_time & (event == 0)):
        notes.append(
            f"No sample without the event has a time in {shown}. If it contains times to the event only, enter the "
            f"time of the last observation for the others; without them survival is underestimated."
        )
    if not event[known].any():
        notes.append(
            f"All {known.sum()} samples are censored: no event in {event_name!r}, so that survival cannot be compared. "
            f"Check which value means that the event happened."
        )
    time = np.where(known, time, np.nan)
    return SurvivalTimes(time, np.nan_to_num(event).astype(bool), " or ".join(time_names), event_name), notes


def _times(name: str, column: Column, names: Sequence[str]) -> tuple[NDArray[np.float64], list[str]]:
    """Survival times of a column, NaN where they are missing, and notes."""
    notes = []
    if column.words is not None:
        parsed = parse_numbers(column.words, assumed=column.decimal)
        bad = np.flatnonzero(np.isnan(parsed.values))
        if column.words and parsed.share < LEAST_NUMBERS:
            raise ValueError(
                f"Column {name!r} should contain times as numbers, but has {column.words[bad[0]]!r:.40}. Give the time "
                f"under observation as a number, such as days."
            )
        if len(bad):
            n_rows = int(column.counts()[bad].sum())
            notes.append(
                f"Column {name!r} contains {column.words[bad[0]]!r:.40}{' and other words' * bool(len(bad) > 1)} in "
                f"{counted_rows(n_rows)}. {'They are' if n_rows > 1 else 'It is'} taken as missing."
            )
        values = column.lookup(parsed.values)
    elif column.values.dtype.kind == "M":
        raise ValueError(f"Column {name!r} contains dates. Give the time under observation as a number, such as days.")
    elif column.values.dtype.kind == "m":
        seconds = column.values / np.timedelta64(1, "s")
        values = np.where(column.missing, np.nan, seconds / SECONDS_PER_DAY)
    else:
        values = np.asarray(column.values, dtype=np.float64)
    wrong = (values < 0) | np.isinf(values)
    if wrong.any():
        first = int(np.argmax(wrong))
        counted = f"{wrong.sum()} negative or infinite time{'s' * bool(wrong.sum() > 1)}"
        found = f"Column {name!r} has {counted}, such as {values[first]:g} for {names[first]}."
        if wrong.sum() > LEAST_NUMBERS * np.sum(~np.isnan(values)):
            raise ValueError(f"{found} Times must be finite and at least 0. Check that this is the column of times.")
        notes.append(f"{found} Times must be finite and at least 0; these are taken as missing. Correct them.")
    return np.where(wrong, np.nan, values), notes


def _events(name: str, column: Column, names: Sequence[str]) -> tuple[NDArray[np.float64], list[str]]:
    """1 for an event, 0 for a censored time, NaN where it is not known; and notes."""
    if column.values.dtype.kind in "mM":
        raise ValueError(
            f"Column {name!r} contains dates, not events. Use 0/1, True/False or words such as dead/alive."
        )
    words = as_words(column)
    assert words.words is not None
    present = np.unique(words.values[words.values >= 0])
    notes = []
    if {words.words[code] for code in present} == R_CODES:
        codes = np.array([float(word) - 1 if word in R_CODES else np.nan for word in words.words])
        notes.append(
            f"Column {name!r} contains 1 and 2, which are taken as censored and event, as in R. If 1 means that the "
            f"event happened, recode the column to 0/1."
        )
    else:
        codes = np.array([_event_of(word) for word in words.words], dtype=np.float64)
    unknown = [code for code in present if np.isnan(codes[code])]
    if unknown:
        count = int(np.isin(words.values, unknown).sum())
        notes.append(
            f"Column {name!r} contains {words.words[unknown[0]]!r} in {counted_rows(count)}. It is taken as missing."
        )
    wrong = [code for code in present if np.isinf(codes[code])]
    if wrong:
        rows = np.flatnonzero(np.isin(words.values, wrong))
        value = f"{words.words[words.values[rows[0]]]!r:.40}{' and other values' * bool(len(wrong) > 1)}"
        found = f"Column {name!r} has the value {value} in {counted_rows(len(rows))}, such as {names[rows[0]]}"
        rule = "Events are 0/1, True/False or words such as dead/alive"
        if len(rows) > MOST_WRONG_EVENTS * np.sum(words.values >= 0):
            raise ValueError(f"{found}, which is not an event. {rule}. Recode the column.")
        notes.append(f"{found}, which is not an event and is taken as missing. {rule}. Correct it.")
        codes[wrong] = np.nan
    return words.lookup(codes), notes


def counted_rows(number: int) -> str:
    """A number of rows in words."""
    return f"{number} row{'s' * (number != 1)}"


def _event_of(word: str) -> float:
    """1, 0, NaN for a word that means unknown, and infinity for a word that is none of these."""
    text = word.casefold().strip()
    for part in (text, text.partition(":")[0]):  # as in 1:DECEASED
        if part in HAPPENED or part in CENSORED:
            return float(part in HAPPENED)
    return np.nan if text in UNKNOWN else np.inf


# Other columns.


def _read_column(name: str, column: Column, wanted: Any, is_given: bool) -> tuple[OutcomeColumn | None, list[str]]:
    """A column of the samples that are in the table, or None with a note."""
    is_number = column.words is None and column.values.dtype.kind == "f"
    known = column.values[~column.missing]
    if wanted is None and is_number and len(np.unique(known)) == 2 < len(known):
        wanted = "category"  # 0/1 and other codes of two groups
    try:
        coding, notes = fit_column(name, column, wanted)
    except RefusedColumn as error:  # in the words of this function
        raise ValueError(str(error).replace("column_kinds=", "columns=")) from error
    if isinstance(coding, Left) and coding.kind == "id" and is_given:
        coding, notes = fit_column(name, column, "number" if is_number else "category")
    if isinstance(coding, Left):
        if coding.kind == "id":
            n_known = int(np.sum(~column.missing))
            why = "looks like an id" if n_known >= LEAST_IDS else f"has {n_known} different values in {n_known} rows"
            kind = "number" if is_number else "category"
            advice = f"To test it, give columns={{{name!r}: {kind!r}}}."
            return None, [*notes, f"Column {name!r} {why} and is not tested. {advice}"]
        return None, [*notes, coding.note] if coding.note else notes
    if isinstance(coding, NumberCoding):
        return OutcomeColumn(name, coding.kind, coding.numbers(column), unit=coding.how), notes
    if isinstance(coding, LevelCoding):
        return OutcomeColumn(name, "category", coding.positions(column), coding.levels), notes
    return None, [*notes, f"Column {name!r} contains text and is not tested. Extract categories or numbers from it."]


def _spread(column: OutcomeColumn, present: NDArray[np.bool_]) -> OutcomeColumn:
    """The column with missing values for samples that are not in the table."""
    missing: Any = -1 if column.kind == "category" else np.nan
    values = np.full(len(present), missing, dtype=column.values.dtype)
    values[present] = column.values
    return column._replace(values=values)
