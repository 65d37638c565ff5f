package org.restbench.client.strategy;

/** How many calls may be in flight: a fixed number, or one that follows the service. Used under the batch's lock. */
final class Window {
    /** How often {@link #widen} is to be asked. */
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

    /** Begins at two a core and doubles while cores are idle; halves where the service is at its limit. */
    static Window adaptive(int limit, int cores) {
        int most = Math.min(limit, CAP);
        return new Window(Math.min(2 * cores, most), 1, most, cores);
    }

    int calls() {
        return calls;
    }

    /** After a cut, one more for each window of answers. */
    void answered() {
        if (wasCut && ++answers >= calls) {
            answers = 0;
            calls = Math.min(calls + 1, most);
        }
    }

    /** The service refused, or did not answer in time. */
    void refused(long nanos) {
        if (!wasCut || nanos - cutAt >= BETWEEN_CUTS_NANOS) {
            calls = Math.max(fewest, calls / 2);
            answers = 0;
            wasCut = true;
            cutAt = nanos;
        }
    }

    /** Every 2 ms: with no idle call, more to send, and idle cores, it doubles, until it is cut the first time. */
    void widen(int inFlight, int ready, int forCpu) {
        if (!wasCut && inFlight >= calls && ready > 0 && forCpu < cores) {
            calls = Math.min(2 * calls, most);
        }
    }
}
