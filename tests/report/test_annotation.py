from dataclasses import replace

import numpy as np
import pytest

from latefusion.interpretation.annotation import category_column, read_annotation
from latefusion.metrics import clustering_scores
from latefusion.report.annotation import MOST_CLASSES, MOST_COLUMNS, annotation_section


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
        assert row.common == own.classes[int(np.argmax(row.counts))]
    scores = clustering_scores(classes, data.labels)
    assert dict(own.scores)["NMI"] == pytest.approx(scores["nmi"])
    text = text_of(section(page_of(data, annotation=found), "annotation"))
    assert f"NMI {scores['nmi']:.3f}" in text
    assert "age" in text


def test_many_classes_and_columns_are_limited(gathered):
    classes = [f"class {one % 30:02}" for one in range(90)]
    columns = {f"column {one}": classes for one in range(MOST_COLUMNS + 3)}
    found = annotation_section(read_annotation(columns, gathered), gathered)
    assert len(found.classes) == MOST_COLUMNS
    assert found.n_more == 3
    own = found.classes[0]
    assert len(own.classes) == MOST_CLASSES
    assert own.classes[-1] == "11 other classes"
    assert sum(map(sum, (row.counts for row in own.rows))) == 90


def test_without_annotation_there_is_no_section(page_of, section, gathered):
    assert annotation_section(read_annotation(None, gathered), gathered) is None
    assert section(page_of(gathered), "annotation") is None


def test_a_cluster_without_classes_has_a_dash(page_of, section, gathered):
    column = category_column("kind", np.where(gathered.labels == 0, None, "x").tolist())
    found = annotation_section(read_annotation(None, gathered)._replace(columns=(column,)), gathered)
    assert found.classes[0].rows[0].common == ""
    assert "<td>\u2013</td>" in section(page_of(gathered, annotation=found), "annotation")
