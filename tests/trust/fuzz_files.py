"""Damage files at random and read them: ``python -m tests.trust.fuzz_files KIND SEED COUNT``.

Every damaged file must be read as something of the same kind or be refused by name, within ten seconds and a gibibyte
of memory more than is in use already. A process of its own reads it: a reader that crashes takes its process with it.
With LATEFUSION_KEEP=FOLDER the files that went wrong are kept there.
"""

import contextlib
import gzip
import hashlib
import io
import json
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io

import latefusion as lf

DATA = lf.datasets.make_views(12, 2, n_views=2, n_features=3, random_state=0)
MEMORY = 2**30
SECONDS = 10.0
REFUSALS = (ValueError, OSError)


def write_npz(path):
    sparse = {"view_1_data": [1.0, 2.0], "view_1_indices": [0, 1], "view_1_indptr": [0, 1, *[2] * 11]}
    np.savez(path, view_0=DATA.views.arrays[0], **sparse, view_1_shape=[12, 3], y=DATA.target, names=["a", "b"])


def write_mat(path):
    cell = np.empty((1, 2), dtype=object)
    cell[0, :] = DATA.views.arrays
    scipy.io.savemat(path, {"X": cell, "Y": DATA.target}, do_compression=True)


def write_mat73(path):
    from tests.datasets.mat73 import save_mat73

    save_mat73(path, {"X": DATA.views.arrays, "Y": DATA.target.astype(float)})


def write_h5mu(path):
    import h5py

    from tests.datasets.test_h5mu import store_obs

    names = [f"cell {row}" for row in range(12)]
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "MuData"
        store_obs(file, names)
        for name, view in DATA.views.items():
            group = file.create_group(f"mod/{name}")
            group.attrs["encoding-type"] = "anndata"
            group.create_dataset("X", data=view).attrs["encoding-type"] = "array"
            store_obs(group, names)


def write_h5ad(path):
    import h5py

    from tests.datasets.test_h5mu import store_obs

    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        file.create_dataset("X", data=DATA.views.arrays[0]).attrs["encoding-type"] = "array"
        store_obs(file, [f"cell {row}" for row in range(12)])
        file.move("obs", "var")
        store_obs(file, [f"cell {row}" for row in range(12)])
        del file["var/_index"]
        file["var/_index"] = np.array(["a", "b", "c"], dtype=object)


def write_compressed(path):
    plain = path.with_name("plain.csv")
    write_csv(plain)
    path.write_bytes(gzip.compress(plain.read_bytes()))


def write_csv(path):
    pd.DataFrame(DATA.views.arrays[0]).assign(label=DATA.target).to_csv(path, index_label="id")


def write_labels(path):
    columns = {"kmeans": DATA.target, "words": np.array(["=a", "b"])[DATA.target], "gaps": [1, None, 2, -1] * 3}
    frame = pd.DataFrame(columns, index=[f"p{row}" for row in range(12)])
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index_label="id", sep=";")


def write_parquet(path):
    pd.DataFrame(DATA.views.arrays[0], columns=list("abc")).to_parquet(path)


def mixed():
    """A table with columns of all kinds, and gaps."""
    frame = pd.DataFrame(DATA.views.arrays[0], columns=list("abc"))
    frame["word"] = ["red", "blue", None, "red"] * 3
    frame["day"] = pd.to_datetime(["2020-01-01", None, "2021-02-03"] * 4)
    frame["size"] = pd.Categorical(["S", "M", "L"] * 4, categories=["S", "M", "L"], ordered=True)
    frame.loc[3, "b"] = np.nan
    return frame


def write_mixed_csv(path):
    mixed().assign(label=DATA.target).to_csv(path, index_label="id", sep=";", decimal=",", na_rep="?")


def write_mixed_parquet(path):
    mixed().to_parquet(path)


def write_feather(path):
    mixed().to_feather(path)


def write_arrow(path):
    mixed().to_feather(path, compression="uncompressed")


def write_tenx(path):
    from tests.datasets.test_tenx import write_version_3

    write_version_3(path)


def write_excel(path):
    with pd.ExcelWriter(path) as writer:
        mixed().to_excel(writer, sheet_name="mixed")
        pd.DataFrame(DATA.views.arrays[1]).to_excel(writer, sheet_name="numbers")


def write_model(path):
    lf.save(lf.GlobalAlignmentClustering(2, random_state=0).fit(DATA.views), path)


def write_rich_model(path):
    """One with missing views, graphs, kernels and a search for the number of clusters."""
    data = lf.datasets.make_views(40, 2, n_views=2, n_features=3, random_state=0)
    mask = np.arange(80).reshape(40, 2) % 7 > 0
    views = lf.Views(dict(data.views.items()), mask=mask, sample_ids=[f"s{row}" for row in range(40)])
    lf.save(lf.LateFusionClustering(range(2, 4), random_state=0).fit(views), path)


