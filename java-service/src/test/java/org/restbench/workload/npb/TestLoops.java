package org.restbench.workload.npb;

import java.util.ArrayList;
import java.util.List;
import org.restbench.workload.ParallelLoop;

/** Loops that run as no strategy does. */
public final class TestLoops {
    private TestLoops() {}

    /** All units at once. */
    public static final ParallelLoop IN_ORDER = (units, unitsPerTask, body) -> body.run(0, units);

    /** A task each natural grain, from the last to the first. */
    public static final ParallelLoop BACKWARDS = (units, unitsPerTask, body) -> {
        for (int from = (units - 1) / unitsPerTask * unitsPerTask; from >= 0; from -= unitsPerTask) {
            body.run(from, Math.min(units, from + unitsPerTask));
        }
    };

    /** After each loop, all double precision numbers have lost what single precision cannot hold. */
    public static ParallelLoop singlePrecision() {
        List<double[]> arrays = new ArrayList<>();
        return new ParallelLoop() {
            @Override
            public void forEach(int units, int unitsPerTask, Body body) {
                body.run(0, units);
                for (double[] array : arrays) {
                    for (int i = 0; i < array.length; i++) {
                        array[i] = (float) array[i];
                    }
                }
            }

            @Override
            public double[] doubles(int... shape) {
                double[] array = ParallelLoop.super.doubles(shape);
                arrays.add(array);
                return array;
            }
        };
    }

    /** A run from its input on. */
    public static <T> Outcome run(Problem<T> problem, ParallelLoop loop) {
        return problem.run(problem.input(false, loop), loop);
    }

    /** NPB's seed with so many numbers already drawn. */
    public static long seedAfter(int draws) {
        return LinearCongruential.after(draws - 1L, LinearCongruential.SEED).nextBits();
    }
}
