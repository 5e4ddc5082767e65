import pandas as pd
import pytest

from latefusion.encoding.columns import column_of
from latefusion.encoding.table_encoding import fit_table_encoding
from latefusion.interpretation.shown_values import Unit, shown_value, unit_of


@pytest.mark.parametrize(
    ("value", "kind", "how", "text"),
    [
        (1200.5, "number", "$", "$1,200"),
        (12.345, "number", "€", "€12.3"),
        (7.25, "number", "%", "7.25 %"),
        (0.00123, "number", "", "0.00123"),
        (31.0, "date", "", "1970-02-01"),
        (31.5, "date", "", "1970-02-01 12:00"),
        (0.0, "date", "%Y", "1970"),
        (93_784.0, "duration", "", "1 days 02:03:04"),
        (-61.0, "duration", "", "-00:01:01"),
    ],
)
def test_values_are_written_in_their_unit(value, kind, how, text):
    assert shown_value(value, kind, how) == text


def test_features_without_a_unit_have_four_digits_and_shares_are_percent():
    assert (Unit()(1234.5678), Unit("share")(0.126)) == ("1235", "13%")


def test_dates_without_a_time_of_day_are_whole_days():
    days = fit_table_encoding({"d": column_of(pd.date_range("2020-01-01", periods=9).to_pydatetime())}).codings[0]
    hours = fit_table_encoding({"d": column_of(pd.date_range("2020-01-01", periods=9, freq="5h").to_pydatetime())})
    assert unit_of(days)(18_262.5) == "2020-01-01"
    assert unit_of(hours.codings[0])(18_262.5) == "2020-01-01 12:00"
