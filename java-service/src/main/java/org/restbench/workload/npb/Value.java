package org.restbench.workload.npb;

import java.util.Arrays;

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
    record Checksums(double... reIm) implements Value {
        @Override
        public boolean equals(Object other) {
            return other instanceof Checksums checksums && Arrays.equals(reIm, checksums.reIm);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(reIm);
        }

        @Override
        public String toString() {
            return Arrays.toString(reIm);
        }
    }
}
