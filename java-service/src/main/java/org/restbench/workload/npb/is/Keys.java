package org.restbench.workload.npb.is;

import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/**
 * The keys to sort, with a bell-shaped distribution: each is a quarter of the sum of four random numbers, scaled to the
 * range.
 *
 * @param values one for each key, in [0, range)
 * @param shared whether other requests use the same array
 */
record Keys(int[] values, boolean shared) {
    private static final int DRAWS = 4;

    /** @param rangeBits log2 of the range */
    static Keys generate(int count, int rangeBits, long seed, boolean shared, ParallelLoop loop) {
        int[] values = loop.ints(count);
        // the sum of four states and the scaling are exact in integers, and the same as NPB's in double precision
        int shift = LinearCongruential.BITS + 2 - rangeBits;
        Blocks.of(count, DRAWS).forEach(loop, (from, to) -> {
            LinearCongruential random = LinearCongruential.after((long) DRAWS * from, seed);
            for (int i = from; i < to; i++) {
                long sum = random.nextBits() + random.nextBits() + random.nextBits() + random.nextBits();
                values[i] = (int) (sum >> shift);
            }
        });
        return new Keys(values, shared);
    }

    /** The keys in an array that a run may change. */
    int[] own() {
        return shared ? values.clone() : values;
    }
}
