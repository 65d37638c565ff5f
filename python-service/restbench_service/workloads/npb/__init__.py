"""The NAS Parallel Benchmarks IS, CG, MG and FT in numpy, written from NPB 3.4's definitions."""
