"""Every invalid column gives an error or a note that names it, a value or sample, and the way out."""

import numpy as np
import pandas as pd
import pytest

from latefusion.interpretation.outcome_table import read_outcomes, recognize_survival

N = 12
ALL = np.ones(N, dtype=bool)
TIMES = np.arange(1.0, N + 1)
EVENTS = np.tile([0.0, 1.0], N // 2)


def read(table, **options):
    return read_outcomes(table, [f"p{row}" for row in range(N)], ALL, **options)


# Survival.


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["time", "event"], (("time",), "event")),
        (["OS", "OS.time", "PFI", "PFI.time"], (("OS.time",), "OS")),
        (["PFS_MONTHS", "PFS_STATUS"], (("PFS_MONTHS",), "PFS_STATUS")),
        (
            ["Overall Survival (Months)", "Overall Survival Status"],
            (("Overall Survival (Months)",), "Overall Survival Status"),
        ),
        (["vital_status", "days"], (("days",), "vital_status")),
        (
            ["days_to_last_followup", "days_to_death", "vital_status"],
            (("days_to_death", "days_to_last_followup"), "vital_status"),
        ),
        (["survival", "death"], (("survival",), "death")),
        (["time", "age"], None),
        (["status", "age"], None),
    ],
)
def test_survival_is_recognized_by_names(columns, expected):
    assert recognize_survival(dict.fromkeys(columns)) == expected


@pytest.mark.parametrize(
    "events",
    [
        EVENTS, EVENTS.astype(bool), np.where(EVENTS == 1, "Dead", "Alive"),
        np.where(EVENTS == 1, "1:DECEASED", "0:LIVING"), np.where(EVENTS == 1, "yes", "no"),
        EVENTS.astype(int).astype(str),
    ],
    ids=["0/1", "bool", "dead", "cBioPortal", "yes", "text"],
)  # fmt: skip
def test_events_are_read_from_numbers_booleans_and_words(events):
    found = read({"time": TIMES, "status": list(events)})
    assert found.survival.event.tolist() == (EVENTS == 1).tolist()
    assert found.survival.time.tolist() == TIMES.tolist()
    assert found.notes == ("Survival: times from 'time', events from 'status'.",)
    assert found.columns == ()


def test_times_to_death_are_completed_by_the_last_follow_up():
    dead = EVENTS == 1
    table = {
        "days_to_death": np.where(dead, TIMES, np.nan),
        "days_to_last_follow_up": np.where(dead, np.nan, 100.0),
        "vital_status": np.where(dead, "Dead", "Alive"),
    }
    found = read(table)
    assert found.survival.time.tolist() == np.where(dead, TIMES, 100.0).tolist()
    assert "times from 'days_to_death' and 'days_to_last_follow_up'" in found.notes[0]
    del table["days_to_last_follow_up"]
    assert any("enter the time of the last observation" in note for note in read(table).notes)


def test_missing_times_and_events_are_counted():
    time, event = TIMES.copy(), [None if row == 4 else bool(row % 2) for row in range(N)]
    time[2] = np.nan
    found = read({"time": time, "event": event})
    assert np.isnan(found.survival.time).tolist() == [row in (2, 4) for row in range(N)]
    assert (
        "No time in 'time' or no event in 'event': 2 of 12 samples, such as sample 'p2'. Left out of the survival "
        "tests."
    ) in found.notes


def test_words_among_times_and_events_are_noted():
    time = ["[Not Available]" if row == 3 else f"{row} days" for row in range(N)]
    event = ["Unknown" if row == 5 else "Dead" if row % 2 else "Alive" for row in range(N)]
    notes = read({"time": time, "status": event}).notes
    assert "Column 'time' contains '[Not Available]' in 1 row. It is taken as missing." in notes
    assert "Column 'status' contains 'Unknown' in 1 row. It is taken as missing." in notes
    notes = read({"time": with_value(time, 7, "none"), "status": with_value(event, 6, "unknown")}).notes
    assert "Column 'time' contains '[Not Available]' and other words in 2 rows. They are taken as missing." in notes
    assert "Column 'status' contains 'Unknown' in 2 rows. It is taken as missing." in notes


