package org.restbench.workload.matrix;

/** How the product's elements are computed. */
public enum Kernel {
    /** The plain triple loop of the study: row, column, inner. */
    LOOPS,
    /** The loop that the just-in-time compiler turns into vector instructions. */
    NATIVE
}
