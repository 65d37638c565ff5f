"""Codecs between bytes and the values that workloads compute with, independent of execution."""
