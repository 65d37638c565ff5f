"""Experiment and claims files (TOML), their cells, plans and claims, and the records of a run."""
