from latefusion.plots import SelectionDisplay, draw_overview


def test_a_sheet_is_saved(model, tmp_path):
    path = tmp_path / "sheet.png"
    draw_overview({"one": model, "two": model}, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 20_000


def test_models_that_choose_show_what_they_chose_from(model, selecting_model, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(SelectionDisplay, "plot", lambda self, ax=None: drawn.append((self, ax)))
    draw_overview({"one": model, "two": selecting_model}, tmp_path / "sheet.png")
    ((display, ax),) = drawn
    assert len(display.names) == len(selecting_model.selection_)
    assert ax is not None
