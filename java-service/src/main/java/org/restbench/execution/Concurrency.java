package org.restbench.execution;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many requests are here now, and how many were at once a moment ago: their clients read the answers and will be
 * back. A core that is idle just then is about to be needed.
 */
final class Concurrency {
    /** What was longer ago than two of these is forgotten, what was within one is known. */
    static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier clock;
    private int now;
    private int most;
    private int mostBefore;
    private long begun;

    /** @param clock nanoseconds */
    Concurrency(LongSupplier clock) {
        this.clock = clock;
        this.begun = clock.getAsLong();
    }

    synchronized void arrived() {
        turn();
        now++;
        most = Math.max(most, now);
    }

    synchronized void left() {
        turn();
        now--;
    }

    synchronized int now() {
        return now;
    }

    /** The most that were here at once in this period and the one before. */
    synchronized int recently() {
        turn();
        return Math.max(most, mostBefore);
    }

    /** Begins a new period when it is time to; nobody came or went since the last look. */
    private void turn() {
        long time = clock.getAsLong();
        long passed = time - begun;
        if (passed >= PERIOD_NANOS) {
            mostBefore = passed < 2 * PERIOD_NANOS ? most : now;
            most = now;
            begun = time - passed % PERIOD_NANOS;
        }
    }
}
