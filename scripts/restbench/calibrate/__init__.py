"""Calibration: checks that the measuring chain is right."""
