package org.restbench.client;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Runs a body for independent elements of one document, its rows for example. */
public interface Loop {
    /** One after the other on the caller's thread. */
    Loop IN_ORDER = (count, body) -> {
        for (int i = 0; i < count; i++) {
            body.accept(i);
        }
    };

    /** For 0 to {@code count - 1}, in any order; what a body throws is thrown. */
    void forEach(int count, IntConsumer body);

    /**
     * A team of threads {@code loop-N} of its own, 1 to 1024; 1 is {@link #IN_ORDER}. The threads end when they had
     * nothing to do for 1 s.
     */
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
