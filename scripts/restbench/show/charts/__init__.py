"""Every chart of the suite: one definition gives the interactive chart and the SVG file."""
