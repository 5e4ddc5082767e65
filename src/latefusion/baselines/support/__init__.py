"""Functions that several comparison methods share and no other part of the package uses."""
