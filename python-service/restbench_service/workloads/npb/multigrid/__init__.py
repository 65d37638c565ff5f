"""MG: multigrid V-cycles for a periodic 3-D Poisson problem."""
