package org.restbench.affinity;

import java.util.BitSet;

/** What the operating system says of cores, and the one thing it can be asked: to keep a thread on one of them. */
public interface CoreAffinity {
    /** The cores that this process may run on now: its cpuset and its {@code taskset} mask are already taken off. */
    BitSet coresOfProcess();

    /**
     * Keeps the current thread on one core.
     *
     * @throws PinRefused where the thread is not on exactly that core afterwards
     */
    PinnedCore pinCurrentThread(int core);

    /** A pin as it was made, to check later whether it holds. */
    @FunctionalInterface
    interface PinnedCore {
        /** The cores that the thread may run on now, from the kernel and not from memory; asked by any thread. */
        BitSet allowedCores();
    }
}
