"""Converts each view to numbers on a suitable scale, in the same way for training samples and new samples."""

from latefusion.encoding.column_statistics import ColumnStatistics, column_statistics
from latefusion.encoding.coordinates import Encoding
from latefusion.encoding.label_coding import LabelCoding
from latefusion.encoding.preparation import Preparation, fit_preparation

__all__ = ["ColumnStatistics", "Encoding", "LabelCoding", "Preparation", "column_statistics", "fit_preparation"]
