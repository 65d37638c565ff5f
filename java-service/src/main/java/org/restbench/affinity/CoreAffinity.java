package org.restbench.affinity;

import java.util.BitSet;

/** What the operating system says of cores, and the one thing it can be asked: to keep a thread on one of them. */
public interface CoreAffinity {
    /** The cores that this process may run on now: its cpuset and its {@code taskset} mask are already taken off. */
    BitSet coresOfProcess();

    /** The cores that the current thread may run on now, from the kernel and not from memory. */
    BitSet coresOfCurrentThread();

    /**
     * Keeps the current thread on one core.
     *
     * @throws PinRefused where the thread is not on exactly that core afterwards
     */
    void pinCurrentThread(int core);
}
