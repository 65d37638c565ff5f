package org.restbench.execution;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongConsumer;
import org.restbench.workload.ParallelLoop;

/** The study's M: a fixed pool made for the request and ended with it, one task per {@code unitsPerTask} units. */
record ThreadPool(ThreadBudget budget) implements Loops {
    /** The study's upper limit of threads for one request. */
    static final int MOST_THREADS = 100;

    /**
     * Longest wait for the end of the pool's threads: all tasks are done, or one of the threads could not be started.
     */
    private static final int END_SECONDS = 60;

    @Override
    public long threads(List<ParallelLoop.Size> loops) {
        return loops.isEmpty() ? 0 : threads(loops.get(0));
    }

    private static int threads(ParallelLoop.Size first) {
        return Math.min(first.tasks(), MOST_THREADS);
    }

    /** The pool has a thread for each task of the first loop, up to the limits; later loops use the same threads. */
    @Override
    public RequestLoop open(LongConsumer waited) {
        return new RequestLoop() {
            private int threads;
            private ExecutorService pool;

            @Override
            public void forEach(int units, int unitsPerTask, Body body) {
                if (pool == null) {
                    threads = budget.take(threads(new ParallelLoop.Size(units, unitsPerTask)), waited);
                    pool = Executors.newFixedThreadPool(threads, Tasks.threads("thread-pool-"));
                }
                Tasks.runAll(pool, Tasks.MOST_AT_ONCE, units, unitsPerTask, body);
            }

            @Override
            public void close() {
                if (pool != null) {
                    Tasks.end(pool, Deadline.afterSeconds(END_SECONDS));
                }
                budget.giveBack(threads);
            }
        };
    }
}
