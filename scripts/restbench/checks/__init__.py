"""The checks of a calibration, one file a check: each compares the chain with something known."""
