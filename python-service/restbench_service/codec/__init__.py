"""Between bytes and what a workload computes with. Nothing here knows where it runs."""
