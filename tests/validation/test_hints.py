"""Hints: which classes are unknown, which samples are meant, and hints that contradict each other."""

import numpy as np
import pandas as pd
import pytest

from latefusion.validation.hints import has_hints, is_unknown, read_hints

IDS = np.array(["ann", "bob", "cem", "dov", "eve"])


@pytest.mark.parametrize(
    "y",
    [
        [1, -1, 0, 1, -1],
        [1.0, np.nan, 0.0, 1.0, -1.0],
        ["b", None, "a", "b", " "],
        ["b", "", "a", "b", np.nan],
        ["b", "-1", "a", "b", " -1 "],
        np.array(["b", -1, "a", "b", -1]),
        np.array([b"b", b"-1", b"a", b"b", b"-1"]),
        np.array([7, -1, -3, 7, -1]),
        [True, None, False, True, None],
        pd.Series(["b", pd.NA, "a", "b", None]),
        pd.Series([1, 0, 1], index=["dov", "cem", "ann"]),
        {"cem": "a", "ann": "b", "dov": "b"},
        {"cem": 0, "ann": 1, "dov": 1, "eve": -1},
        np.array([[1], [-1], [0], [1], [-1]]),
        pd.Categorical(["b", None, "a", "b", None]),
    ],
    ids=str,
)
def test_the_same_hints_in_many_forms(y):
    hints = read_hints(y, None, None, 5, IDS)
    np.testing.assert_array_equal(hints.codes, [1, -1, 0, 1, -1])
    np.testing.assert_array_equal(hints.groups, [1, -1, 0, 1, -1])
    np.testing.assert_array_equal(hints.rows, [0, 2, 3])
    np.testing.assert_array_equal(hints.apart, [[0, 1]])
    assert len(hints.classes) == 2
    assert has_hints(y)


@pytest.mark.parametrize("y", [None, [0, 1, 0, 2, 1], [0.5, 1.5, 2.5, 3.5, 4.5], [-1] * 5, [None] * 5, ["a"] * 5])
def test_all_classes_or_none_are_no_hints(y):
    assert read_hints(y, None, None, 5, IDS) is None


@pytest.mark.parametrize("y", [None, [0, 1, 0], np.array([0.5, 1.0]), ["a", "b"]])
def test_complete_classes_are_recognized_without_a_check(y):
    assert not has_hints(y)
    assert has_hints(y, must_link=[(0, 1)])
    assert has_hints(y, cannot_link=[(0, 1)])


def test_unknown_values():
    assert all(map(is_unknown, [-1, -1.0, None, np.nan, "", "  ", "-1", b"-1", pd.NA, pd.NaT]))
    assert not any(map(is_unknown, [0, 1, "-2", "a", False, True, -2]))


@pytest.mark.parametrize("y", [[0, 1, 0], [0, 1, 0, 1, 0, 1], [0, 1, -1], np.zeros((4, 2)), 3])
def test_classes_of_another_number_of_samples_are_refused_even_if_all_are_known(y):
    with pytest.raises(ValueError, match=r"y has shape \(.*\), but there are 5 samples\. Give one class per sample"):
        read_hints(y, None, None, 5, IDS)


def test_samples_with_two_classes_are_refused_whatever_their_order():
    """The last one must not win, and repeated ids must not count as classes of all samples."""
    twice = [1, 2, 1], ["ann", "bob", "bob"]
    for values, ids in (twice, (twice[0][::-1], twice[1][::-1]), ([1, 2, 2], twice[1]), ([0, 1, -1], twice[1])):
        with pytest.raises(ValueError, match=r"y names sample 'bob' 2 times, with the classes .*\. Sample ids must be"):
            read_hints(pd.Series(values, index=ids), None, None, 5, IDS)
    half = pd.Series([0, 1, 0, 1, 0], index=["ann", "ann", "bob", "bob", "cem"])
    with pytest.raises(ValueError, match="y names sample 'ann' 2 times, with the classes 0, 1"):
        read_hints(half, None, None, 5, IDS)


def test_what_is_no_list_of_pairs_is_shown_as_it_was_given():
    for given, shown in (
        (("ann", "bob"), "'ann'"),
        ("ann", "'ann'"),
        ([("ann", "bob", "cem")], r"\('ann', 'bob', 'cem'\)"),
        ({"ann": "bob"}, r"\{'ann': 'bob'\}"),
        (["ab"], "'ab'"),
    ):
        message = rf"must_link must be a list of pairs of samples, such as \[\('ann', 'bob'\)\]; got {shown}, which"
        with pytest.raises(ValueError, match=message):
            read_hints(None, given, None, 5, IDS)


