package org.restbench.execution;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * How many requests are here now, and how many were at once a moment ago: their clients read the answers and will be
 * back. A core that is idle just then is about to be needed. Without a lock: each request counts itself several times,
 * and whoever lost its core while it held one would keep all others waiting.
 */
final class Concurrency {
    /** What was longer ago than two of these is forgotten, what was within one is known. */
    static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier clock;
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicReference<Period> current;

    /**
     * @param begun nanoseconds by the clock
     * @param mostBefore at once in the period before
     * @param most at once in this one, so far
     */
    private record Period(long begun, int mostBefore, AtomicInteger most) {
        void saw(int here) {
            if (here > most.get()) {
                most.accumulateAndGet(here, Math::max);
            }
        }
    }

    /** @param clock nanoseconds */
    Concurrency(LongSupplier clock) {
        this.clock = clock;
        this.current = new AtomicReference<>(new Period(clock.getAsLong(), 0, new AtomicInteger()));
    }

    void arrived() {
        current();
        int here = now.incrementAndGet();
        Period period;
        do {
            period = current();
            period.saw(here);
        } while (period != current.get()); // it ended meanwhile, perhaps before this was seen
    }

    void left() {
        current(); // who leaves was here in a period that begins now
        now.decrementAndGet();
    }

    int now() {
        return now.get();
    }

    /** The most that were here at once in this period and the one before. */
    int recently() {
        Period period = current();
        return Math.max(period.most.get(), period.mostBefore);
    }

    /** The period that it is, begun when it is time to: with those who are here, as none has come or gone in it. */
    private Period current() {
        Period last = current.get();
        long time = clock.getAsLong();
        long passed = time - last.begun;
        if (passed < PERIOD_NANOS) {
            return last;
        }
        int here = now.get();
        int mostBefore = passed < 2 * PERIOD_NANOS ? last.most.get() : here;
        current.compareAndSet(last, new Period(time - passed % PERIOD_NANOS, mostBefore, new AtomicInteger(here)));
        return current.get();
    }
}
