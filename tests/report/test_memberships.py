import numpy as np
import pytest

import latefusion as lf
from latefusion.interpretation.gather import gather, gather_new
from latefusion.report import write_report
from latefusion.report.memberships import memberships_section
from latefusion.report.sections_samples import clusters


@pytest.fixture(scope="module")
def calibrated():
    """Clusters that overlap, so that memberships differ."""
    data = lf.datasets.make_views(120, 3, n_views=2, n_features=4, separation=2.0, random_state=0)
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    assert memberships_section(gather(model, data.views)) is None  # reading them takes several fits
    return model, data.views, model.memberships_


def test_the_section_describes_memberships_and_their_calibration(calibrated):
    model, views, memberships = calibrated
    data = gather(model, views)
    np.testing.assert_array_equal(data.membership, memberships[np.arange(120), model.labels_])
    found = memberships_section(data)
    assert found.median == np.median(data.membership)
    assert found.n_doubtful == np.sum(data.membership < 0.5)
    assert found.calibration == repr(model.calibration_)
    kept, ideal = (np.array(one.points) for one in found.chart.series)
    curve = model.calibration_.curve
    np.testing.assert_array_equal(kept[:, 0], ideal[:, 0])
    # Down is up in SVG, by the same scale for both lines.
    scale = np.polyfit(ideal[:, 1], curve.predicted, 1)
    np.testing.assert_allclose(np.polyval(scale, kept[:, 1]), curve.observed, atol=1e-9)


def test_every_cluster_has_its_median(calibrated):
    model, views, memberships = calibrated
    found = clusters(gather(model, views), [[], [], []])
    for position, one in enumerate(found):
        assert one.membership == np.median(memberships[model.labels_ == position].max(axis=1))


def test_the_page_has_the_section_only_if_memberships_were_computed(calibrated, tmp_path):
    model, views, _ = calibrated
    options = {"baselines": False, "embedding": "pca"}
    fresh = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    for one, is_known in ((model, True), (fresh, False)):
        text = write_report(one, views, tmp_path / "page.html", **options).read_text(encoding="utf-8")
        assert ('id="memberships"' in text) is is_known
        assert ("Calibration of memberships: samples kept" in text) is is_known
        assert (">membership</option>" in text) is is_known
        assert ("median membership" in text) is is_known


def test_new_samples_have_memberships(calibrated):
    model, views, _ = calibrated
    new = lf.Views([array[:30] + 0.1 for array in views.arrays], names=views.names)
    np.testing.assert_array_equal(gather_new(model, new).membership, model.predict_proba(new).max(axis=1))
