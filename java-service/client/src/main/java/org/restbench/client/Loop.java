package org.restbench.client;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Runs a loop body for the independent elements of one document, for example the rows of a matrix. */
public interface Loop {
    /** Runs the elements one after the other on the caller's thread. */
    Loop IN_ORDER = (count, body) -> {
        for (int i = 0; i < count; i++) {
            body.accept(i);
        }
    };

    /** Runs the body for 0 to {@code count - 1}, in any order. Rethrows an exception of the body. */
    void forEach(int count, IntConsumer body);

    /** A loop on its own 1 to 1024 threads, {@code loop-N}, each until idle for 1 s; with 1 {@link #IN_ORDER}. */
    static Loop team(int threads) {
        if (Limits.within("loop threads", threads, 1024) == 1) {
            return IN_ORDER;
        }
        AtomicInteger number = new AtomicInteger();
        ForkJoinPool.ForkJoinWorkerThreadFactory named = pool -> {
            var thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
            thread.setName("loop-" + number.incrementAndGet());
            return thread;
        };
        var pool = new ForkJoinPool(threads, named, null, false, threads, threads, 0, null, 1, TimeUnit.SECONDS);
        return (count, body) -> pool.submit(
                        () -> IntStream.range(0, count).parallel().forEach(body))
                .join();
    }
}
