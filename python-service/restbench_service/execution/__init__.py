"""Where the stages of a workload run and how its loops are cut. Nothing here knows of matrices."""
