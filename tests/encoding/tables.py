"""Columns of every kind, for tests of tables."""

import datetime

import numpy as np

from latefusion.encoding.columns import column_of

RNG = np.random.default_rng(0)
N = 60
ANIMALS = ["fox", "bear", "owl", "cat", "dog", "mouse", "hare"]
START = datetime.date(2020, 1, 1)


def dates(n_days):
    return [START + datetime.timedelta(days=int(day)) for day in RNG.integers(0, n_days, N)]


KINDS = {
    "number": RNG.standard_normal(N),
    "whole numbers": RNG.integers(0, 5, N),
    "money": [f"${value:,.0f}" for value in RNG.integers(10, 9999, N)],
    "shares": [f"{value} %" for value in RNG.integers(0, 100, N)],
    "gaps": ["?" if row % 5 == 0 else str(row * 7 % 13) for row in range(N)],
    "words": RNG.choice(["north", "south", "east"], N),
    "yes and no": RNG.choice(["yes", "no"], N),
    "dates": dates(900),
    "written dates": [one.strftime("%d.%m.%Y") for one in dates(900)],
    "clock": [f"{hour:02d}:15" for hour in RNG.integers(0, 24, N)],
    "durations": [datetime.timedelta(minutes=int(one)) for one in RNG.integers(1, 500, N)],
    "text": [f"the {ANIMALS[row % 3]} and the {ANIMALS[3 + row % 4]} went home {row}" for row in range(N)],
    "names": [f"Name{row}" for row in range(N)],
    "customer_id": RNG.permutation(N) + 1000,
    "counter": np.arange(N),
    "constant": ["x"] * N,
    "same number": [3.0] * N,
    "empty": [None] * N,
    "nearly empty": [1.0, 2.0] + [None] * (N - 2),
}
EXPECTED = {
    "number": "number", "whole numbers": "number", "money": "number", "shares": "number", "gaps": "number",
    "words": "category", "yes and no": "category", "dates": "date", "written dates": "date", "clock": "duration",
    "durations": "duration", "text": "text", "names": "id", "customer_id": "id", "counter": "id",
    "constant": "constant", "same number": "constant", "empty": "empty", "nearly empty": "empty",
}  # fmt: skip  # fmt: skip
COLUMNS = {name: column_of(values) for name, values in KINDS.items()}
