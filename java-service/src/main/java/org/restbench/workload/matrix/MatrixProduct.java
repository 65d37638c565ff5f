package org.restbench.workload.matrix;

import org.restbench.workload.RequestId;

/** What a client gets: the product of its two matrices. */
public record MatrixProduct(RequestId id, Matrix product) {}
