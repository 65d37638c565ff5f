package org.restbench.execution;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * The number of requests in progress now, and the highest number at once in the last one to two seconds. Clients that
 * have just got their answers will soon send the next requests, so that a core which is idle at this moment is about to
 * be needed. There is no lock, as all requests would wait whenever the holder of the lock lost its core.
 */
final class RecentConcurrency {
    /** Numbers of the last period are always known, numbers of more than two periods ago are forgotten. */
    static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int COUNT_BITS = 32;

    private final LongSupplier clock;
    private final long startNanos;
    private final AtomicInteger now = new AtomicInteger();

    /**
     * An entry each for even and odd periods: the number of the last such period in the upper half, the most requests
     * at once in that period in the lower half.
     */
    private final AtomicLongArray most = new AtomicLongArray(2);

    /** @param clock in nanoseconds */
    RecentConcurrency(LongSupplier clock) {
        this.clock = clock;
        this.startNanos = clock.getAsLong();
    }

    void arrived() {
        saw(now.incrementAndGet());
    }

    void left() {
        saw(now.getAndDecrement()); // the request was here in this period, though it may have arrived in an earlier one
    }

    private void saw(int here) {
        long period = period();
        most.accumulateAndGet((int) (period & 1), period << COUNT_BITS | here, Math::max);
    }

    private long period() {
        return (clock.getAsLong() - startNanos) / PERIOD_NANOS;
    }

    /** The most requests at once in this period and the one before. */
    int recently() {
        long period = period();
        return Math.max(now.get(), Math.max(mostIn(period), mostIn(period - 1)));
    }

    private int mostIn(long period) {
        long seen = most.get((int) (period & 1));
        return seen >> COUNT_BITS == period ? (int) seen : 0;
    }
}
