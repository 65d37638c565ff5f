package org.restbench.execution;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * How many requests are here, and how many were at once a moment ago: their clients read the answers and will be back.
 * A core that is idle just then is about to be needed. Without a lock, which would keep all others waiting whenever its
 * holder lost its core.
 */
final class RecentConcurrency {
    /** What was longer ago than two of these is forgotten, what was within one is known. */
    static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int COUNT_BITS = 32;

    private final LongSupplier clock;
    private final long startNanos;
    private final AtomicInteger now = new AtomicInteger();

    /** For even and for odd periods: the last one's number in the upper half, the most at once in it in the lower. */
    private final AtomicLongArray most = new AtomicLongArray(2);

    /** @param clock nanoseconds */
    RecentConcurrency(LongSupplier clock) {
        this.clock = clock;
        this.startNanos = clock.getAsLong();
    }

    void arrived() {
        saw(now.incrementAndGet());
    }

    void left() {
        saw(now.getAndDecrement()); // who leaves was here in this period, though it may have come in an earlier one
    }

    private void saw(int here) {
        long period = period();
        most.accumulateAndGet((int) (period & 1), period << COUNT_BITS | here, Math::max);
    }

    private long period() {
        return (clock.getAsLong() - startNanos) / PERIOD_NANOS;
    }

    /** The most that were here at once in this period and the one before. */
    int recently() {
        long period = period();
        return Math.max(now.get(), Math.max(mostIn(period), mostIn(period - 1)));
    }

    private int mostIn(long period) {
        long seen = most.get((int) (period & 1));
        return seen >> COUNT_BITS == period ? (int) seen : 0;
    }
}
