package org.restbench.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Where time comes from: tests replace it. */
public interface Clock {
    Clock SYSTEM = new Clock() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }

        @Override
        public Runnable after(long nanos, Runnable action) {
            var due = new CompletableFuture<Void>();
            due.thenRun(action); // before it can be due: else it might run here, where the caller may hold a lock
            due.completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
            return () -> due.cancel(false);
        }
    };

    /** Since any moment. */
    long nanos();

    void sleep(long nanos) throws InterruptedException;

    /** Runs an action in so many nanoseconds on another thread; it must not block. Returned is what calls it off. */
    Runnable after(long nanos, Runnable action);
}
