"""The machine: cores, clock, lock, identity, checks, and child processes of the harness."""