def read_views(path):
    found = lf.datasets.load_views(path)
    assert len(found.views) >= 0


def read_labels(path):
    found = lf.datasets.load_clusterings([path])
    assert found.views.observed.any(axis=1).all()


def read_model(path):
    assert hasattr(lf.load(path), "predict")


def read_and_use_model(path):
    """What a forged model computes is nonsense, but it may not crash the process."""
    model = lf.load(path)
    with contextlib.suppress(Exception):
        model.predict(DATA.views, return_confidence=True, return_novelty=True)


KINDS = {
    "npz": (".npz", write_npz, read_views),
    "mat": (".mat", write_mat, read_views),
    "mat73": (".mat", write_mat73, read_views),
    "h5mu": (".h5mu", write_h5mu, read_views),
    "h5ad": (".h5ad", write_h5ad, read_views),
    "csv": (".csv", write_csv, read_views),
    "compressed": (".csv.gz", write_compressed, read_views),
    "labels": (".csv", write_labels, read_labels),
    "labels parquet": (".parquet", write_labels, read_labels),
    "parquet": (".parquet", write_parquet, read_views),
    "mixed csv": (".csv", write_mixed_csv, read_views),
    "mixed parquet": (".parquet", write_mixed_parquet, read_views),
    "feather": (".feather", write_feather, read_views),
    "arrow": (".arrow", write_arrow, read_views),
    "excel": (".xlsx", write_excel, read_views),
    "forged excel": (".xlsx", write_excel, read_views),
    "tenx": (".h5", write_tenx, read_views),
    "model": (".model", write_model, read_model),
    "forged": (".model", write_rich_model, read_and_use_model),
}


def damage(content, rng):
    """One to three accidents: flipped bytes, a piece gone, doubled or blank, another number, an early end."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, length = int(rng.integers(len(content))), int(rng.integers(1, 33))
        kind = rng.integers(7)
        if kind == 0:
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            content[at : at + length] = rng.bytes(length)
        elif kind == 2:
            del content[at : at + length]
        elif kind == 3:
            content[at:at] = content[at : at + length]
        elif kind == 4:
            content[at : at + length] = bytes([int(rng.choice([0, 255]))]) * length
        elif kind == 5:
            content[at : at + 8] = struct.pack("<q", int(rng.choice([2**62, 2**40, -1, 2**31])))
        else:
            del content[max(at, 1) :]
        if not content:
            content = bytearray(b"\0")
    return bytes(content)


def forge(content, rng):
    """A model file with damage to its state or to one array, and with checksums that fit again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header, state = json.loads(parts.pop("model.json")), parts.pop("state.json")
    if rng.integers(2):
        state = damage(state, rng)
    else:
        old = str(rng.choice(sorted(parts)))
        array = damage(parts.pop(old), rng)
        new = f"{hashlib.sha256(array).hexdigest()}.npy"
        parts[new], state = array, state.replace(old.encode(), new.encode())
    header["state"] = hashlib.sha256(state).hexdigest()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, part in {"model.json": json.dumps(header), "state.json": state, **parts}.items():
            archive.writestr(name, part)
    return stream.getvalue()


def forge_member(content, rng):
    """A zip archive with damage inside of one member, and a checksum that fits."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = str(rng.choice(sorted(parts)))
    parts[chosen] = damage(parts[chosen], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return stream.getvalue()


DAMAGES = {"forged": forge, "forged excel": forge_member}


def attempt(read, path):
    """Exit status of a process that reads the file: 0 read, 1 refused by name, 2 anything else."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, in_use + MEMORY))
            read(path)
            status = 0
        except REFUSALS as error:
            status = 1 if path.name in str(error) else _complain(error)
        except BaseException as error:  # noqa: BLE001
            status = _complain(error)
        finally:
            os._exit(status)
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


def _complain(error):
    print(f"ends in {error!r}", file=sys.stderr, flush=True)  # noqa: T201
    return 2


def main(kind, seed, count):
    """Damage the file so many times; say how often it was read, refused, and neither."""
    suffix, write, read = KINDS[kind]
    warnings.simplefilter("ignore")
    found = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path, victim = Path(folder, f"whole{suffix}"), Path(folder, f"damaged{suffix}")
        write(path)
        content = path.read_bytes()
        read(path)
        rng = np.random.default_rng(seed)
        for _ in range(count):
            victim.write_bytes(DAMAGES.get(kind, damage)(content, rng))
            status = attempt(read, victim)
            found[{0: "read", 1: "refused", -signal.SIGKILL: "stuck"}.get(status, "wrong")] += 1
            if status not in (0, 1) and (keep := os.environ.get("LATEFUSION_KEEP")):
                Path(keep, f"{kind}-{seed}-{found.total()}{suffix}").write_bytes(victim.read_bytes())
    print(json.dumps({"kind": kind, "seed": seed, **found}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
