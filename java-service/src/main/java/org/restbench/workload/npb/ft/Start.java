package org.restbench.workload.npb.ft;

import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/** Where a run's field comes from: NPB draws it within the timed region, so building it is a part of the run. */
@FunctionalInterface
interface Start {
    void fill(Field field, ParallelLoop loop);

    /** Draws each field anew: real and imaginary parts in turn, point after point. */
    static Start drawn(long seed) {
        return (field, loop) -> Blocks.of(field.size(), 2).forEach(loop, (from, to) -> {
            LinearCongruential random = LinearCongruential.after(2L * from, seed);
            for (int point = from; point < to; point++) {
                field.re()[point] = random.next();
                field.im()[point] = random.next();
            }
        });
    }

    /** Copies a field that is kept. */
    static Start kept(Field kept) {
        return (field, loop) -> Blocks.of(field.size(), 2).forEach(loop, (from, to) -> {
            System.arraycopy(kept.re(), from, field.re(), from, to - from);
            System.arraycopy(kept.im(), from, field.im(), from, to - from);
        });
    }
}
