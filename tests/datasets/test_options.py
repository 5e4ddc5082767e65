import pytest

from latefusion.datasets.options import BLANKS, SEPARATORS, TableOptions, separator_name, separator_sign, table_options


def test_every_separator_has_a_name_that_means_it():
    for name, sign in SEPARATORS.items():
        assert separator_sign(name) == separator_sign(sign) == sign
        assert separator_name(sign) == name
    assert (separator_sign(" "), separator_sign("\\t"), separator_sign("~")) == (BLANKS, "\t", "~")
    assert separator_name("~") == "'~'"


@pytest.mark.parametrize("text", ["", "a", "1", '"', "\n", ";;", "commas"])
def test_what_is_not_a_separator_is_refused(text):
    with pytest.raises(ValueError, match="separator must be a single character or one of comma, semicolon"):
        separator_sign(text)


def test_options_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="separator and decimal are both ','"):
        table_options(None, None, "comma", ",", False)
    with pytest.raises(ValueError, match="decimal must be"):
        table_options(None, None, None, ";", False)


def test_transposed_files_are_known_by_any_spelling_of_their_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = table_options(None, None, None, None, ["./a.csv"])
    assert options.transposed(tmp_path / "a.csv")
    assert not options.transposed(tmp_path / "b.csv")
    assert TableOptions(transpose=True).transposed(tmp_path / "b.csv")
    assert table_options(None, None, None, None, "a.csv").transposed(tmp_path / "a.csv")
