package org.restbench.affinity;

/** A thread is not pinned to the core that it was to be pinned to. */
public final class PinRefused extends RuntimeException {
    /** @param reason what was asked for and what the kernel reports; clients see it as well */
    public PinRefused(String reason) {
        super(reason);
    }
}
