package org.restbench.web;

import java.util.function.Supplier;
import org.restbench.memory.MemoryBudget;

/** A request's place among those in flight and its memory, given back together and once. */
final class Admission implements AutoCloseable {
    private final InFlight inFlight;
    private final MemoryBudget.Hold memory;
    private boolean over;

    private Admission(InFlight inFlight, MemoryBudget.Hold memory) {
        this.inFlight = inFlight;
        this.memory = memory;
    }

    /**
     * @param hold takes the memory
     * @throws Refused 008 at the limit of requests in flight
     * @throws org.restbench.memory.MemoryRefused where the memory does not fit; the place is free again then
     */
    static Admission to(InFlight inFlight, Supplier<MemoryBudget.Hold> hold) {
        inFlight.enter();
        try {
            return new Admission(inFlight, hold.get());
        } catch (Throwable refused) {
            inFlight.leave();
            throw refused;
        }
    }

    MemoryBudget.Hold memory() {
        return memory;
    }

    /** On the request's own thread; more than once does nothing. */
    @Override
    public void close() {
        if (!over) {
            over = true;
            memory.close();
            inFlight.leave();
        }
    }
}
