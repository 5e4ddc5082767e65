import re

from latefusion.report.html import environment
from latefusion.report.terms import OUTCOME_TERMS, TERMS, UPDATE_TERMS


def test_every_explanation_is_a_sentence():
    for text in (*TERMS.values(), *OUTCOME_TERMS.values(), *UPDATE_TERMS.values()):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith("p ")


def test_every_term_that_a_template_names_is_explained():
    made = environment()
    for name in made.list_templates(["html"]):
        source = made.loader.get_source(made, name)[0]
        for term in re.findall(r'head\("([^"]+)"', source):
            assert term in TERMS, f"{name}: {term}"
        for terms in re.findall(r"legend\((\[.*\])\)", source):
            for term in re.findall(r'"([^"]+)"', terms):
                assert term in TERMS, f"{name}: {term}"


def test_the_first_words_are_defined_below_the_first_numbers(page_of, section, text_of, gathered):
    """Confidence, novelty and agreement before any sentence or table that uses them."""
    html = section(page_of(gathered), "summary")
    for word in ("confidence", "novelty", "agreement"):
        assert html.index(TERMS[word]) < html.index('class="sentences"')
    assert TERMS["stability"] not in html  # nothing on this page uses it


def test_columns_of_tables_have_their_meaning_on_paper_too(page_of, section, gathered):
    html = section(page_of(gathered), "views")
    for word in ("weight", "agreement"):
        assert f'<abbr title="{TERMS[word]}">{word}</abbr>' in html
        assert f"<dt>{word}</dt><dd>{TERMS[word]}</dd>" in html
