package org.restbench.client.codec;

/** Two matrices to be multiplied. */
public record MatrixInput(String requestId, Matrix one, Matrix two) {}
