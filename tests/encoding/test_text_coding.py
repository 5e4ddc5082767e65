"""Texts as leading directions of TF-IDF weights."""

import numpy as np
import pytest

from latefusion.encoding.columns import column_of
from latefusion.encoding.text_coding import fit_text

RNG = np.random.default_rng(0)
TOPICS = [["fast", "great", "love", "nice"], ["slow", "broken", "poor", "sad"]]
CLASSES = RNG.integers(0, 2, 80)
TEXTS = [" ".join(RNG.choice(TOPICS[one], 5)) + f" order{row}" for row, one in enumerate(CLASSES)]


def test_texts_of_one_topic_are_near_each_other():
    rows = fit_text("review", column_of(TEXTS))(column_of(TEXTS))
    means = np.stack([rows[one == CLASSES].mean(axis=0) for one in (0, 1)])
    nearest = np.argmin(((rows[:, None] - means) ** 2).sum(axis=2), axis=1)
    np.testing.assert_array_equal(nearest, CLASSES)


def test_the_variances_of_a_text_sum_to_one():
    rows = fit_text("review", column_of(TEXTS))(column_of(TEXTS))
    assert rows.var(axis=0).sum() == pytest.approx(1.0)


def test_repeated_texts_count_as_often_as_they_occur():
    repeated = [*TEXTS, *TEXTS[:40]]
    rows = fit_text("review", column_of(repeated))(column_of(repeated))
    assert rows.var(axis=0).sum() == pytest.approx(1.0)


def test_unknown_words_are_no_gap_and_missing_texts_are():
    rows = fit_text("review", column_of(TEXTS))(column_of(["zebra quagga", None, TEXTS[0]]))
    assert (rows[0] == 0).all()
    assert np.isnan(rows[1]).all()
    assert np.isfinite(rows[2]).all()


def test_texts_without_common_words_have_no_coding():
    assert fit_text("review", column_of(["alpha beta", "gamma delta", "epsilon zeta"])) is None
    assert fit_text("review", column_of(["a", "b", "! ?"])) is None


def test_a_long_text_is_read():
    long = "fast great " * 100_000
    coding = fit_text("review", column_of([*TEXTS, long]))
    assert np.isfinite(coding(column_of([long]))).all()