def with_value(values, row, value):
    changed = list(values)
    changed[row] = value
    return changed


INVALID = [
    (-TIMES, EVENTS, "'time' has 12 negative or infinite times, such as -1 for sample 'p0'. Times must be finite"),
    (TIMES, EVENTS * 2, "'status' has the value '2' in 6 rows, such as sample 'p1', which is not an event"),
    (TIMES, ["mort", "vivant"] * 6, "'status' has the value 'mort' and other values in 12 rows, such as sample 'p0'"),
    (TIMES, ["dead", "vivant", "dead"] * 4, "'status' has the value 'vivant' in 4 rows, such as sample 'p1'"),
    (["long"] * N, EVENTS, "'time' should contain times as numbers, but has 'long'"),
    (list(np.arange(N).astype("datetime64[D]").astype(object)), EVENTS, "'time' contains dates. Give the time under"),
    ([None] * N, EVENTS, "No sample has both a time in 'time' and an event in 'status'"),
]


@pytest.mark.parametrize(("time", "event", "message"), INVALID)
def test_invalid_survival_is_an_error_if_it_was_asked_for_and_a_note_if_it_was_recognized(time, event, message):
    table = {"time": list(time), "status": list(event), "age": TIMES[::-1]}
    with pytest.raises(ValueError, match=message) as error:
        read(table, survival=("time", "status"))
    found = read(table)
    assert found.survival is None
    assert found.problem == (f"Survival is not tested: the columns 'time' and 'status' cannot be used. {error.value}")
    assert found.notes[0] == found.problem
    assert "time" not in [column.name for column in found.columns]  # a rank test would ignore the censoring


def test_unusable_events_with_a_sure_name_are_not_tested_as_categories():
    """They would count as a column in which clusters differ."""
    table = {"OS.time": TIMES, "OS": ["mort", "vivant"] * 6, "age": TIMES[::-1] + 0.5}
    assert [column.name for column in read(table).columns] == ["age"]
    table = {"days": TIMES, "status": ["active", "gone"] * 6}  # perhaps customers
    assert [column.name for column in read(table).columns] == ["status"]


@pytest.mark.parametrize("given", [None, ("OS.time", "OS")])
@pytest.mark.parametrize(
    "events", [EVENTS.astype(int), ["Dead", "Alive"] * 6, [True, False] * 6], ids=["0/1", "words", "bool"]
)
def test_a_single_odd_event_is_missing_with_a_note(events, given):
    """As a single wrong time; it must not cost the other samples."""
    found = read({"OS.time": TIMES, "OS": with_value(events, 3, "lost")}, survival=given)
    assert np.isnan(found.survival.time).tolist() == [row == 3 for row in range(N)]
    expected = read({"OS.time": TIMES, "OS": with_value(events, 3, None)}, survival=given)
    np.testing.assert_array_equal(found.survival.event, expected.survival.event)
    assert found.problem == ""
    assert (
        "Column 'OS' has the value 'lost' in 1 row, such as sample 'p3', which is not an event and is taken as "
        "missing. Events are 0/1, True/False or words such as dead/alive. Correct it."
    ) in found.notes
    two = read(
        {"OS.time": TIMES, "OS": with_value(with_value(events, 3, "lost"), 5, "moved"), "age": TIMES[::-1] + 0.5}
    )
    assert two.survival is None  # more than a tenth


def test_single_negative_times_are_missing_with_a_note():
    """One wrong time of a real table must not cost the other samples."""
    found = read({"time": with_value(TIMES, 3, -5.0), "event": EVENTS})
    assert np.isnan(found.survival.time).tolist() == [row == 3 for row in range(N)]
    assert any(
        note
        == "Column 'time' has 1 negative or infinite time, such as -5 for sample 'p3'. Times must be finite and at "
        "least 0; these are taken as missing. Correct them."
        for note in found.notes
    )


