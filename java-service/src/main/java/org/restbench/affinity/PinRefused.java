package org.restbench.affinity;

/** A thread is not on the core it was to be pinned to. */
public final class PinRefused extends RuntimeException {
    /** @param reason what was asked and what the kernel says, for the client too */
    public PinRefused(String reason) {
        super(reason);
    }
}
