"""IS: the ranks of integer keys, by counting."""
