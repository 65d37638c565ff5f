package org.restbench.workload;

/**
 * The random numbers of the NAS Parallel Benchmarks, and of the lines and rules of logs, the same for the same seed in
 * every service: {@code x' = 5^13 x mod 2^46}, of which the value is {@code x 2^-46}, in (0, 1). The product's low 46
 * bits are those of 64-bit machine words, so no halves of 23 bits are needed as in the reference.
 */
public final class LinearCongruential {
    /** NPB's seed; it is never itself a value. */
    public static final long SEED = 314_159_265;

    public static final int BITS = 46;

    private static final long MULTIPLIER = 1_220_703_125; // 5^13
    private static final long MASK = (1L << BITS) - 1;

    private long state;

    public LinearCongruential(long seed) {
        state = seed;
    }

    /** The generator as it is after {@code draws} numbers from the seed, in time that grows with their logarithm. */
    public static LinearCongruential after(long draws, long seed) {
        long state = seed;
        long power = MULTIPLIER;
        for (long rest = draws; rest > 0; rest >>= 1) {
            if ((rest & 1) == 1) {
                state = state * power & MASK;
            }
            power = power * power & MASK;
        }
        return new LinearCongruential(state);
    }

    /** The next number as an integer below 2^46. */
    public long nextBits() {
        state = state * MULTIPLIER & MASK;
        return state;
    }

    /** The next number, in (0, 1), exact. */
    public double next() {
        return nextBits() * 0x1p-46;
    }

    /**
     * The next number as one from 0 (inclusive) to {@code choices} (exclusive).
     *
     * @param choices at most 65536: of more than 2^17 the product would not fit 64 bits
     */
    public int pick(int choices) {
        return (int) (nextBits() * choices >> BITS);
    }
}
