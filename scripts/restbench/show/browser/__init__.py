"""The results browser: all runs of a folder as one page of static files."""
