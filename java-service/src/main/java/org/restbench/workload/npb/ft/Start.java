package org.restbench.workload.npb.ft;

import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/**
 * The source of a run's initial field. NPB draws the field within the timed region, so filling it is a part of the run.
 */
@FunctionalInterface
interface Start {
    void fill(Field field, ParallelLoop loop);

    /** Draws the random numbers anew for each field: alternating real and imaginary parts, point after point. */
    static Start drawn(long seed) {
        return (field, loop) -> Blocks.of(field.size(), 2).forEach(loop, (from, to) -> {
            LinearCongruential random = LinearCongruential.after(2L * from, seed);
            for (int point = from; point < to; point++) {
                field.re()[point] = random.next();
                field.im()[point] = random.next();
            }
        });
    }

    /** Copies a field that requests share. */
    static Start kept(Field kept) {
        return (field, loop) -> Blocks.of(field.size(), 2).forEach(loop, (from, to) -> {
            System.arraycopy(kept.re(), from, field.re(), from, to - from);
            System.arraycopy(kept.im(), from, field.im(), from, to - from);
        });
    }
}
