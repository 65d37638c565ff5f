"""Whether a strategy does what its name says, as the kernel sees it."""
