"""From numbers to verdicts and sentences."""
