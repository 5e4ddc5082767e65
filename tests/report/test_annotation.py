from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from latefusion.interpretation.annotation import category_column, read_annotation
from latefusion.interpretation.gather import gather
from latefusion.metrics import clustering_scores
from latefusion.report.annotation import MOST_COLUMNS, MOST_LISTED, annotation_section


def test_counts_are_shown_for_every_cluster_and_class(page_of, section, text_of, gathered):
    classes = np.array(["x", "y", "z"])[gathered.labels]
    classes[:5] = "x"
    data = replace(gathered, target=classes)
    found = annotation_section(read_annotation({"age": np.linspace(20, 90, 90)}, data), data)
    (own,) = found.classes
    for row in own.rows:
        inside = classes[data.labels == row.cluster]
        assert row.counts == [int(np.sum(inside == one)) for one in own.classes]
        assert sum(row.shares) == pytest.approx(1)
        assert row.common[0] == (own.classes[int(np.argmax(row.counts))], max(row.counts))
    scores = clustering_scores(classes, data.labels)
    assert dict(own.scores)["NMI"] == pytest.approx(scores["nmi"])
    text = text_of(section(page_of(data, annotation=found), "annotation"))
    assert f"NMI {scores['nmi']:.3f}" in text
    assert "age" in text


def test_agreement_is_on_the_diagonal(gathered):
    """Classes are in the order of the clusters that they are matched with, whatever their names."""
    classes = np.array(["z", "x", "y"])[gathered.labels]
    classes[:5], classes[-2:] = "x", "a"
    data = replace(gathered, target=classes)
    (own,) = annotation_section(read_annotation(None, data), data).classes
    assert own.classes == ["z", "x", "y", "a"]


def test_classes_with_numbers_are_in_natural_order():
    column = category_column("kind", ["type 10", "type 2", "11", "x", "9.5"])
    assert column.levels == ("9.5", "11", "type 2", "type 10", "x")


def test_many_classes_are_listed_per_cluster(page_of, section, text_of, gathered):
    """Not as a table of zeros: every cluster has its most common classes, first of all."""
    generator = np.random.default_rng(0)
    classes = np.array([f"type {one}" for one in 3 * generator.integers(0, 12, 90) + gathered.labels], dtype=object)
    data = replace(gathered, target=classes)
    found = annotation_section(read_annotation(None, data), data)
    (own,) = found.classes
    assert own.classes == []
    for row in own.rows:
        names, counts = np.unique(classes[data.labels == row.cluster].astype(str), return_counts=True)
        assert [count for _, count in row.common] == sorted(counts.tolist(), reverse=True)[:MOST_LISTED]
        assert all(dict(zip(names, counts, strict=True))[name] == count for name, count in row.common)
        assert row.size == counts.sum() == sum(count for _, count in row.common) + row.n_rest
    text = text_of(section(page_of(data, annotation=found), "annotation"))
    (first, count), (second, others), *_ = own.rows[0].common
    assert f"0 {first} {count / own.rows[0].size:.0%}".replace("%", "\u00a0%").replace("\u00a0", " ") in text
    assert f"{second} ({others})" in text


def test_many_columns_are_limited(gathered):
    classes = [f"class {one % 30:02}" for one in range(90)]
    columns = {f"column {one}": classes for one in range(MOST_COLUMNS + 3)}
    found = annotation_section(read_annotation(columns, gathered), gathered)
    assert len(found.classes) == MOST_COLUMNS
    assert found.n_more == 3


def test_classes_have_the_name_of_their_series(page_of, section, text_of, aligned, planted):
    for target, name in ((pd.Series(planted.target, name="subtype"), "subtype"), (planted.target, "known class")):
        data = gather(aligned, planted.views, target=target)
        html = section(page_of(data), "annotation")
        assert f"<h3>{name}</h3>" in html


def test_samples_without_annotation_are_counted_in_words_of_annotation(gathered):
    data = replace(gathered, ids=[f"s{one}" for one in range(90)])
    found = read_annotation(pd.DataFrame({"age": np.arange(80.0) % 7}, index=data.ids[:80]), data)
    assert [note for note in found.notes if note.startswith("Without annotation: 10 of 90 samples")]
    assert "test" not in " ".join(found.notes)


def test_without_annotation_there_is_no_section(page_of, section, gathered):
    assert annotation_section(read_annotation(None, gathered), gathered) is None
    assert section(page_of(gathered), "annotation") is None


def test_a_cluster_without_classes_has_a_dash(page_of, section, gathered):
    column = category_column("kind", np.where(gathered.labels == 0, None, "x").tolist())
    found = annotation_section(read_annotation(None, gathered)._replace(columns=(column,)), gathered)
    assert found.classes[0].rows[0].common == []
    assert "<td>\u2013</td>" in section(page_of(gathered, annotation=found), "annotation")
