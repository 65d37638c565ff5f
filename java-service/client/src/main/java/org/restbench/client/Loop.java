package org.restbench.client;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
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
     * A team of threads {@code call-loop-N} of its own, 1 to 1024; 1 is {@link #IN_ORDER}. The threads end when they
     * had nothing to do for a minute.
     */
    static Loop team(int threads) {
        if (Limits.within("loop threads", threads, 1024) == 1) {
            return IN_ORDER;
        }
        ForkJoinPool pool = new ForkJoinPool(
                threads,
                owner -> {
                    var thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(owner);
                    thread.setName("call-loop-" + (thread.getPoolIndex() + 1));
                    return thread;
                },
                null,
                false);
        return (count, body) -> {
            try {
                pool.submit(() -> IntStream.range(0, count).parallel().forEach(body))
                        .get();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted within a document", stopped);
            } catch (ExecutionException wrong) {
                if (wrong.getCause() instanceof RuntimeException own) {
                    throw own;
                }
                throw new IllegalStateException(wrong.getCause());
            }
        };
    }
}
