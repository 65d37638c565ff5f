package org.restbench.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongConsumer;
import org.restbench.workload.ParallelLoop;

/** One pool for the service, one thread per core. A loop is cut into one block of whole tasks per thread. */
record SharedPool(int threads, ExecutorService pool) implements Loops {
    SharedPool(int threads) {
        this(threads, Executors.newFixedThreadPool(threads, Tasks.threads("shared-")));
    }

    @Override
    public RequestLoop open(LongConsumer waited) {
        return (units, unitsPerTask, body) -> {
            long tasks = new ParallelLoop.Size(units, unitsPerTask).tasks();
            int blocks = (int) Math.min(threads, tasks);
            List<Runnable> work = new ArrayList<>(blocks);
            for (int block = 0; block < blocks; block++) {
                int from = (int) (tasks * block / blocks) * unitsPerTask;
                int to = (int) Math.min(units, tasks * (block + 1) / blocks * unitsPerTask);
                work.add(() -> body.run(from, to));
            }
            Tasks.runAll(pool, work);
        };
    }

    @Override
    public void close(Deadline deadline) {
        Tasks.end(pool, deadline);
    }
}
