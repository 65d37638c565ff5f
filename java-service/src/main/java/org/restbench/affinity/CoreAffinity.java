package org.restbench.affinity;

import java.util.BitSet;
import java.util.function.Supplier;

/** The cores that the operating system allows, and the pinning of a thread to one of them. */
public interface CoreAffinity {
    /** The cores that this process may run on now, within its cpuset and its {@code taskset} mask. */
    BitSet coresOfProcess();

    /**
     * @return reads from the kernel, on any thread, the cores that the pinned thread may run on by then
     * @throws PinRefused where the thread may not run on exactly that core afterwards
     */
    Supplier<BitSet> pinCurrentThread(int core);

    /** A thread is not pinned to the core that it was to be pinned to. */
    public static final class PinRefused extends RuntimeException {
        /** @param reason what was asked for and what the kernel reports; clients see it as well */
        public PinRefused(String reason) {
            super(reason);
        }
    }
}
