package org.restbench.workload.npb;

import java.util.Arrays;

/** What a kernel is verified by. */
public sealed interface Value {
    /** As a JSON value. */
    String json();

    /** How many checks passed, of as many as there are. */
    record Count(int passed) implements Value {
        @Override
        public String json() {
            return Integer.toString(passed);
        }
    }

    /** One number. */
    record Real(double number) implements Value {
        @Override
        public String json() {
            return jsonNumber(number);
        }
    }

    /**
     * A complex number an iteration.
     *
     * @param reIm real and imaginary parts in turn, in the order of the iterations
     */
    record Checksums(double... reIm) implements Value {
        @Override
        public String json() {
            StringBuilder pairs = new StringBuilder("[");
            for (int i = 0; i < reIm.length; i += 2) {
                pairs.append(i == 0 ? "[" : ",[").append(jsonNumber(reIm[i]));
                pairs.append(',').append(jsonNumber(reIm[i + 1])).append(']');
            }
            return pairs.append(']').toString();
        }

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
            return json();
        }
    }

    /** @throws ArithmeticException where JSON has no such number: a fault of the kernel */
    private static String jsonNumber(double number) {
        if (!Double.isFinite(number)) {
            throw new ArithmeticException("a kernel's result is " + number);
        }
        return Double.toString(number);
    }
}
