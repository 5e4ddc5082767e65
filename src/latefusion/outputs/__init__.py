"""What leaves the library: models as files, labels as frames and tables, and where they may be written."""

from latefusion.atomic_files import whole_file
from latefusion.outputs.labels import Labels, fitted_labels, labels_frame, predicted_labels, write_labels
from latefusion.outputs.model_files import ModelFileError, load, save
from latefusion.outputs.targets import check_targets

__all__ = [
    "Labels",
    "ModelFileError",
    "check_targets",
    "fitted_labels",
    "labels_frame",
    "load",
    "predicted_labels",
    "save",
    "whole_file",
    "write_labels",
]
