"""CG: the smallest eigenvalue of a random sparse matrix, by conjugate gradients."""
