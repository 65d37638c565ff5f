"""From raw data to numbers."""
