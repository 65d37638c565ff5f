"""FT: a 3-D partial differential equation, solved by FFTs."""
