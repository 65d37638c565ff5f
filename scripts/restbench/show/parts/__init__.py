"""The sections of a run's page, each made of what its `run.json` holds."""
