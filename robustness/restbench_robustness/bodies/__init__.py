"""Where messages come from: Hypothesis strategies, a file for each kind, and a table of them."""
