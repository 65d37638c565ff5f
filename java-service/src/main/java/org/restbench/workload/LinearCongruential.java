package org.restbench.workload;

/**
 * The random numbers of the NAS Parallel Benchmarks, and of the lines and rules of logs. Every service draws the same
 * numbers from the same seed: {@code x' = 5^13 x mod 2^46}, with the value {@code x 2^-46} in (0, 1). A product of
 * 64-bit machine words has the right low 46 bits, so the reference's halves of 23 bits are not needed.
 */
public final class LinearCongruential {
    /** NPB's seed; it is never returned as a value. */
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

    /** The next number as an integer from 0 to {@code choices} (exclusive), at most 65536 to fit 64 bits. */
    public int pick(int choices) {
        return (int) (nextBits() * choices >> BITS);
    }
}
