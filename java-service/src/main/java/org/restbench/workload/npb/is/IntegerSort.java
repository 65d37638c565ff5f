package org.restbench.workload.npb.is;

import java.util.List;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Kernel;
import org.restbench.workload.npb.Outcome;
import org.restbench.workload.npb.Problem;

/**
 * IS: ranks integer keys ten times, changes two keys before each ranking, and sorts the keys by the last ranks.
 *
 * @param sizes the class
 * @param seed of the random numbers: NPB's, except in tests
 */
public record IntegerSort(SortClass sizes, long seed) implements Problem<Keys> {
    private static final int ITERATIONS = 10;
    private static final int TEST_KEYS = 5;
    private static final double CHECKS = ITERATIONS * TEST_KEYS + 1;

    public static Kernel kernel() {
        return Kernel.of("IS", SortClass.ALL, sizes -> new IntegerSort(sizes, LinearCongruential.SEED));
    }

    @Override
    public String name() {
        return sizes.name();
    }

    @Override
    public Keys input(boolean kept, ParallelLoop loop) {
        return Keys.generate(sizes.keys(), sizes.rangeBits(), seed, kept, loop);
    }

    @Override
    public Outcome run(Keys input, ParallelLoop loop) {
        Ranking ranking = new Ranking(sizes, input.own(), loop);
        ranking.rank(1);
        double passed = 0;
        long start = System.nanoTime();
        for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
            passed += ranking.rank(iteration);
        }
        long nanos = System.nanoTime() - start;
        passed += ranking.sortsKeys() ? 1 : 0;
        return new Outcome(passed == CHECKS, List.of(passed), List.of(CHECKS), ITERATIONS, nanos, millionOperations());
    }

    @Override
    public double millionOperations() {
        return 1e-6 * ITERATIONS * sizes.keys();
    }

    /** The keys, their sorted copy, and the histograms. */
    @Override
    public long workingBytes() {
        long histograms = (long) Histogram.mostTasks(sizes.keys(), sizes.range()) * sizes.range();
        return Integer.BYTES * (2L * sizes.keys() + histograms);
    }

    @Override
    public long keptBytes() {
        return (long) Integer.BYTES * sizes.keys();
    }
}
