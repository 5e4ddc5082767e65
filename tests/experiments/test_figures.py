import numpy as np
import pytest

from latefusion.experiments.figures import FITS, _iterates, draw_figures, draw_regularization, draw_surface, draw_times
from latefusion.experiments.protocol import GAM, LAM
from latefusion.plots.canvas import require_pyplot


@pytest.fixture(autouse=True)
def _close():
    require_pyplot().switch_backend("agg")
    yield
    require_pyplot().close("all")


def of(summaries, method):
    return next(one for one in summaries if one.method == method)


def test_every_figure_becomes_two_files(tmp_path, small_summaries):
    pictures = draw_figures(tmp_path / "figures", small_summaries)
    names = {"lambda-planted", "surface-planted", "times", *[f"{name}-planted" for name in FITS]}
    assert {picture.path for picture in pictures} == {f"figures/{name}.png" for name in names}
    for name in names:
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "figures" / f"{name}.svg").read_text()


def test_no_fits_where_none_are_wanted(tmp_path, small_summaries):
    assert len(draw_figures(tmp_path, small_summaries, fits=False)) == 3


def test_lambda_figure_shows_best_and_mean(small_summaries):
    gam = of(small_summaries, GAM)
    _, figure = draw_regularization(gam, small_summaries)
    best, mean = (line.get_ydata() for line in figure.axes[0].lines[:2])
    assert max(best) == pytest.approx(100 * gam.oracle["accuracy"].value)
    assert np.all(best >= mean)


def test_surface_holds_every_point_of_the_grid(small_summaries):
    lam = of(small_summaries, LAM)
    _, figure = draw_surface(lam)
    heights = figure.axes[0].images[0].get_array()
    assert heights.size == len(lam.levels)
    assert heights.max() == pytest.approx(100 * lam.oracle["accuracy"].value)


def test_times_are_relative_to_global_alignment(small_summaries):
    _, figure = draw_times(small_summaries)
    ax = figure.axes[0]
    row = [label.get_text() for label in ax.get_yticklabels()].index(GAM)
    dots = [line.get_xdata() for line in ax.lines if list(line.get_ydata()) == [row]]
    assert dots
    np.testing.assert_array_equal(np.ravel(dots[0]), [1.0])


def test_the_bound_holds_at_every_iteration_and_20_are_kept(small_source):
    """① <= ② is Lemma 1, whatever the iterate."""
    iterates = _iterates(small_source, 20)
    assert len(iterates) == 20
    for one in iterates:
        assert one.residual <= one.surrogate + 1e-9
        np.testing.assert_allclose(one.consensus.T @ one.consensus, np.eye(small_source.n_clusters), atol=1e-8)
