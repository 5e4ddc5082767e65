"""From one view as it was given to numbers on the right scale, for training samples and new ones alike."""

from latefusion.encoding.coordinates import Encoding
from latefusion.encoding.label_coding import LabelCoding
from latefusion.encoding.preparation import Preparation, fit_preparation

__all__ = ["Encoding", "LabelCoding", "Preparation", "fit_preparation"]
