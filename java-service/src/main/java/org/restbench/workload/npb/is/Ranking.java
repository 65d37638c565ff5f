package org.restbench.workload.npb.is;

import org.restbench.workload.ParallelLoop;

/** Ranks one array of keys repeatedly, and changes the keys. Used by one run. */
final class Ranking {
    /** The distance between the two keys that an iteration changes, which is NPB's number of iterations. */
    private static final int ITERATIONS = 10;

    private final SortClass sizes;
    private final int[] keys;
    private final ParallelLoop loop;
    private final Histogram histogram;
    private int[] ranks;

    Ranking(SortClass sizes, int[] keys, ParallelLoop loop) {
        this.sizes = sizes;
        this.keys = keys;
        this.loop = loop;
        this.histogram = new Histogram(keys.length, sizes.range());
    }

    /** Changes two keys, ranks all keys, and returns how many of the test keys have their expected rank. */
    int rank(int iteration) {
        keys[iteration] = iteration;
        keys[iteration + ITERATIONS] = sizes.range() - iteration;
        int[] tested = sizes.testKeysOf(keys);
        ranks = histogram.cumulative(keys, loop);
        int right = 0;
        for (int j = 0; j < tested.length; j++) {
            int key = tested[j];
            boolean inRange = key > 0 && key < keys.length;
            right += inRange && ranks[key - 1] == sizes.expectedRank(j, iteration) ? 1 : 0;
        }
        return right;
    }

    /** Places each key by its rank and returns whether the keys are then sorted. The ranks are destroyed. */
    boolean sortsKeys() {
        int[] sorted = loop.ints(keys.length);
        for (int key : keys) {
            sorted[--ranks[key]] = key;
        }
        for (int i = 1; i < sorted.length; i++) {
            if (sorted[i - 1] > sorted[i]) {
                return false;
            }
        }
        return true;
    }
}
