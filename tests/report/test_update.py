import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.interpretation.gather import gather
from latefusion.report import write_report
from latefusion.report.update import update_section


@pytest.fixture(scope="module")
def updated():
    data = lf.datasets.make_views(150, 3, n_views=2, n_features=4, separation=7.0, random_state=0)
    ids = [f"p{one}" for one in range(150)]
    tables = {f"view_{one}": pd.DataFrame(array, index=ids) for one, array in enumerate(data.views.arrays)}
    for table in tables.values():
        table.columns = [f"c{one}" for one in range(4)]
    old = lf.GlobalAlignmentClustering(3, random_state=0).fit({name: table[:120] for name, table in tables.items()})
    new = {name: table[10:] for name, table in tables.items()}
    return old.update(new), new


def test_changes_have_their_own_section(updated, tmp_path, section, text_of):
    """Drift and samples that moved are no warnings."""
    update, views = updated
    path = write_report(update.model, views, tmp_path / "new.html", update=update, baselines=False, embedding="pca")
    page = path.read_text(encoding="utf-8")
    text = text_of(section(page, "update"))
    assert "140 samples: 110 known, 30 new, 10 no longer there." in text
    warnings = text_of(section(page, "warnings") or "")
    for note in update.notes:
        assert text_of(note) in text
        assert text_of(note) not in warnings
    for one in update.clusters.records():
        assert f"{one['cluster']} {one['change']} {one['before']} {one['after']}" in text
    assert 'href="#update"' in page


def test_only_an_update_of_the_model_is_taken(updated):
    update, views = updated
    data = gather(update.model, views)
    assert update_section(None, data) is None
    with pytest.raises(TypeError, match=r"update must be the result of model.update\(X\), got dict"):
        update_section({}, data)
    other = lf.GlobalAlignmentClustering(3, random_state=0).fit([np.asarray(one) for one in views.values()])
    with pytest.raises(ValueError, match=r"another model than that of the report. Give update.model"):
        update_section(update, gather(other, [np.asarray(one) for one in views.values()]))
