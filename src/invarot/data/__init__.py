"""Data that ships with the package; see README.md beside this file for its source."""
