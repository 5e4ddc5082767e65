"""Results as files and frames: models, labels, and checks of the paths that are written to."""

from latefusion.atomic_files import atomic_write
from latefusion.outputs.labels import Labels, fitted_labels, labels_frame, predicted_labels, write_labels
from latefusion.outputs.model_files import ModelFileError, load, save
from latefusion.outputs.targets import check_targets

__all__ = [
    "Labels",
    "ModelFileError",
    "atomic_write",
    "check_targets",
    "fitted_labels",
    "labels_frame",
    "load",
    "predicted_labels",
    "save",
    "write_labels",
]
