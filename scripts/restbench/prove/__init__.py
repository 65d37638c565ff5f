"""Proofs that a strategy does what its name says, seen by the kernel and by the database."""
