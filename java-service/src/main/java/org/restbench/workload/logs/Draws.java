package org.restbench.workload.logs;

/**
 * The random numbers that rules and lines are drawn with: one stream, the same for the same seed in every service. The
 * multiplier is that of the NAS Parallel Benchmarks.
 */
final class Draws {
    private static final int MODULUS_BITS = 46;
    private static final long MODULUS_MASK = (1L << MODULUS_BITS) - 1;
    private static final long MULTIPLIER = 1_220_703_125L; // 5^13

    private long state;

    Draws(long seed) {
        this.state = 2 * seed + 1 & MODULUS_MASK;
    }

    /**
     * A number from 0 (inclusive) to {@code choices} (exclusive).
     *
     * @param choices at most 65536: of more than 2^17 the product would not fit 64 bits
     */
    int pick(int choices) {
        state = state * MULTIPLIER & MODULUS_MASK; // what 64 bits lose is above the modulus
        return (int) (state * choices >> MODULUS_BITS);
    }
}
