"""Data sets with several views: computed from what scikit-learn ships, made up, read from files, or downloaded."""

from latefusion.datasets.catalogue import data_folder, find_datasets, known_datasets, load_dataset
from latefusion.datasets.clusterings import load_clusterings
from latefusion.datasets.collection import load_files
from latefusion.datasets.download import cache_folder
from latefusion.datasets.embedded import load_breast_cancer_views, load_digits_views
from latefusion.datasets.fetchers import fetch_citations, fetch_three_sources, fetch_uci_multifeature
from latefusion.datasets.files import load_views, read_header
from latefusion.datasets.synthetic import make_views

__all__ = [
    "cache_folder",
    "data_folder",
    "fetch_citations",
    "fetch_three_sources",
    "fetch_uci_multifeature",
    "find_datasets",
    "known_datasets",
    "load_breast_cancer_views",
    "load_clusterings",
    "load_dataset",
    "load_digits_views",
    "load_files",
    "load_views",
    "make_views",
    "read_header",
]