@pytest.mark.parametrize("codes", [EVENTS + 1, (EVENTS + 1).astype(int).astype(str), with_value(EVENTS + 1, 2, None)])
def test_codes_one_and_two_are_those_of_r(codes):
    found = read({"time": TIMES, "status": list(codes)})
    known = ~np.isnan(found.survival.time)
    assert found.survival.event[known].tolist() == (EVENTS[known] == 1).tolist()
    assert any(
        "contains 1 and 2, which are taken as censored and event, as in R. If 1 means" in note for note in found.notes
    )
    assert read({"time": TIMES, "status": np.ones(N)}).survival.event.all()  # 1 alone is an event


def test_all_censored_is_a_note():
    found = read({"time": TIMES, "event": np.zeros(N)})
    assert found.survival is not None
    assert any("All 12 samples are censored: no event in 'event'" in note for note in found.notes)


def test_other_endpoints_are_not_tested_as_numbers():
    found = read({"OS.time": TIMES, "OS": EVENTS, "PFI.time": TIMES / 2, "age": TIMES[::-1] + 0.5})
    assert [column.name for column in found.columns] == ["age"]
    assert any(note.startswith("'PFI.time': further survival times") for note in found.notes)


@pytest.mark.parametrize(
    ("table", "note"),
    [
        ({"time": TIMES + 0.5}, "Column 'time' may contain survival times, but no column of events"),
        ({"vital_status": EVENTS}, "Column 'vital_status' may contain events, but no column of times"),
    ],
)
def test_half_of_a_survival_is_noted(table, note):
    assert any(one.startswith(note) for one in read(table).notes)


def test_words_of_survival_under_another_name_are_noted():
    """Without the note, times would be compared as if none was censored, and nobody would see it."""
    note = "Column 'end' may contain events of survival, but no pair of times and events was recognized."
    table = {"days": TIMES + 0.5, "end": ["Dead", "alive ", "unknown"] * 4}
    assert [one[: len(note)] for one in read(table).notes] == [note]
    assert read(table, survival=("days", "end")).survival is not None
    assert not any("events of survival" in one for one in read(table, survival=("days", "end")).notes)
    for others in (["yes", "no"], ["Dead", "deaf"]):
        assert read({"days": TIMES + 0.5, "end": others * 6}).notes == ()


def test_a_table_without_a_column_to_test_is_refused():
    with pytest.raises(ValueError, match=r"no column that can be tested\. Column 'empty' has no values"):
        read({"empty": [None] * N})


def test_survival_can_be_chosen_or_switched_off():
    table = {"time": TIMES + 0.5, "event": EVENTS, "weeks": TIMES * 2, "relapse": 1 - EVENTS}
    found = read(table, survival=("weeks", "relapse"))
    assert (found.survival.time_name, found.survival.event_name) == ("weeks", "relapse")
    assert found.survival.time.tolist() == (TIMES * 2).tolist()
    none = read(table, survival=False)
    assert none.survival is None
    assert [column.name for column in none.columns] == list(table)


# Other columns.


def test_kinds_are_recognized():
    table = {
        "sex": ["f", "m"] * 6, "age": TIMES * 1.5 + 0.1, "smoker": EVENTS,
        "dose": [f"{row % 5} mg" for row in range(N)], "visit": [f"2020-01-{row % 7 + 1:02d}" for row in range(N)],
    }  # fmt: skip
    found = {column.name: column for column in read(table).columns}
    assert {name: column.kind for name, column in found.items()} == {
        "sex": "category", "age": "number", "smoker": "category", "dose": "number", "visit": "date",
    }  # fmt: skip
    assert found["dose"].unit == "mg"
    assert found["dose"].values.tolist() == [row % 5 for row in range(N)]
    assert [found["sex"].levels[code] for code in found["sex"].values] == table["sex"]


