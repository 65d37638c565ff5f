package org.restbench.client.strategy;

/** How many calls may be in flight: a fixed number, or one that adapts to the service. Used under the batch's lock. */
final class Window {
    /** Nanoseconds between two calls of {@link #widen}. */
    static final long TICK_NANOS = 2_000_000;

    private static final int CAP = 128;
    private static final long BETWEEN_CUTS_NANOS = 100_000_000;

    private final int fewest;
    private final int most;
    private final int cores;
    private int calls;
    private int answers;
    private boolean wasCut;
    private long cutAt;

    private Window(int begin, int fewest, int most, int cores) {
        calls = begin;
        this.fewest = fewest;
        this.most = most;
        this.cores = cores;
    }

    static Window fixed(int calls) {
        return new Window(calls, calls, calls, 1);
    }

    /** Starts at two calls per core, doubles while cores are idle, and halves where the service is at its limit. */
    static Window adaptive(int limit, int cores) {
        int most = Math.min(limit, CAP);
        return new Window(Math.min(2 * cores, most), 1, most, cores);
    }

    int calls() {
        return calls;
    }

    /** Counts an answer. After a cut the window grows by one for each full window of answers. */
    void answered() {
        if (wasCut && ++answers >= calls) {
            answers = 0;
            calls = Math.min(calls + 1, most);
        }
    }

    /** The service refused a request or a connection, or was late. Halves the window, at most once in 100 ms. */
    void refused(long nanos) {
        if (!wasCut || nanos - cutAt >= BETWEEN_CUTS_NANOS) {
            calls = Math.max(fewest, calls / 2);
            answers = 0;
            wasCut = true;
            cutAt = nanos;
        }
    }

    /**
     * Doubles the window where it is full, more calls are ready to be sent, and cores are idle; not after the first
     * cut.
     *
     * @param forCpu calls that wait for D or P
     */
    void widen(int inFlight, int ready, int forCpu) {
        if (!wasCut && inFlight >= calls && ready > 0 && forCpu < cores) {
            calls = Math.min(2 * calls, most);
        }
    }
}
