import json
from dataclasses import replace

import pytest

from latefusion.cli import demo, main
from latefusion.datasets import load_digits_views


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """The demo on every fourth digit, which is the same work in less time: what it printed, and where it drew."""
    folder = tmp_path_factory.mktemp("demo")
    data = load_digits_views()
    fewer = replace(data, views=data.views[::4], target=data.target[::4])
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "load_digits_views", lambda: fewer)
        patch.setattr("builtins.print", lambda *words: printed.append(" ".join(map(str, words))))
        assert main(["demo", "--output", str(folder / "out")]) == 0
    return "\n".join(printed), folder / "out"


def test_honest_lines_come_first_and_ours_after(output):
    out, _ = output
    table = [line.split("  ")[0] for line in out.splitlines()[5:14]]
    assert table[0].startswith("KMeans on")
    assert table[1:5] == ["concat-kmeans", "concat-spectral", "A-MKKM", "LateFusionClustering"]
    assert all(name.startswith(("LF-MVC-GAM", "LF-MVC-LAM")) for name in table[5:])
    assert "view chosen with the classes" in out
    assert "objective over" in out


def test_late_fusion_prints_the_reason_for_its_choice(output):
    out, _ = output
    assert "of 18 candidates" in out
    assert "views: pixels (" in out
    assert out.count("Without '") == 5


def test_the_figure_is_there(output):
    _, folder = output
    assert (folder / "digits.png").stat().st_size > 50_000


def test_for_machines(capsys, monkeypatch, tmp_path):
    data = load_digits_views()
    monkeypatch.setattr(
        demo, "load_digits_views", lambda: replace(data, views=data.views[::9], target=data.target[::9])
    )
    assert main(["demo", "--json", "--no-figure", "--output", str(tmp_path / "out")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in answer["methods"][-5:]] == list(answer["models"])
    weights = answer["models"]["LateFusionClustering"]["view_weights"]
    assert sum(value**2 for value in weights.values()) == pytest.approx(1)
    assert answer["figure"] is None
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_a_figure_stays(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "load_digits_views", lambda: pytest.fail("refused before any computation"))
    (tmp_path / "digits.png").write_text("not a figure")
    assert main(["demo", "--output", str(tmp_path)]) == 1
    assert "exists and is not a PNG image" in capsys.readouterr().err
    assert main(["demo", "--output", str(tmp_path / "digits.png")]) == 1
    assert "cannot be created" in capsys.readouterr().err
    assert (tmp_path / "digits.png").read_text() == "not a figure"
