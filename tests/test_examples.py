"""The scripts of the gallery run without a warning, and the claims of their text are true."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import latefusion as lf

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))


def tables(found):
    assert lf.metrics.clustering_accuracy(found["diagnosis"], _by_patient(found)) > 0.9
    assert found["labels"].index.equals(found["known"].index)
    assert found["free"].n_clusters_ != 2
    two, *others = found["evidence"]
    assert two.stability > max(one.stability for one in others)
    assert two.score > 0.8 * max(one.score for one in others)  # nearly level


def _by_patient(found):
    return found["labels"]["label"].loc[found["table"].index].to_numpy()


def cells(found):
    """No single view separates all types; cells without protein have a lower confidence."""
    truth, partial, lost = found["cell_type"], found["partial"], found["lost"]
    alone = [lf.metrics.adjusted_rand(truth, labels) for labels in found["alone"].values()]
    assert lf.metrics.adjusted_rand(truth, found["model"].labels_) > max(alone) + 0.1
    assert partial.confidence_[lost].mean() < partial.confidence_[~lost].mean()
    assert lf.metrics.adjusted_rand(truth, found["mdata"].obs["latefusion"]) > max(alone) + 0.1


def documents(found):
    """The consensus is as good as the best baseline, and the new text is assigned to linear algebra."""
    *others, ours = found["rows"]
    assert ours.scores["nmi"] > max(row.scores["nmi"] for row in others) - 0.02
    assert found["found"][found["sizes"].argmax()] == "linalg"
    labels, topics = found["model"].labels_, found["topics"]
    counts = np.bincount(labels[topics == "stats"])
    for cluster in np.argsort(counts)[-2:]:  # distributions and tests: two clusters, in which no other module has more
        own, sizes = np.unique(topics[labels == cluster], return_counts=True)
        assert own[sizes.argmax()] == "stats"
    assert np.sort(counts)[-2] > 0.2 * counts.sum()


def customers(found):
    """The groups are found, and columns are what they are taken for."""
    assert lf.metrics.adjusted_rand(found["truth"].to_numpy(), found["model"].labels_) > 0.9
    assert found["model"].column_kinds_["customers"] == {
        "region": "category", "since": "date", "spend": "number", "returns": "number", "currency": "constant",
    }  # fmt: skip
    assert found["model"].column_kinds_["reviews"] == {"review": "text"}


def patients(found):
    """Fusion finds the subtype with the high risk, which two of three views mix with another one."""
    assert found["table"].scores["ari"] > 0.95
    assert found["automatic"].n_clusters_ == 3
    outcome, alone = found["outcome"], found["alone"]
    worst = outcome.survival.hazard_ratios[found["worst"]]
    assert worst.lower > 1
    row = list(found["table"].clusters).index(found["worst"])
    assert found["table"].classes[int(found["table"].counts[row].argmax())] == "C"
    assert max(alone["expression"], alone["methylation"]) < worst.ratio - 1
    assert set(found["profiles"].of(found["worst"]).top(2)["view"]) == {"proteins"}
    assert outcome.tests["p_adjusted"][0] < 0.001
    assert not found["folder"].exists()


def missing_views(found):
    assert np.array_equal(found["model"].observed_, found["mask"])


def consensus_of_labels(found):
    assert found["model"].n_clusters_ == 10


def number_of_clusters(found):
    assert found["model"].n_clusters_ == 5
    assert np.array_equal(found["path"].labels_for(5), found["model"].labels_)
    assert "no evidence for clusters" in str(found["caught"][0].message)


def torch_arrays(found):
    assert type(found["model"].consensus_).__module__ == "torch"
    assert lf.metrics.adjusted_rand(found["on_numpy"].labels_, found["model"].labels_) > 0.99


def precomputed_kernels(found):
    model, kernels, train = found["model"], found["kernels"], found["train"]
    assert np.array_equal(model.predict(kernels(train, train)), model.labels_)


def regularization_path(found):
    assert [point.regularization for point in found["path"]] == found["values"].tolist()


def report(found):
    assert len(found["model"].leave_one_view_out()) == 3


CLAIMS = {
    "stories/1_tables.py": tables,
    "stories/2_cells.py": cells,
    "stories/3_documents.py": documents,
    "stories/4_customers.py": customers,
    "stories/5_patients.py": patients,
    "recipes/missing_views.py": missing_views,
    "recipes/consensus_of_labels.py": consensus_of_labels,
    "recipes/number_of_clusters.py": number_of_clusters,
    "recipes/torch_arrays.py": torch_arrays,
    "recipes/precomputed_kernels.py": precomputed_kernels,
    "recipes/regularization_path.py": regularization_path,
    "recipes/report.py": report,
}


@pytest.mark.parametrize("path", [str(script.relative_to(EXAMPLES)) for script in SCRIPTS])
def test_example_runs_and_its_claims_hold(path, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    if "torch" in path:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context({"backend": "agg"}):
        found = runpy.run_path(str(EXAMPLES / path))
        matplotlib.pyplot.close("all")
    CLAIMS[path](found)
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"
