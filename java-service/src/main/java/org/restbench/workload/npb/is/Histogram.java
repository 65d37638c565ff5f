package org.restbench.workload.npb.is;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/**
 * Counts, for each value, the keys that are at most as large. Each task counts into a histogram of its own; these are
 * then added. One object serves all iterations of a run.
 */
final class Histogram {
    private static final int FEWEST_KEYS_A_TASK = 1 << 14;

    private final int range;
    private final int count;
    private final int keysPerTask;
    private final int[][] partial;

    /**
     * @param count number of keys
     * @param range number of possible values of a key
     */
    Histogram(int count, int range) {
        this.count = count;
        this.range = range;
        this.keysPerTask = keysPerTask(range);
        this.partial = new int[mostTasks(count, range)][];
    }

    /** A task with fewer keys than its histogram has places would spend more time on adding than on counting. */
    private static int keysPerTask(int range) {
        return Math.max(range, FEWEST_KEYS_A_TASK);
    }

    /** Largest number of histograms in use at once; both arguments are powers of two. */
    static int mostTasks(int count, int range) {
        return Math.max(1, count / keysPerTask(range));
    }

    /** The number of keys ≤ v, for each v; valid until the next call. */
    int[] cumulative(int[] keys, ParallelLoop loop) {
        AtomicInteger used = new AtomicInteger();
        loop.forEach(count, keysPerTask, (from, to) -> {
            int[] own = cleared(used.getAndIncrement(), loop);
            for (int i = from; i < to; i++) {
                own[keys[i]]++;
            }
        });
        add(used.get(), loop);
        return prefixSums(partial[0]);
    }

    /**
     * The zeroed histogram of a task. It needs no lock: each number belongs to one task, and the next loop begins when
     * this one has ended.
     */
    private int[] cleared(int number, ParallelLoop loop) {
        if (partial[number] == null) {
            partial[number] = loop.ints(range);
        } else {
            Arrays.fill(partial[number], 0);
        }
        return partial[number];
    }

    private void add(int tasks, ParallelLoop loop) {
        if (tasks > 1) {
            Blocks.of(range, tasks).forEach(loop, (from, to) -> {
                for (int task = 1; task < tasks; task++) {
                    addRange(partial[0], partial[task], from, to);
                }
            });
        }
    }

    private static void addRange(int[] sum, int[] term, int from, int to) {
        for (int v = from; v < to; v++) {
            sum[v] += term[v];
        }
    }

    private static int[] prefixSums(int[] counts) {
        int sum = 0;
        for (int v = 0; v < counts.length; v++) {
            sum += counts[v];
            counts[v] = sum;
        }
        return counts;
    }
}
