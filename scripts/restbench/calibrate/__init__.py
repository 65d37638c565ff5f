"""Whether the measuring chain is right."""
