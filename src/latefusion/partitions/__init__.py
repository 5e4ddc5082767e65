"""From similarities to partitions: leading eigenvectors, their mean, missing rows, neighborhoods."""

from latefusion.partitions.base_partitions import fit_base_partitions
from latefusion.partitions.partitions import Block, Mean, Partitions

__all__ = ["Block", "Mean", "Partitions", "fit_base_partitions"]
