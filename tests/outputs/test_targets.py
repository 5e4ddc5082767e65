"""No output replaces an input, and none replaces another kind of file unasked."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import latefusion as lf
from latefusion.outputs import Labels, check_targets, write_labels
from latefusion.outputs.targets import LABELS, MODEL, REPORT, Kind, Target

MODEL_OF_TWO = lf.GlobalAlignmentClustering(2, random_state=0).fit(lf.datasets.make_views(20, 2, random_state=0).views)
FOUND = Labels(np.array(["a", "b"]), np.array([1, 0]), np.array([0.5, 1.0]))
NAMES = {"labels.csv": LABELS, "labels.parquet": LABELS, "groups.model": MODEL, "page.html": REPORT}
KINDS = {kind.name: kind for kind in NAMES.values()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """One file of every kind of output, and some of no kind."""
    monkeypatch.chdir(tmp_path)
    for name in ("labels.csv", "labels.tsv", "labels.parquet", "labels"):
        write_labels(FOUND, name)
    lf.save(MODEL_OF_TWO, "groups.model")
    (tmp_path / "page.html").write_text("<!DOCTYPE html>\n<html><p>Written by latefusion.</p></html>")
    (tmp_path / "own.html").write_text("<!DOCTYPE html>\n<html><p>My own page.</p></html>")
    (tmp_path / "genes.csv").write_text("id,TP53,label\na,1,x\n")
    (tmp_path / "long.csv").write_text("id," + "g" * 50_000)
    (tmp_path / "latin.csv").write_bytes(b"id,label\xe9\n")
    np.savez("views.npz", view_0=np.eye(2))
    with zipfile.ZipFile("notes.zip", "w") as archive:
        archive.writestr("notes.txt", "x")
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)))
    (tmp_path / "words.parquet").write_bytes(b"PAR1 and nothing else")
    return tmp_path


RECOGNIZED = {
    "a table of labels": {"labels.csv", "labels.tsv", "labels.parquet", "labels"},
    "a model": {"groups.model"},
    "a report of latefusion": {"page.html"},
}


@pytest.mark.parametrize("kind", RECOGNIZED)
def test_only_older_outputs_of_the_same_kind_are_replaced_without_force(folder, kind):
    any_name = KINDS[kind]._replace(suffixes=())
    for path in sorted(folder.iterdir()):
        target = [Target(path, any_name, "--x")]
        if path.name in RECOGNIZED[kind]:
            check_targets(target)
        else:
            with pytest.raises(ValueError, match=f"--x '.*{path.name}' exists and is not {kind}.*--force to replace"):
                check_targets(target)
        check_targets(target, force=True)


def test_nothing_is_lost_with_an_empty_file_or_a_device(folder):
    (folder / "empty").touch()
    for kind in (MODEL, LABELS):
        check_targets([Target(folder / "empty", kind), Target(Path(os.devnull), kind)])
    check_targets([Target(Path(os.devnull), MODEL, "-a"), Target(Path(os.devnull), REPORT, "-b")], [Path(os.devnull)])


def spellings(file, folder):
    """The same file by other names."""
    (folder / "deep").mkdir()
    (folder / "symbolic").symlink_to(file)
    (folder / "chain").symlink_to(folder / "symbolic")
    (folder / "door").symlink_to(folder)
    os.link(file, folder / "hard")
    return [
        file,
        Path(file.name),
        Path(f"./deep/../{file.name}"),
        folder / "symbolic",
        folder / "chain",
        folder / "door" / file.name,
        folder / "hard",
    ]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["genes.csv", "views.npz", "groups.model", "labels.csv", "page.html"])
def test_an_input_is_never_replaced_by_whatever_name(folder, name, kind, force):
    any_name = KINDS[kind]._replace(suffixes=())
    for path in spellings(folder / name, folder):
        for given in (Path(name), folder / "door" / name, folder / "chain", folder / "hard"):
            with pytest.raises(ValueError, match="would overwrite the input"):
                check_targets([Target(path, any_name)], [folder / "noise.bin", given], force=force)


def test_a_folder_that_is_read_gets_no_further_tables_and_keeps_its_own(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "far.csv").write_text("id,label\n")
    (folder / "far.csv").symlink_to(elsewhere / "far.csv")
    (elsewhere / "door").symlink_to(folder)
    for path in (folder / "new.csv", folder / "labels.csv", elsewhere / "door" / "new.tsv", Path("other.parquet")):
        with pytest.raises(ValueError, match="would be read as a table of the input folder"):
            check_targets([Target(path, LABELS)], [folder])
    with pytest.raises(ValueError, match=r"would overwrite the input '.*far\.csv'"):
        check_targets([Target(elsewhere / "far.csv", LABELS)], [folder], force=True)
    check_targets([Target(folder / "groups.model", MODEL), Target(elsewhere / "labels.csv", LABELS)], [folder])


def test_two_outputs_are_two_files(folder):
    for one, other in (("a", "./a"), ("a", "door/A"), ("groups.model", "hard")):
        if one == "groups.model":
            os.link("groups.model", "hard")
        (folder / "door").unlink(missing_ok=True)
        (folder / "door").symlink_to(folder)
        with pytest.raises(ValueError, match=r"-o '.*' and --save '.*' are the same file"):
            check_targets([Target(Path(one), MODEL, "-o"), Target(Path(other), MODEL, "--save")])
    check_targets([Target(Path("a"), MODEL), Target(Path("b"), MODEL)])


def test_a_report_has_the_name_of_a_page(folder):
    for name in ("page.pdf", "page", "page.csv"):
        with pytest.raises(ValueError, match=f"--report '{name}' .*, but a report of latefusion is written as .html"):
            check_targets([Target(Path(name), REPORT, "--report")])
    check_targets([Target(Path(name), REPORT) for name in ("new.html", "other.HTM")])


def test_folders_of_outputs(folder):
    kind = Kind("a folder of results", lambda path: not any(path.iterdir()), parts=lambda path: [path / "r.csv"])
    (folder / "out").mkdir()
    check_targets([Target(folder / "out", kind), Target(folder / "new", kind)], [folder])
    with pytest.raises(ValueError, match=r"exists and is not a folder of results.*force=True to write into it"):
        check_targets([Target(folder, kind)])
    with pytest.raises(ValueError, match="read as a table of the input folder"):
        check_targets([Target(folder, kind)], [folder], force=True)
    with pytest.raises(NotADirectoryError, match=r"noise\.bin' is a file. Give the name of a folder"):
        check_targets([Target(folder / "noise.bin", kind)])


def test_an_input_that_does_not_exist_is_left_to_the_reader(folder):
    check_targets([Target(folder / "new.csv", LABELS)], [folder / "new.csv"])


def test_functions_that_write_refuse_other_kinds(folder):
    before = (folder / "genes.csv").read_bytes()
    with pytest.raises(ValueError, match=r"'genes\.csv' exists and is not a model.*force=True"):
        lf.save(MODEL_OF_TWO, "genes.csv")
    assert (folder / "genes.csv").read_bytes() == before
    lf.save(MODEL_OF_TWO, "genes.csv", force=True)
    assert lf.load("genes.csv").n_clusters == 2
    with pytest.raises(ValueError, match=r"'genes\.csv' exists and is not a table of labels"):
        write_labels(FOUND, "genes.csv")
    write_labels(FOUND, "genes.csv", force=True)
    write_labels(FOUND, "genes.csv")
    assert (folder / "genes.csv").read_text().startswith("id,label,confidence")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_table_with_memberships_is_replaced_and_one_with_other_columns_is_not(tmp_path, suffix):
    path = tmp_path / f"labels{suffix}"
    write_labels(FOUND._replace(memberships=np.full((2, 2), 0.5)), path)
    write_labels(FOUND, path)
    (tmp_path / "own.csv").write_text("id,label,membership,member\n")
    with pytest.raises(ValueError, match="is not a table of labels"):
        write_labels(FOUND, tmp_path / "own.csv")
