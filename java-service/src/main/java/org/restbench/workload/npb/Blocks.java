package org.restbench.workload.npb;

import org.restbench.workload.ParallelLoop;

/**
 * A range of units cut into blocks, each worth a task of its own. The boundaries of the blocks depend on the work
 * alone, not on the strategy. Sums are computed block by block and then added in the blocks' order, so that a kernel's
 * result is the same to the last bit on any thread and on any number of them.
 *
 * @param unitsPerBlock the last block may have fewer
 */
public record Blocks(int units, int unitsPerBlock) {
    /** Point updates, or multiplications, below which handing work to a thread costs more than the work. */
    private static final int WORTH_A_TASK = 1 << 14;

    /** The most blocks at once under any technique: the memory of a block counts so many times. */
    public static final int MOST_AT_ONCE = 100;

    /** @param workPerUnit in point updates or multiplications */
    public static Blocks of(int units, long workPerUnit) {
        return new Blocks(units, (int) Math.max(1, Math.min(units, WORTH_A_TASK / Math.max(1, workPerUnit))));
    }

    /** A sum over the units of one block, from inclusive to exclusive. */
    @FunctionalInterface
    public interface Sum {
        double of(int from, int to);
    }

    public int count() {
        return (units + unitsPerBlock - 1) / unitsPerBlock;
    }

    /** Runs the body once for each block. A single block runs on the caller's thread, as there is nothing to share. */
    public void forEach(ParallelLoop loop, ParallelLoop.Body body) {
        if (count() == 1) {
            body.run(0, units);
            return;
        }
        loop.forEach(count(), 1, (from, to) -> {
            for (int block = from; block < to; block++) {
                body.run(start(block), start(block + 1));
            }
        });
    }

    public double sum(ParallelLoop loop, Sum sum) {
        double[] partial = loop.doubles(count());
        forEach(loop, (from, to) -> partial[from / unitsPerBlock] = sum.of(from, to));
        double total = 0;
        for (double part : partial) {
            total += part;
        }
        return total;
    }

    private int start(int block) {
        return (int) Math.min(units, (long) block * unitsPerBlock);
    }
}
