package org.restbench.workload.npb;

/** The value by which a kernel is verified. */
public sealed interface Value {
    /** The number of checks that passed. */
    record Count(int passed) implements Value {}

    record Real(double number) implements Value {}

    /**
     * A complex number for each iteration.
     *
     * @param reIm alternating real and imaginary parts, in the order of the iterations
     */
    record Checksums(double... reIm) implements Value {}
}
