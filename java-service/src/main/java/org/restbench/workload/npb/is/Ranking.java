package org.restbench.workload.npb.is;

import org.restbench.workload.ParallelLoop;

/** Ranks one array of keys again and again. Belongs to one run, and changes the keys. */
final class Ranking {
    /** How far after the first changed key of an iteration the second stands. */
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

    /** Changes two keys, ranks all, and says how many of the test keys have the rank they must have. */
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

    /** Puts each key where its rank says, which uses the ranks up, and says whether the keys are then sorted. */
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
