package org.restbench.execution;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.restbench.workload.ParallelLoop;

/** The study's M: a fixed pool made for this loop and ended with it, a task each {@code unitsPerTask} units. */
final class ThreadPoolLoop implements ParallelLoop {
    /** The study's upper limit of threads for one request. */
    static final int MOST_THREADS = 100;

    @Override
    public void forEach(int units, int unitsPerTask, Body body) {
        int tasks = Tasks.count(units, unitsPerTask);
        ExecutorService pool =
                Executors.newFixedThreadPool(Math.min(tasks, MOST_THREADS), new NamedThreads("thread-pool-"));
        try {
            Tasks.runAll(pool, Tasks.ofGrain(units, unitsPerTask, body));
        } finally {
            Tasks.end(pool);
        }
    }
}
