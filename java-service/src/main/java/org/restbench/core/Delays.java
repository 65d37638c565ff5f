package org.restbench.core;

import io.micrometer.core.instrument.util.NamedThreadFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The delays that requests ask for: response time without work. A request that waits holds its place in flight and its
 * body, but no thread. All waits end when the service stops.
 */
public final class Delays implements AutoCloseable {
    final int maxMillis;
    private final Admission waiting;
    private final ScheduledThreadPoolExecutor timer =
            new ScheduledThreadPoolExecutor(1, new NamedThreadFactory("delay-timer"));

    private volatile boolean stopping;

    /** @param maxInFlight limit of requests in flight; half may wait, so that others are served meanwhile */
    public Delays(int maxMillis, int maxInFlight) {
        this.maxMillis = maxMillis;
        this.waiting = new Admission(Math.max(1, maxInFlight / 2), "that wait for their delay");
    }

    int waiting() {
        return waiting.inFlight();
    }

    /**
     * Begins a wait, which is never shorter than asked unless the service stops.
     *
     * @return completed when the wait is over, on the timer's thread, which must not be blocked
     * @throws RequestRefused 008 where the limit of requests that wait is reached
     */
    CompletableFuture<Void> begin(int millis) {
        CompletableFuture<Void> wait = new CompletableFuture<>();
        if (millis == 0) {
            wait.complete(null);
            return wait;
        }
        waiting.enter();
        CompletableFuture<Void> over = wait.thenRun(waiting::leave);
        timer.schedule(() -> wait.complete(null), millis, TimeUnit.MILLISECONDS);
        if (stopping) {
            wait.complete(null);
        }
        return over;
    }

    /** Ends all waits; those that begin from now on are over at once. */
    public void end() {
        stopping = true;
        timer.getQueue().forEach(Runnable::run);
    }

    /** Ends all waits and the timer. To be called when no more requests can arrive. */
    @Override
    public void close() {
        end();
        timer.shutdownNow();
    }
}
