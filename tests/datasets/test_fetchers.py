"""Public data sets: archives of the published layout, made here and served by a server on this machine."""

from __future__ import annotations

import io
import tarfile
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from latefusion.datasets import fetchers, load_views
from latefusion.datasets.download import DownloadError, RemoteFile
from tests.datasets.web import Site, serving


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(members, mode="w"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def text_of(array):
    stream = io.StringIO()
    np.savetxt(stream, array, fmt="%.9g")
    return stream.getvalue().encode()


@pytest.fixture
def publish(monkeypatch, tmp_path):
    """Put an archive where a fetcher looks for it; gives the options for the fetcher and the site."""
    monkeypatch.setenv("no_proxy", "*")
    sites = {}
    with serving(sites) as address:

        def put(constant, content, *, folder=None):
            folder = vars(fetchers) if folder is None else folder
            filename = folder[constant].filename
            sites[f"/{filename}"] = site = Site(content)
            monkeypatch.setitem(folder, constant, RemoteFile(f"{address}/{filename}", filename))
            return {"data_home": tmp_path}, site

        yield put


DIGITS = {view: np.random.default_rng(0).normal(size=(40, 3)) for view in fetchers.DIGIT_FILES}


@pytest.mark.parametrize("form", ["flat", "folder", "tar in zip"])
def test_digits_from_any_folder_of_the_archive(publish, form):
    files = {fetchers.DIGIT_FILES[view]: text_of(array) for view, array in DIGITS.items()}
    files["mfeat.info"] = b"about the data"
    if form == "folder":
        files = {f"mfeat/{name}": content for name, content in files.items()}
    content = zipped({"mfeat.tar": tarred(files)}) if form == "tar in zip" else zipped(files)
    options, site = publish("UCI_MULTIFEATURE", content)
    dataset = fetchers.fetch_uci_multifeature(**options)
    assert dataset.views.names == ("FAC", "FOU", "KAR", "MOR", "PIX", "ZER")
    for view, array in dataset.views.items():
        np.testing.assert_allclose(array, DIGITS[view], rtol=1e-8)
    assert dataset.target.tolist() == [digit for digit in range(10) for _ in range(4)]
    fetchers.fetch_uci_multifeature(**options, download_if_missing=False)
    assert len(site.requests) == 1


def test_the_real_digits(publish, shared_data):
    """The local copy, written in the layout of the UCI archive, comes back as it was."""
    local = load_views(shared_data("mfeat"))
    files = {fetchers.DIGIT_FILES[view]: text_of(array) for view, array in local.views.items()}
    options, _ = publish("UCI_MULTIFEATURE", zipped(files))
    dataset = fetchers.fetch_uci_multifeature(**options)
    assert dataset.views.widths == (216, 76, 64, 6, 240, 47)
    for ours, theirs in zip(dataset.views.arrays, local.views.arrays, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    np.testing.assert_array_equal(dataset.target, local.target)


def test_digits_that_are_not_what_they_should_be(publish):
    files = {name: text_of(DIGITS["FAC"]) for name in fetchers.DIGIT_FILES.values()}
    options, _ = publish("UCI_MULTIFEATURE", zipped({**files, "mfeat-zer": text_of(DIGITS["FAC"][:-1])}))
    with pytest.raises(ValueError, match="'ZER': 39"):
        fetchers.fetch_uci_multifeature(**options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>moved</html>", "not a readable archive"),
        (zipped({"other.txt": b""}), "does not contain mfeat-fac, mfeat-fou"),
        (zipped({name: b"1 2\nthree 4\n" for name in fetchers.DIGIT_FILES.values()}), "mfeat-fac cannot be read"),
    ],
)
def test_other_files_at_the_address(publish, content, message):
    options, _ = publish("UCI_MULTIFEATURE", content)
    with pytest.raises(ValueError, match=rf"uci_multiple_features\.zip.*{message}"):
        fetchers.fetch_uci_multifeature(**options)


def test_without_a_network_and_a_copy(tmp_path):
    with pytest.raises(DownloadError, match=r"uci_multiple_features\.zip.* is missing.*Download https://archive"):
        fetchers.fetch_uci_multifeature(data_home=tmp_path, download_if_missing=False)


def news_archive():
    """Five stories: 1 and 10 told by all, 2 by two, 3 and 4 by one each."""
    told = {"bbc": [1, 2, 10], "guardian": [10, 1, 3], "reuters": [4, 1, 2, 10]}
    files = {"3sources.disjoint.clist": b"sport: 1,4\nbusiness: 2,3\nhealth: 10\n", "3sources.readme": b""}
    for source, stories in told.items():
        counts = np.outer(np.arange(1, 7), stories)  # the count of term t in story s is (t + 1) s
        stream = io.BytesIO()
        scipy.io.mmwrite(stream, scipy.sparse.coo_array(counts))
        files[f"3sources_{source}.mtx"] = stream.getvalue()
        files[f"3sources_{source}.docs"] = "\n".join(map(str, stories)).encode()
    return files


def test_news_are_matched_by_story(publish):
    options, _ = publish("THREE_SOURCES", zipped({f"3sources/{k}": v for k, v in news_archive().items()}))
    dataset = fetchers.fetch_three_sources(**options)
    views = dataset.views
    assert views.names == ("BBC", "Guardian", "Reuters")
    assert views.sample_ids.tolist() == ["1", "2", "3", "4", "10"]
    assert [dataset.target_names[code] for code in dataset.target] == [
        "sport",
        "business",
        "business",
        "sport",
        "health",
    ]
    stories = views.sample_ids.astype(int)
    expected_mask = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=bool)
    np.testing.assert_array_equal(views.mask, expected_mask)
    for view, array in enumerate(views.arrays):
        assert scipy.sparse.issparse(array)
        expected = np.outer(stories, np.arange(1, 7)) * expected_mask[:, [view]]
        np.testing.assert_array_equal(array.toarray(), expected)
    complete = fetchers.fetch_three_sources(**options, only_complete=True)
    assert complete.views.sample_ids.tolist() == ["1", "10"]
    assert complete.views.mask is None
    assert complete.target_names == ("health", "sport")