def test_hints_of_samples_among_others():
    hints = read_hints(["a", "a", None, "b", None], [("bob", "cem")], [("cem", "eve")], 5, IDS)
    moved = hints.take(np.array([-1, 3, 2, -1, 1]))
    np.testing.assert_array_equal(moved.codes, [-1, 1, -1, -1, 0])
    np.testing.assert_array_equal(moved.must_link, [[4, 2]])
    assert moved.cannot_link.shape == (0, 2)
    assert hints.take(np.full(3, -1)) is None
    assert read_hints(moved, None, None, 5) is moved


def test_must_links_are_transitive_and_join_classes():
    y = ["a", None, None, None, "b"]
    hints = read_hints(y, [("bob", "ann"), ("cem", "bob"), ("dov", "dov")], [("dov", "bob")], 5, IDS)
    np.testing.assert_array_equal(hints.groups, [0, 0, 0, 2, 1])
    np.testing.assert_array_equal(hints.apart, [[0, 1], [0, 2]])
    np.testing.assert_array_equal(hints.must_link, [[1, 0], [2, 1]])


def test_samples_without_ids_are_named_by_row():
    hints = read_hints(None, np.array([[0, 2]]), [(0, 1)], 3)
    np.testing.assert_array_equal(hints.groups, [0, 1, 0])
    with pytest.raises(
        ValueError, match=r"must_link names 2 samples that do not exist: 3, -1\. Use row numbers from 0"
    ):
        read_hints(None, [(0, 3), (-1, 2)], None, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (None, [("ann", "zoe")], None),
            r"must_link names 1 sample that does not exist: 'zoe'\. Use sample ids such as",
        ),
        (({"zoe": 1, "ann": 0}, None, None), r"y names 1 sample that does not exist: 'zoe'"),
        ((pd.Series([1, 0], index=["zoe", "ann"]), None, None), r"y names 1 sample that does not exist: 'zoe'"),
        (([0, -1, 1], None, None), r"y has shape \(3,\), but there are 5 samples"),
        (([0, -1, "a", -1, -1], None, None), r"both numbers \(0\) and words \('a'\)"),
        (([0, -1, 1.5, -1, -1], None, None), r"y has the value 1\.5 for sample 'cem', but classes must be whole"),
        (([1, -1, 1, -1, -1], None, None), r"only the class 1 beside unknown classes .* If -1 is a class"),
        ((None, [("ann", "bob", "cem")], None), r"such as \[\('ann', 'bob'\)\]; got \('ann', 'bob', 'cem'\)"),
        ((None, ["ann"], None), r"must_link must be a list of pairs"),
        ((None, None, [("bob", "bob")]), r"cannot_link contains sample 'bob' with itself"),
        (
            (None, [("ann", "bob"), ("bob", "cem")], [("ann", "cem")]),
            r"sample 'ann' and sample 'cem' must be in different clusters, but they are linked by "
            r"sample 'ann' – sample 'bob', sample 'bob' – sample 'cem'\.",
        ),
        (
            (["x", None, None, "y", None], [("ann", "bob"), ("bob", "dov")], None),
            r"sample 'ann' \(class 'x'\) and sample 'dov' \(class 'y'\) are linked by sample 'ann' – sample 'bob', "
            r"sample 'bob' – sample 'dov'\.",
        ),
        (
            (["x", "x", None, "y", None], [("ann", "cem"), ("bob", "eve")], [("cem", "eve")]),
            r"linked by sample 'cem' – sample 'ann', sample 'ann' – class 'x', class 'x' – sample 'bob', "
            r"sample 'bob' – sample 'eve'\.",
        ),
    ],
)
def test_errors_name_samples_and_the_rule(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_hints(*arguments, 5, IDS)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_refused_exactly_if_no_clustering_satisfies_them(seed):
    """Pairs from labels never contradict each other; one wrong pair does if the labels link its samples."""
    rng = np.random.default_rng(seed)
    labels, pairs = rng.integers(0, 3, 12), rng.integers(0, 12, (15, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    hints = read_hints(None, pairs[alike], pairs[~alike], 12)
    linked = {frozenset(pair) for pair in pairs[alike].tolist()}
    for one in range(12):
        for other in range(one):
            together = hints.groups[one] == hints.groups[other] >= 0
            assert not together or labels[one] == labels[other]
            assert together or frozenset((one, other)) not in linked
            if together:
                with pytest.raises(ValueError, match="linked by"):
                    read_hints(None, pairs[alike], [*pairs[~alike].tolist(), (one, other)], 12)


def test_hints_about_some_samples():
    hints = read_hints(["a", None, "b", "c", "a"], [("bob", "ann")], [("bob", "eve")][:0], 5, IDS)
    part = hints.take(np.array([1, 2, 4]))
    np.testing.assert_array_equal(part.codes, [-1, 1, 0])
    assert part.classes.tolist() == ["a", "b"]
    assert len(part.must_link) == 0
    assert hints.take(np.array([1])) is None
