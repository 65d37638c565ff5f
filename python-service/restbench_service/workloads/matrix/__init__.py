"""Multiplication of two integer matrices, the study's request."""
