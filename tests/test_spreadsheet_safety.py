"""Words that a spreadsheet would carry out get an apostrophe; nothing else changes."""

import csv

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from latefusion.cli import main
from latefusion.spreadsheet_safety import FORMULA_SIGNS, plain_cell
from tests.properties import examples


@pytest.mark.parametrize("word", ["=cmd|' /C calc'!A0", "+1+cmd", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "=", "-"])
def test_formulas_become_words(word):
    assert plain_cell(word) == f"'{word}"


@examples(60)
@given(st.floats(allow_nan=False) | st.integers())
def test_numbers_stay_numbers(number):
    assert plain_cell(number) == number
    assert plain_cell(str(number)) == str(number)


@examples(60)
@given(st.text())
def test_no_word_comes_out_as_a_formula_unless_it_is_a_number(word):
    found = plain_cell(word)
    if found.startswith(FORMULA_SIGNS):
        float(found)
    assert plain_cell(found) == found


def test_ids_of_a_hostile_table_reach_no_spreadsheet_as_formulas(tmp_path):
    data = lf.datasets.make_views(30, 2, n_views=2, n_features=3, random_state=0)
    ids = [f"=HYPERLINK({row})" for row in range(30)]
    for name, view in data.views.items():
        pd.DataFrame(view, index=pd.Index(ids, name="id"), columns=["=A1", "b", "c"]).to_csv(tmp_path / f"{name}.csv")
    files = [str(tmp_path / f"{name}.csv") for name in data.views.names]
    assert main(["cluster", *files, "-k", "2", "-o", str(tmp_path / "labels.csv")]) == 0
    with open(tmp_path / "labels.csv", newline="") as stream:
        rows = list(csv.reader(stream))
    assert [row[0] for row in rows[1:]] == [f"'{one}" for one in ids]
