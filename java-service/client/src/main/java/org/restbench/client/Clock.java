package org.restbench.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The source of time, by default the system's; tests replace it. */
public interface Clock {
    Clock SYSTEM = new Clock() {};

    /** Nanoseconds since an arbitrary origin, as {@link System#nanoTime}. */
    default long nanos() {
        return System.nanoTime();
    }

    default void sleep(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos);
    }

    /** Runs an action, which must not block, on another thread after nanoseconds. Running the result cancels it. */
    default Runnable after(long nanos, Runnable action) {
        var due = new CompletableFuture<Void>();
        due.thenRun(action); // before the timeout is set: else it might run on this thread, which may hold a lock
        due.completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
        return () -> due.cancel(false);
    }
}
