from latefusion.report.leaderboard.terms import FIGURES, ORACLE, TERMS


def test_the_oracle_is_not_a_result():
    assert ORACLE == (
        "The best of the grid, chosen with the known classes. Nobody has the classes in practice, so this is an upper "
        "bound, not a result."
    )
    assert TERMS["oracle ACC"] == ORACLE


def test_explanations_are_sentences():
    for text in (*FIGURES.values(), *TERMS.values()):
        assert text[0].isupper() or text[0].isdigit()
        assert text.endswith(".")


def test_every_explanation_is_on_the_page(page, text_of):
    words = text_of(page)
    for text in FIGURES.values():
        assert " ".join(text.split()) in words
    for name in ("mean rank", "won / tied / lost", "results"):
        assert TERMS[name] in words
