"""The order in which a run measures its trials, and when the run ends."""
