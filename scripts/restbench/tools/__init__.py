"""Measuring programs for those who work on the suite."""
