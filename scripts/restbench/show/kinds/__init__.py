"""What is shown of each kind of experiment: a module each, which ends with its VIEW."""
