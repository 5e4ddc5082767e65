"""Write .mat files of version 7.3 the way MATLAB does, as far as views and labels go."""

import numpy as np
import scipy.sparse


def save_mat73(path, variables):
    """Reversed axes, cells as references into #refs#, sparse matrices as groups, 512 bytes of MATLAB's before it."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as root:
        for name, value in variables.items():
            _store(root, name, value, root)
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def _store(group, name, value, root):
    import h5py

    if isinstance(value, list):
        held = root.require_group("#refs#")
        references = []
        for item in value:
            key = f"r{len(held)}"
            _store(held, key, item, root)
            references.append(held[key].ref)
        node = group.create_dataset(name, (len(value), 1), dtype=h5py.ref_dtype)  # a cell array of shape (1, m)
        for row, reference in enumerate(references):
            node[row, 0] = reference
        node.attrs["MATLAB_class"] = np.bytes_("cell")
    elif isinstance(value, str):
        node = group.create_dataset(name, data=np.array([[ord(sign)] for sign in value], dtype=np.uint16))
        node.attrs["MATLAB_class"] = np.bytes_("char")
    elif isinstance(value, dict):
        node = group.create_group(name)
        node.attrs["MATLAB_class"] = np.bytes_("struct")
    elif scipy.sparse.issparse(value):
        matrix = scipy.sparse.csc_matrix(value)
        node = group.create_group(name)
        node.attrs["MATLAB_class"] = np.bytes_("double")
        node.attrs["MATLAB_sparse"] = np.uint64(matrix.shape[0])
        node["jc"] = matrix.indptr.astype(np.uint64)
        if matrix.nnz:
            node["ir"], node["data"] = matrix.indices.astype(np.uint64), matrix.data
    else:
        node = group.create_dataset(name, data=np.atleast_2d(value).T)
        node.attrs["MATLAB_class"] = np.bytes_("double")