def test_news_without_topic(publish):
    files = news_archive() | {"3sources.disjoint.clist": b"sport: 1,4\nbusiness: 2,3\n"}
    options, _ = publish("THREE_SOURCES", zipped(files))
    with pytest.raises(ValueError, match="1 stories have no topic, such as '10'"):
        fetchers.fetch_three_sources(**options)


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_papers_by_words_and_citations(publish, name):
    content = b"p1\t0\t1\t0\tTheory\nbradshaw97\t1\t1\t0\tRules\np3\t0\t0\t1\tTheory\n"
    cites = b"p1\tp3\np3\tp1\nbradshaw97 p3\np1\tnot_in_the_set\np1 p1\n"
    archive = tarred({f"{name}/{name}.content": content, f"{name}/{name}.cites": cites}, "w:gz")
    options, _ = publish(name, archive, folder=fetchers.CITATIONS)
    dataset = fetchers.fetch_citations(name, **options)
    words, links = dataset.views.arrays
    assert dataset.views.names == ("content", "cites")
    assert dataset.views.sample_ids.tolist() == ["p1", "bradshaw97", "p3"]
    np.testing.assert_array_equal(words.toarray(), [[0, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(links.toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert dataset.target_names == ("Rules", "Theory")
    assert dataset.target.tolist() == [1, 0, 1]


def test_papers_of_different_length(publish):
    files = {"cora.content": b"a 0 1 T\nb 0 T\n", "cora.cites": b""}
    options, _ = publish("cora", tarred(files, "w:gz"), folder=fetchers.CITATIONS)
    with pytest.raises(ValueError, match=r"cora\.content cannot be read \(lines have \[1, 2\] words\)"):
        fetchers.fetch_citations("cora", **options)


def test_unknown_papers():
    with pytest.raises(ValueError, match="name must be one of 'cora', 'citeseer', got 'pubmed'"):
        fetchers.fetch_citations("pubmed")


def test_every_fetcher_documents_source_and_license():
    for name in ("fetch_uci_multifeature", "fetch_three_sources", "fetch_citations"):
        notes = getattr(fetchers, name).__doc__.partition("Notes\n")[2]
        assert "http" in notes
        assert "licence" in notes or "CC BY" in notes
