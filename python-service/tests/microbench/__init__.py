"""Microbenchmarks of the service's parts without HTTP, run by pyperf: python -m microbench."""
