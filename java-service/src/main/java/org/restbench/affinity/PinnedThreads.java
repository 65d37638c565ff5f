package org.restbench.affinity;

import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes threads {@code pinned-1}, {@code pinned-2}, … that each bind themselves to a core of their own before anything
 * else. A thread whose pin is refused says so loudly, lives on, and fails {@link #requirePinned}: no work runs on it
 * unnoticed.
 */
public final class PinnedThreads implements ThreadFactory {
    private static final Logger LOG = LoggerFactory.getLogger(PinnedThreads.class);

    private final CoreAffinity affinity;
    private final List<Integer> cores;
    private final AtomicInteger made = new AtomicInteger();

    /** @param cores a core for each thread, in order; at least as many as there will be threads at once */
    public PinnedThreads(CoreAffinity affinity, List<Integer> cores) {
        this.affinity = affinity;
        this.cores = List.copyOf(cores);
    }

    @Override
    public Thread newThread(Runnable work) {
        int number = made.getAndIncrement();
        return new PinnedThread(work, "pinned-" + (number + 1), cores.get(number % cores.size()));
    }

    /**
     * Holds that the current thread, one of these, is on its core at this moment.
     *
     * @throws PinRefused where it never was, or somebody has moved it since
     */
    public void requirePinned() {
        PinnedThread thread = (PinnedThread) Thread.currentThread();
        if (thread.refusal != null) {
            throw new PinRefused(thread.refusal);
        }
        var now = affinity.coresOfCurrentThread();
        if (now.cardinality() != 1 || !now.get(thread.core)) {
            throw new PinRefused("the pin to core " + thread.core + " was lost: the thread may run on cores " + now);
        }
    }

    private final class PinnedThread extends Thread {
        private final int core;
        private String refusal;

        PinnedThread(Runnable work, String name, int core) {
            super(work, name);
            this.core = core;
        }

        @Override
        public void run() {
            try {
                affinity.pinCurrentThread(core);
                LOG.info("{} is pinned to core {}", getName(), core);
            } catch (PinRefused refused) {
                refusal = refused.getMessage();
                LOG.error("PIN REFUSED: {}; every request to the strategy pinned will fail on {}", refusal, getName());
            }
            super.run();
        }
    }
}
