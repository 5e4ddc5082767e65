"""Data sets with several views: computed from what scikit-learn ships, made up, or read from files."""

from latefusion.datasets.embedded import load_breast_cancer_views, load_digits_views
from latefusion.datasets.files import load_views
from latefusion.datasets.synthetic import make_views

__all__ = ["load_breast_cancer_views", "load_digits_views", "load_views", "make_views"]
