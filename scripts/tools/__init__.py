"""Measurements for those who work on the suite: run from `scripts`, as `python -m tools.NAME`."""
