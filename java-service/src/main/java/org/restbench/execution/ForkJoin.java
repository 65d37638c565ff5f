package org.restbench.execution;

import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * The JVM's common way: a parallel stream over a loop's tasks, in a {@link ForkJoinPool} of the service with a thread a
 * core. Its threads split the tasks among themselves and steal from each other.
 */
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
    public RequestLoop open(Job<?, ?> job) {
        return (units, unitsPerTask, body) -> {
            Tasks.Failure failure = new Tasks.Failure(); // the pool would throw a copy of it
            Runnable loop = () -> IntStream.range(0, Tasks.count(units, unitsPerTask))
                    .parallel()
                    .forEach(task -> failure.keep(() -> Tasks.run(task, units, unitsPerTask, body)));
            Tasks.runAll(pool, List.of(loop));
            failure.rethrow();
        };
    }

    @Override
    public void close(Deadline deadline) {
        Tasks.end(pool, deadline);
    }
}
