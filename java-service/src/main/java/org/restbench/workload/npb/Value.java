package org.restbench.workload.npb;

/** What a kernel is verified by. */
public sealed interface Value {
    /** How many checks passed, of as many as there are. */
    record Count(int passed) implements Value {}

    record Real(double number) implements Value {}

    /**
     * A complex number an iteration.
     *
     * @param reIm real and imaginary parts in turn, in the order of the iterations
     */
    record Checksums(double... reIm) implements Value {}
}
