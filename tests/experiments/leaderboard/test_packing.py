from dataclasses import dataclass, field

import pytest

from latefusion.experiments.leaderboard.packing import built, packed


@dataclass(frozen=True)
class Inner:
    name: str
    share: float | None


@dataclass(frozen=True)
class Outer:
    kind: str = field(metadata={"key": "class"})
    parts: tuple[Inner, ...]
    numbers: list[int]
    options: dict[str, int]
    note: str | None = None


VALUE = Outer("a", (Inner("b", 0.5), Inner("c", None)), [1, 2], {"d": 3})
CONTENT = {
    "class": "a",
    "parts": [{"name": "b", "share": 0.5}, {"name": "c", "share": None}],
    "numbers": [1, 2],
    "options": {"d": 3},
}


def test_entries_are_packed_and_built():
    assert packed(VALUE) == CONTENT
    assert built(Outer, CONTENT, "file") == VALUE
    noted = Outer("a", (), [], {}, "here")
    assert packed(noted)["note"] == "here"
    assert built(Outer, packed(noted), "file") == noted


def test_numbers_are_rounded():
    assert packed([1 / 3, 2]) == [0.333333, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numbers": [1, "2"]}, r"numbers\[1\] must be of type int, got '2'"),
        ({"parts": [{"name": "b"}]}, r"parts\[0\] has no key 'share'"),
        ({"parts": [{"name": "b", "share": "much"}]}, r"parts\[0\].share must be of type number"),
        ({"kind": "a"}, "file has the unknown key 'kind'"),
        ({"note": 1}, "note must be of type str"),
    ],
)
def test_wrong_entries_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        built(Outer, {**CONTENT, **change}, "file")
