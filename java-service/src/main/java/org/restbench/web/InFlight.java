package org.restbench.web;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the requests being worked on and turns away what is over the limit. */
final class InFlight {
    private final int limit;
    private final AtomicInteger count = new AtomicInteger();

    InFlight(int limit) {
        this.limit = limit;
    }

    int count() {
        return count.get();
    }

    /** @throws Refused 008 at the limit */
    void enter() {
        if (count.getAndUpdate(now -> now < limit ? now + 1 : now) >= limit) {
            throw Refused.busy(limit);
        }
    }

    void leave() {
        count.decrementAndGet();
    }
}
