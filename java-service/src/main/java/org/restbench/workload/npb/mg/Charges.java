package org.restbench.workload.npb.mg;

import java.util.Arrays;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/**
 * The right-hand side: +1 at a grid's ten largest random numbers, -1 at its ten smallest. Positions are in the
 * interior, axis 1 fastest, from 0.
 */
record Charges(int[] positive, int[] negative) {
    private static final int EACH = 10;

    static Charges place(Grid grid, long seed, ParallelLoop loop) {
        int planePoints = grid.n() * grid.n();
        Extremes[] largest = new Extremes[grid.n()];
        Extremes[] smallest = new Extremes[grid.n()];
        new Blocks(grid.n() * planePoints, planePoints).forEach(loop, (from, to) -> {
            int plane = from / planePoints;
            largest[plane] = new Extremes(EACH);
            smallest[plane] = new Extremes(EACH);
            find(from, to, seed, largest[plane], smallest[plane]);
        });
        return new Charges(all(largest), all(smallest));
    }

    private static void find(int from, int to, long seed, Extremes largest, Extremes smallest) {
        LinearCongruential random = LinearCongruential.after(from, seed);
        for (int position = from; position < to; position++) {
            long bits = random.nextBits();
            largest.offer(bits, position);
            smallest.offer(-bits, position);
        }
    }

    private static int[] all(Extremes[] parts) {
        Extremes all = new Extremes(EACH);
        for (Extremes part : parts) {
            all.offerAll(part);
        }
        return all.positions;
    }

    /** Writes all of v, ghosts included: 0 except at the charges. */
    void fill(Grid grid, double[] v, ParallelLoop loop) {
        Blocks.of(grid.side(), grid.plane())
                .forEach(loop, (from, to) -> Arrays.fill(v, grid.line(from, 0), grid.line(to, 0), 0));
        set(grid, positive, 1, v);
        set(grid, negative, -1, v);
        grid.fillPlanes(v, loop, i3 -> {});
    }

    private static void set(Grid grid, int[] positions, double charge, double[] v) {
        int n = grid.n();
        for (int position : positions) {
            v[grid.line(position / (n * n) + 1, position / n % n + 1) + position % n + 1] = charge;
        }
    }

    /** The largest of all values offered, and their positions. The initial values are below any value offered. */
    static final class Extremes {
        private final long[] values;
        final int[] positions;

        Extremes(int count) {
            values = new long[count];
            positions = new int[count];
            Arrays.fill(values, Long.MIN_VALUE);
        }

        /** Offers a value and its position; no two values may be equal. */
        void offer(long value, int position) {
            if (value > values[0]) {
                insert(value, position);
            }
        }

        void offerAll(Extremes others) {
            for (int k = 0; k < others.values.length; k++) {
                offer(others.values[k], others.positions[k]);
            }
        }

        /** Inserts a value in ascending order and drops the smallest. */
        private void insert(long value, int position) {
            int k = 1;
            for (; k < values.length && values[k] < value; k++) {
                values[k - 1] = values[k];
                positions[k - 1] = positions[k];
            }
            values[k - 1] = value;
            positions[k - 1] = position;
        }
    }
}
