"""Rules that say what each line of a log means."""
