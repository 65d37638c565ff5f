package org.restbench.workload.npb;

import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Problem.Outcome;

/** Runs of kernels, right and wrong. */
public final class Runs {
    private Runs() {}

    /** A run from its input on. */
    public static <T> Outcome run(Problem<T> problem, ParallelLoop loop) {
        return problem.run(problem.input(false, loop), loop);
    }

    /** NPB's seed with so many numbers already drawn. */
    public static long seedAfter(int draws) {
        return LinearCongruential.after(draws - 1L, LinearCongruential.SEED).nextBits();
    }
}
