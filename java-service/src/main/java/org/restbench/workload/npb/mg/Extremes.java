package org.restbench.workload.npb.mg;

import java.util.Arrays;

/** The few largest of all values offered, and where they stood. Starts with places that every value is above. */
final class Extremes {
    private final long[] values;
    private final int[] positions;

    Extremes(int count) {
        values = new long[count];
        positions = new int[count];
        Arrays.fill(values, Long.MIN_VALUE);
    }

    /** No two values are equal. */
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

    /** Ascending; the smallest makes room. */
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
