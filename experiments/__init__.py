"""Runs whose numbers we commit: a folder each, with what it is, why, and how long it takes."""
