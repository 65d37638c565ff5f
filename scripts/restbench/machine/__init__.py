"""The machine: cores, clock, locks, identity, doctor, processes that end with us."""
