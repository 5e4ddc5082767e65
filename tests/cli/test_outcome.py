"""`latefusion cluster --outcome`, with tables as clinics send them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from latefusion.cli import main
from latefusion.cli.outcome import translated
from tests.cli.shell import one_line, write_tables

COMMAND = ("cluster", "genes.csv", "proteins.csv", "-k", "3", "--method", "gam")


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """A table in another order, with blank cells, words for events, an extra patient and one that is absent."""
    truth = write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    groups = truth["subtype"].astype("category").cat.codes.to_numpy()
    time, censoring = rng.exponential(100.0 * 3.0**groups), rng.exponential(900.0, len(truth))
    frame = pd.DataFrame(
        {
            "age": rng.normal(60, 9, len(truth)).round(),
            "patient": truth["patient"],
            "days": np.minimum(time, censoring).round().astype(object),
            "vital_status": np.where(time <= censoring, "Dead", "Alive").astype(object),
            "stage": rng.choice(["Stage I", "stage i", "Stage II"], len(truth)),
        }
    )
    frame.loc[3, "days"], frame.loc[4, "vital_status"], frame.loc[0, "patient"] = "", "", "p999"
    frame = frame.sample(frac=1.0, random_state=0)
    frame.to_csv("clinic.csv", index=False)
    return frame


def answer_of(capsys, *words):
    assert main([*COMMAND, *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, *words):
    assert main([*COMMAND, *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert one_line(captured.err)
    return captured.err


def test_text_and_json_have_the_outcome(clinic, capsys):
    assert main([*COMMAND, "--outcome", "clinic.csv"]) == 0
    text = capsys.readouterr().out
    for words in (
        "Survival (days, vital_status)", "Do the clusters differ?", "Does fusion help?", "KMeans on genes",
        "view proteins",
        "- Left out of all tests: 1 of 90 samples, which are not in the outcome table ('p000').",
        "- Not used: 1 of 90 rows of the outcome table, which belong to no sample ('p999').",
        "- No time in 'days' or no event in 'vital_status': 2 of 89 samples, such as sample 'p0",
    ):  # fmt: skip
        assert words in text
    found = answer_of(capsys, "--outcome", "clinic.csv")["outcome"]
    assert found["text"] in text
    tests = {row["column"]: row for row in found["tests"]}
    assert list(tests) == ["survival", "age", "stage"]
    assert tests["survival"]["p"] < 0.01 < tests["age"]["p"]
    assert tests["survival"]["n_samples"] == 87
    assert len(found["comparison"]) == 8
    assert [row["cluster"] for row in found["survival"]] == [0, 1, 2]


def test_odd_events_do_not_cost_the_survival_or_are_named(clinic, capsys):
    clinic.loc[20, "vital_status"] = "lost"
    clinic.to_csv("odd.csv", index=False)
    answer = answer_of(capsys, "--outcome", "odd.csv")
    assert answer["outcome"]["tests"][0]["n_samples"] == 86
    (note,) = [one for one in answer["outcome"]["notes"] if "'lost'" in one]
    assert note.startswith("Column 'vital_status' has the value 'lost' in 1 row, such as sample 'p020', which is not")
    clinic.replace({"Dead": "mort", "Alive": "vivant"}).to_csv("words.csv", index=False)
    answer = answer_of(capsys, "--outcome", "words.csv")
    assert [row["column"] for row in answer["outcome"]["tests"]] == ["age", "stage"]
    (note,) = [one for one in answer["warnings"] if one.startswith("Survival is not tested: the columns 'days' and")]
    assert note.endswith("Events are 0/1, True/False or words such as dead/alive. Recode the column.")
    assert main([*COMMAND, "--outcome", "words.csv"]) == 0
    assert f"Note: {note}\n" in capsys.readouterr().out
    assert "--outcome needs a file: standard input" in refusal(capsys, "--outcome", "-")


def test_the_clusters_are_those_without_the_outcome(clinic, capsys):
    with_outcome, without = (answer_of(capsys, *words) for words in (("--outcome", "clinic.csv"), ()))
    assert with_outcome["samples"] == without["samples"]
    assert without["outcome"] is None


def test_columns_of_survival_can_be_named(clinic, capsys):
    clinic.rename(columns={"days": "span", "vital_status": "end"}).to_csv("clinic.csv", index=False)
    found = answer_of(capsys, "--outcome", "clinic.csv", "--survival", "span", "end")["outcome"]
    assert found["tests"][0]["column"] == "survival"
    assert answer_of(capsys, "--outcome", "clinic.csv")["outcome"]["survival"] is None


def test_decimal_commas_and_semicolons_are_read(clinic, capsys):
    clinic.assign(weight=np.arange(len(clinic)) % 7 + 60.5).to_csv("clinic.csv", index=False, sep=";", decimal=",")
    tests = {row["column"]: row for row in answer_of(capsys, "--outcome", "clinic.csv")["outcome"]["tests"]}
    assert tests["weight"]["kind"] == "number"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: frame.assign(patient=frame["patient"].str.upper()),
            "89 ids differ only in upper and lower case",
        ),
        (lambda frame: pd.concat([frame, frame[:1]]), "2 times in column 'patient'"),
        (lambda frame: frame[["age"]].assign(age=np.nan), "no column of ids"),
    ],
)
def test_ids_that_cannot_be_matched_are_refused_before_the_fit(clinic, capsys, monkeypatch, change, message):
    change(clinic).to_csv("clinic.csv", index=False)
    monkeypatch.setattr("latefusion.cli.cluster.configured", None)  # no estimator is made
    assert message in refusal(capsys, "--outcome", "clinic.csv")


def test_nothing_to_compare_is_refused_before_the_fit(clinic, capsys, monkeypatch):
    monkeypatch.setattr("latefusion.cli.cluster.configured", None)  # no estimator is made
    assert "-k 1 gives only one" in refusal(capsys, "--outcome", "clinic.csv", "-k", "1")
    clinic[["patient"]].assign(site="a").to_csv("clinic.csv", index=False)
    assert "The outcome table has no column that can be tested." in refusal(capsys, "--outcome", "clinic.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--survival", "days", "vital_status"), "--survival needs --outcome FILE"),
        (("--outcome", "genes.csv"), "'genes.csv' is given as a view and as --outcome"),
        (("--outcome", "nowhere.csv"), "File not found: 'nowhere.csv'"),
        (
            ("--outcome", "clinic.csv", "--survival", "days", "dead"),
            "--survival contains 'dead', which is not a column",
        ),
        (("--outcome", "clinic.csv", "-o", "clinic.csv"), "-o 'clinic.csv' would overwrite the input"),
    ],
)
def test_mistakes_are_named(clinic, capsys, words, message):
    before = Path("clinic.csv").read_bytes()
    assert message in refusal(capsys, *words)
    assert Path("clinic.csv").read_bytes() == before


def test_files_that_are_no_tables_are_refused(clinic, capsys):
    np.savez("clinic.npz", view_0=np.eye(3))
    assert "--outcome 'clinic.npz' is not a table" in refusal(capsys, "--outcome", "clinic.npz")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Give survival=(time, event) to", "Give --survival TIME EVENT to"),
        ("2 more columns in `comparison`.", "2 more columns: --json prints all, in outcome.comparison."),
        (
            "To test it, give columns={'x': 'category'}.",
            "To test it, use `latefusion.outcome` in Python with columns=.",
        ),
    ],
)
def test_messages_use_the_words_of_the_command_line(message, expected):
    assert translated(message) == expected


def test_the_report_contains_the_outcome(clinic, capsys):
    pytest.importorskip("jinja2")
    found = answer_of(capsys, "--outcome", "clinic.csv", "--report", "page.html")["outcome"]
    page = Path("page.html").read_text(encoding="utf-8")
    assert '<section id="outcome"' in page
    assert "Numbers at risk" in page
    for row in found["tests"]:
        assert f'<th scope="row">{row["column"]}</th>' in page
    assert "clinic.csv" in page.partition("<main")[0]  # among the inputs
    for note in found["notes"]:
        assert "survival=" not in note
