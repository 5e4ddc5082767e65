import matplotlib
import pytest

import latefusion as lf

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def model():
    data = lf.datasets.make_views(60, 3, random_state=0)
    return lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)


@pytest.fixture(scope="session")
def selecting_model():
    data = lf.datasets.make_views(60, 3, random_state=0)
    return lf.LateFusionClustering(range(2, 6), random_state=0).fit(data.views)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")
