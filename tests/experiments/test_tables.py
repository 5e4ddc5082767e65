from latefusion.experiments import format_table


def test_columns_line_up():
    text = format_table(["name", "x"], [["a", "1"], ["longer name", "22.5"]])
    assert text.splitlines() == ["name            x", "-----------  ----", "a               1", "longer name  22.5"]


def test_header_alone():
    assert format_table(["a", "b"], []) == "a  b\n-  -"
