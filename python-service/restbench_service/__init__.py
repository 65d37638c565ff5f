"""The Python service of restbench: one CPU-bound request under many execution techniques."""

VERSION = "0.1.0"
