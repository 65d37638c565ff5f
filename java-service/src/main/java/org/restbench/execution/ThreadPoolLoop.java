package org.restbench.execution;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.restbench.workload.ParallelLoop;

/** The study's M: a fixed pool made for this loop and ended with it, a task each {@code unitsPerTask} units. */
final class ThreadPoolLoop implements ParallelLoop {
    /** The study's upper limit of threads for one request. */
    static final int MOST_THREADS = 100;

    private final ThreadBudget budget;

    ThreadPoolLoop(ThreadBudget budget) {
        this.budget = budget;
    }

    @Override
    public void forEach(int units, int unitsPerTask, Body body) {
        int threads = budget.take(Math.min(Tasks.count(units, unitsPerTask), MOST_THREADS));
        try {
            onPoolOf(threads, units, unitsPerTask, body);
        } finally {
            budget.giveBack(threads);
        }
    }

    private static void onPoolOf(int threads, int units, int unitsPerTask, Body body) {
        ExecutorService pool = Executors.newFixedThreadPool(threads, new NamedThreads("thread-pool-"));
        try {
            Tasks.runAll(pool, Tasks.MOST_AT_ONCE, units, unitsPerTask, body);
        } finally {
            Tasks.end(pool, Tasks.LOOP_END_SECONDS);
        }
    }
}