def test_constant_empty_text_and_id_columns_are_named():
    table = {
        "study": ["TCGA"] * N, "empty": [None] * N, "code": [f"x{row}" for row in range(N)],
        "remarks": [f"patient {row} likes tea, cake and milk{row % 2}" for row in range(N)], "age": TIMES[::-1] + 0.5,
    }  # fmt: skip
    found = read(table)
    assert [column.name for column in found.columns] == ["age"]
    for name, words in {
        "study": "same value in all rows",
        "empty": "has no values",
        "code": "looks like an id and is not tested. To test it, give columns={'code': 'category'}",
        "remarks": "text",
    }.items():
        assert any(note.startswith(f"Column '{name}'") and words in note for note in found.notes), name


def test_columns_of_two_rows_are_not_called_ids_or_categories():
    """Numbers that differ are numbers, however few there are."""
    present = np.arange(N) < 2
    table = pd.DataFrame({"age": [61.0, 72.0], "stage": ["I", "II"]}, index=["p0", "p1"])
    found = read(table)
    assert [(column.name, column.kind) for column in found.columns] == [("age", "number")]
    np.testing.assert_array_equal(found.present, present)
    assert (
        "Column 'stage' has 2 different values in 2 rows and is not tested. To test it, give "
        "columns={'stage': 'category'}."
    ) in found.notes


def test_columns_can_be_chosen_with_their_kinds():
    table = {"grade": [1.0, 2.0, 3.0] * 4, "age": TIMES + 0.5, "time": TIMES, "event": EVENTS}
    found = read(table, columns={"grade": "category"})
    assert [(column.name, column.kind) for column in found.columns] == [("grade", "category")]
    assert found.survival is not None
    assert [column.name for column in read(table, columns=["age", "time"]).columns] == ["age", "time"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"columns": ["agee"]},
            "columns contains 'agee', which is not a column of the outcome table. Its columns are 'age'",
        ),
        (
            {"columns": {"age": "amount"}},
            "columns has the kind 'amount' for column 'age'. Use one of 'number', 'category'",
        ),
        ({"survival": ("age", "dead")}, "survival contains 'dead', which is not a column"),
        ({"survival": "age"}, r"survival must be a pair of columns \(time, event\), False or None; got 'age'"),
        ({"columns": "age"}, r"columns must be a list of names.*Write \['age'\]"),
    ],
)
def test_unknown_columns_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        read({"age": TIMES}, **options)


def test_an_unknown_order_is_asked_for_by_the_name_of_the_parameter():
    table = {"grade": ["low", "high", "middle"] * 4}
    with pytest.raises(ValueError, match=r"for example columns=\{'grade': \['high', 'low', 'middle'\]\}"):
        read(table, columns={"grade": "ordered"})
    found = read(table, columns={"grade": ["low", "middle", "high"]})
    assert found.columns[0].levels == ("low", "middle", "high")


def test_values_of_samples_without_a_cluster_are_not_read():
    """Kinds and constants are those of the samples that are tested."""
    assigned = np.arange(N) < 6
    table = {"site": ["a"] * 6 + ["b"] * 6, "age": TIMES[::-1] + 0.5}
    found = read_outcomes(table, None, assigned)
    assert [column.name for column in found.columns] == ["age"]
    assert np.isnan(found.columns[0].values[6:]).all()
    assert found.present.tolist() == assigned.tolist()


def test_samples_that_are_absent_have_missing_values():
    frame = pd.DataFrame({"id": [f"p{row}" for row in range(6)], "age": TIMES[:6] + 0.5, "sex": ["f", "m", "f"] * 2})
    found = read(frame)
    for column in found.columns:
        assert column.known.tolist() == [row < 6 for row in range(N)]
