package org.restbench.execution;

import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.restbench.workload.ParallelLoop;

/** The usual way in Java: a parallel stream over a loop's tasks, in a pool of one thread per core. */
final class ForkJoin implements Loops {
    private final AtomicInteger made = new AtomicInteger();
    private final ForkJoinPool pool;

    ForkJoin(int threads) {
        pool = new ForkJoinPool(threads, this::worker, null, false);
    }

    private ForkJoinWorkerThread worker(ForkJoinPool of) {
        ForkJoinWorkerThread worker = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(of);
        worker.setName("fork-join-" + made.incrementAndGet());
        return worker;
    }

    @Override
    public RequestLoop open(LongConsumer waited) {
        return (units, unitsPerTask, body) -> {
            Tasks.Failure failure = new Tasks.Failure(); // the pool itself would throw a copy of the exception
            Runnable loop = () -> IntStream.range(0, new ParallelLoop.Size(units, unitsPerTask).tasks())
                    .parallel()
                    .forEach(task -> failure.keep(() -> run(task, units, unitsPerTask, body)));
            Tasks.runAll(pool, List.of(loop));
            failure.rethrow();
        };
    }

    /** Runs a task unless the pool is ending, as Java 17 does not cancel the remaining tasks of a stream then. */
    private void run(int task, int units, int unitsPerTask, ParallelLoop.Body body) {
        if (pool.isTerminating()) {
            throw new StoppingException(null);
        }
        Tasks.run(task, units, unitsPerTask, body);
    }

    @Override
    public void close(Deadline deadline) {
        Tasks.end(pool, deadline);
    }
}
