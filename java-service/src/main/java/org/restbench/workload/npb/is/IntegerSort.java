package org.restbench.workload.npb.is;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;
import org.restbench.workload.npb.Problem;

/**
 * IS: ranks integer keys ten times, changes two keys before each ranking, and sorts the keys by the last ranks.
 *
 * @param sizes the class
 * @param seed of the random numbers: NPB's, except in tests
 */
public record IntegerSort(SortClass sizes, long seed) implements Problem<IntegerSort.Keys> {
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

    /**
     * The keys: each is a quarter of the sum of four random numbers, scaled to [0, range).
     *
     * @param shared whether other requests use the same array
     */
    record Keys(int[] values, boolean shared) {
        private static final int DRAWS = 4;

        static Keys generate(int count, int rangeBits, long seed, boolean shared, ParallelLoop loop) {
            int[] values = new int[count];
            // the sum of four states and the scaling are exact in integers, and the same as NPB's in double precision
            int shift = LinearCongruential.BITS + 2 - rangeBits;
            Blocks.of(count, DRAWS).forEach(loop, (from, to) -> {
                LinearCongruential random = LinearCongruential.after((long) DRAWS * from, seed);
                for (int i = from; i < to; i++) {
                    long sum = random.nextBits() + random.nextBits() + random.nextBits() + random.nextBits();
                    values[i] = (int) (sum >> shift);
                }
            });
            return new Keys(values, shared);
        }

        /** The keys in an array that a run may change. */
        int[] own() {
            return shared ? values.clone() : values;
        }
    }

    /** Ranks one array of keys repeatedly, and changes the keys. Used by one run. */
    static final class Ranking {
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
            int[] sorted = new int[keys.length];
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

    /** Counts the keys up to each value, in a histogram for each task; these are added. Used by one run. */
    static final class Histogram {
        private static final int FEWEST_KEYS_A_TASK = 1 << 14;

        private final int range;
        private final int count;
        private final int keysPerTask;
        private final int[][] partial;

        /** @param range number of possible values of a key */
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
                int[] own = cleared(used.getAndIncrement());
                for (int i = from; i < to; i++) {
                    own[keys[i]]++;
                }
            });
            add(used.get(), loop);
            return prefixSums(partial[0]);
        }

        /** A task's zeroed histogram. Needs no lock: a number is one task's, and loops follow one another. */
        private int[] cleared(int number) {
            if (partial[number] == null) {
                partial[number] = new int[range];
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
}
