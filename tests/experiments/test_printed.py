import re
from collections import Counter

import pytest

from latefusion.experiments.printed import (
    explanations,
    paper_dataset,
    paper_datasets,
    printed_methods,
    printed_tables,
    printed_value,
    printed_values,
)
from latefusion.experiments.protocol import CONTENDERS


def test_counts_are_those_of_the_tables():
    counted = Counter(one.table for one in printed_values())
    expected = {"kernel": 12 * 11 * 3, "graph": 4 * 8 * 3, "large": 2 * 7 * 3, "swmc": 8 * 2 * 3}
    assert counted == expected | {"graph time": 4 * 7 * 2, "large time": 2 * 5 * 2}
    keys = [one[:1] + one[2:5] for one in printed_values()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("table", "dataset", "method", "metric", "value"),
    [
        ("kernel", "AR10P", "LF-MVC-GAM", "accuracy", 43.85),
        ("kernel", "YALE", "LF-MVC-LAM", "purity", 61.82),
        ("kernel", "Mfeat", "LKAM", "nmi", 92.70),
        ("kernel", "Plant", "LMKKM", "accuracy", None),
        ("kernel", "Caltech102-30", "LF-MVC-LAM", "accuracy", 34.17),
        ("graph", "MSRC-v1", "GMC", "accuracy", 74.8),
        ("graph", "ALOI", "LMSC", "nmi", 80.8),
        ("large", "Mnist", "LF-MVC-LAM", "purity", 85.86),
        ("large", "Reuters", "LKAM", "accuracy", 42.37),
        ("graph time", "Caltech101-20", "LF-MVC-GAM", "speedup", 142),
        ("large time", "Reuters", "LF-MVC-LAM", "seconds", 118.318),
        ("swmc", "Mfeat", "SWMC", "purity", 99.75),
    ],
)
def test_values_are_those_of_the_paper(table, dataset, method, metric, value):
    assert printed_value(table, dataset, method, metric).value == value


def test_printed_words_and_values_agree():
    for one in printed_values():
        if one.value is None:
            assert one.printed == "-"
        else:
            scale = 100 if one.table == "graph" else 1
            assert one.value == pytest.approx(scale * float(one.printed.split()[0].rstrip("x")))


def test_scores_are_percentages_and_the_pair_of_our_methods_is_everywhere():
    for one in printed_values():
        if one.metric in ("accuracy", "nmi", "purity") and one.value is not None:
            assert 0 < one.value < 100
    for table in ("kernel", "graph", "large"):
        assert printed_methods(table)[-2:] == ["LF-MVC-GAM", "LF-MVC-LAM"]


def test_the_swmc_table_repeats_the_kernel_table():
    """The paper's "Ours" there is LF-MVC-LAM: all its values stand in the kernel tables as well."""
    ours = [one for one in printed_values() if one.table == "swmc" and one.method == "LF-MVC-LAM"]
    assert len(ours) == 24
    for one in ours:
        assert printed_value("kernel", one.dataset, one.method, one.metric).value == one.value


def test_names_are_ours():
    assert {one.method for one in printed_values()} <= set(CONTENDERS)
    names = {entry.paper for entry in paper_datasets()}
    assert {one.dataset for one in printed_values()} == names
    assert len(names) == 18
    assert {(dataset in names, method in CONTENDERS) for dataset, method in explanations()} <= {(True, True)}


def test_every_file_says_how_close_it_is():
    kinds = {"same kernels", "same samples, own kernels", "recomputed features", "relative"}
    assert {copy.likeness for entry in paper_datasets() for copy in entry.copies} <= kinds
    assert paper_dataset("ar10p_kernels") == paper_dataset("AR10P")
    assert paper_dataset("digits") is None
    assert printed_tables("AR10P") == ["kernel", "swmc"]


def test_reasons_quote_what_is_printed():
    """The script that writes them measures everything else; an edit of the printed values would leave them behind."""
    assert explanations()
    for (dataset, method), reason in explanations().items():
        quoted = re.search(r"printed ([\d.]+) / ([\d.]+) / ([\d.]+)", reason).groups()
        table = "swmc" if method == "SWMC" else "kernel"
        values = [printed_value(table, dataset, method, metric).value for metric in ("accuracy", "nmi", "purity")]
        assert [float(word) for word in quoted] == values
