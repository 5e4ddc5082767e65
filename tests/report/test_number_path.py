import numpy as np

import latefusion as lf
from latefusion.interpretation.gather import gather
from latefusion.report import sections_method
from latefusion.report.number_path import number_tree


def test_a_given_number_has_no_tree(aligned, planted):
    assert number_tree(aligned) is None
    assert number_tree(lf.LateFusionClustering(3, random_state=0).fit(planted.views)) is None


def test_rows_are_the_tree_of_the_path(deciding):
    tree, path = number_tree(deciding), deciding.n_clusters_path(range(2, 6))
    assert tree.n_clusters == deciding.n_clusters_ == 3
    assert [(row.depth, row.first) for row in tree.rows] == path.tree()
    sizes = {row.first.cluster: row.size for row in tree.rows if row.size is not None}
    assert sizes == dict(enumerate(np.bincount(deciding.labels_)))
    assert tree.note == ""


def test_a_loaded_model_has_a_note(deciding, tmp_path):
    lf.save(deciding, tmp_path / "m")
    tree = number_tree(lf.load(tmp_path / "m"))
    assert tree.rows == ()
    assert "Fit it again" in tree.note


def test_the_page_shows_it_next_to_the_number(page_of, section, text_of, deciding, planted, tmp_path):
    data = gather(deciding, planted.views)
    tree = number_tree(deciding)
    text = text_of(section(page_of(data, choices=sections_method.choices(data, tree)), "choices"))
    for row in tree.rows:
        assert f"{row.first.cluster} {row.first.n_clusters} {row.first.size}" in text
    assert text.index("Number of clusters") < text.index("Fewer and more clusters") < text.index("Similarity, view")
    assert "Fewer and more clusters" not in text_of(section(page_of(data), "choices"))
    lf.save(deciding, tmp_path / "m")
    noted = number_tree(lf.load(tmp_path / "m"))
    assert "could not be computed. This LateFusionClustering was loaded from a file" in text_of(
        section(page_of(data, choices=sections_method.choices(data, noted)), "choices")
    )


def test_the_drawing_has_a_bar_per_cluster_as_high_as_it_is_large(deciding):
    drawing, path = number_tree(deciding).drawing, deciding.n_clusters_path(range(2, 6))
    assert len(drawing.boxes) == len(path.clusters)
    for box, cluster in zip(sorted(drawing.boxes, key=lambda one: (one.x, one.hint)), path.clusters, strict=True):
        assert f"cluster {cluster.cluster} of {cluster.n_clusters}:" in box.hint
        assert box.chosen == (cluster.n_clusters == 3)
    unit = {round(box.height / cluster.size, 6) for box, cluster in zip(
        sorted(drawing.boxes, key=lambda one: (one.x, one.hint)), path.clusters, strict=True
    )}  # fmt: skip
    assert len(unit) == 1
    assert [tick.text for tick, chosen in drawing.ticks if chosen] == ["3"]
    assert all(box.y >= 0 and box.y + box.height <= drawing.height for box in drawing.boxes)


def test_the_page_draws_it(page_of, section, deciding, planted):
    data, tree = gather(deciding, planted.views), number_tree(deciding)
    html = section(page_of(data, choices=sections_method.choices(data, tree)), "choices")
    assert html.count('class="band"') == len(tree.drawing.bands)
    assert html.count("<rect") == len(tree.drawing.boxes)
