from latefusion.cli import main


def test_demo_prints_the_honest_lines_and_draws(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    for line in ("KMeans on", "concat-kmeans", "concat-spectral", "A-MKKM", "LF-MVC-GAM", "LF-MVC-LAM"):
        assert line in out
    assert "view chosen with the classes" in out
    assert "objective over" in out
    assert (tmp_path / "out" / "digits.png").stat().st_size > 50_000
