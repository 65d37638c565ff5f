"""Where the stages of a workload run and how its loops are cut; no workload is imported here."""
