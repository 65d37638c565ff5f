package org.restbench.core;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the requests in flight and refuses those over the limit. */
public final class Admission {
    private final int limit;
    private final AtomicInteger inFlight = new AtomicInteger();

    public Admission(int limit) {
        this.limit = limit;
    }

    public int inFlight() {
        return inFlight.get();
    }

    /** @throws RequestRefused 008 where the limit is reached */
    void enter() {
        if (inFlight.getAndUpdate(now -> now < limit ? now + 1 : now) >= limit) {
            throw new RequestRefused(Refusal.busy("the service is at its limit of requests in flight"));
        }
    }

    void leave() {
        inFlight.decrementAndGet();
    }
}
