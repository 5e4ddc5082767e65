from latefusion.plots import draw_overview


def test_a_sheet_is_saved(model, tmp_path):
    path = tmp_path / "sheet.png"
    draw_overview({"one": model, "two": model}, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 20_000
