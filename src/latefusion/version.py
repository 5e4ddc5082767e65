"""The version of the package, in a place that every room may read."""

__version__ = "0.1.0.dev0"
