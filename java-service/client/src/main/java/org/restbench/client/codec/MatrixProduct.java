package org.restbench.client.codec;

/** A product, with the id of the request that asked for it. */
public record MatrixProduct(String requestId, Matrix rows) {}
