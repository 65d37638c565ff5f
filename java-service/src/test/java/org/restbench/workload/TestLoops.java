package org.restbench.workload;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

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
            public double[] doubles(int length) {
                double[] array = ParallelLoop.super.doubles(length);
                arrays.add(array);
                return array;
            }
        };
    }

    /** Cuts the units into pieces of random sizes, not at tasks, and runs them in random order. */
    public static ParallelLoop shuffled(Random random) {
        return (units, unitsPerTask, body) -> {
            List<int[]> pieces = new ArrayList<>();
            for (int from = 0; from < units; ) {
                int to = Math.min(units, from + 1 + random.nextInt(2 * unitsPerTask));
                pieces.add(new int[] {from, to});
                from = to;
            }
            Collections.shuffle(pieces, random);
            pieces.forEach(piece -> body.run(piece[0], piece[1]));
        };
    }
}
