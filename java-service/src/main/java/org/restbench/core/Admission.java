package org.restbench.core;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts requests and refuses those over the limit. */
public final class Admission {
    private final int limit;
    private final String what;
    private final AtomicInteger inFlight = new AtomicInteger();

    /** @param what the requests that are counted, for the message of a refusal */
    public Admission(int limit, String what) {
        this.limit = limit;
        this.what = what;
    }

    public int inFlight() {
        return inFlight.get();
    }

    /** @throws RequestRefused 008 where the limit is reached */
    void enter() {
        if (inFlight.getAndUpdate(now -> now < limit ? now + 1 : now) >= limit) {
            throw new RequestRefused(Refusal.busy("the service is at its limit of requests " + what));
        }
    }

    void leave() {
        inFlight.decrementAndGet();
    }
}
