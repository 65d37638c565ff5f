package org.restbench.workload.npb.mg;

import java.util.Arrays;

/** The largest of all values offered, and their positions. The initial values are below any value offered. */
final class Extremes {
    private final long[] values;
    private final int[] positions;

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

    int[] positions() {
        return positions;
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
