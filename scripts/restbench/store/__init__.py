"""The files of a run: their layout, reading and writing."""
