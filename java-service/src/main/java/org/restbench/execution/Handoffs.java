package org.restbench.execution;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * What it takes to give a job to another thread and get its result back: the least of the medians of bursts, which are
 * made over the whole calibration, each to a new thread. The first ones run code that is not compiled, and a thread
 * that happens to live on another core than its caller has to be woken there, each time; single tries are also too
 * quick, where the thread was not asleep yet. (One burst found 7 microseconds at one start and 20 at another, and
 * moderate work was taken for small.)
 */
final class Handoffs {
    private static final int TRIES = 100;

    private final LongSupplier clock;
    private long leastNanos = Long.MAX_VALUE;

    /** @param clock nanoseconds */
    Handoffs(LongSupplier clock) {
        this.clock = clock;
    }

    /** One burst. */
    void measure() {
        long[] nanos = new long[TRIES];
        try (Crew crew = new Crew(1, new NamedThreads("calibrate-"))) {
            for (int i = 0; i < TRIES; i++) {
                long start = clock.getAsLong();
                crew.call(() -> null);
                nanos[i] = Math.max(1, clock.getAsLong() - start);
            }
        }
        Arrays.sort(nanos);
        leastNanos = Math.min(leastNanos, nanos[TRIES / 2]);
    }

    /** Of all bursts; there must have been one. */
    long leastNanos() {
        return leastNanos;
    }
}
