"""Analysis: from a run's raw data to numbers with intervals."""
