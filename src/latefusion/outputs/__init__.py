"""What leaves the library: models as files, labels as frames and tables."""

from latefusion.atomic_files import check_target, whole_file
from latefusion.outputs.labels import Labels, fitted_labels, labels_frame, predicted_labels, write_labels
from latefusion.outputs.model_files import ModelFileError, load, save

__all__ = [
    "Labels",
    "ModelFileError",
    "check_target",
    "fitted_labels",
    "labels_frame",
    "load",
    "predicted_labels",
    "save",
    "whole_file",
    "write_labels",
]
