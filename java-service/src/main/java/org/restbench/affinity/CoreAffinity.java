package org.restbench.affinity;

import java.util.BitSet;

/** The cores that the operating system allows, and the pinning of a thread to one of them. */
public interface CoreAffinity {
    /** The cores that this process may run on now, within its cpuset and its {@code taskset} mask. */
    BitSet coresOfProcess();

    /**
     * Pins the current thread to one core.
     *
     * @throws PinRefused where the thread may not run on exactly that core afterwards
     */
    PinnedCore pinCurrentThread(int core);

    /** A pin that was made, to check later whether it still holds. */
    @FunctionalInterface
    interface PinnedCore {
        /** The cores that the thread may run on now, read from the kernel each time. May be called by any thread. */
        BitSet allowedCores();
    }

    /** A thread is not pinned to the core that it was to be pinned to. */
    public static final class PinRefused extends RuntimeException {
        /** @param reason what was asked for and what the kernel reports; clients see it as well */
        public PinRefused(String reason) {
            super(reason);
        }
    }
}
