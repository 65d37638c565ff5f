package org.restbench.affinity;

import java.io.UncheckedIOException;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.restbench.affinity.CoreAffinity.PinRefused;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes threads {@code pinned-1}, {@code pinned-2}, … that each pin themselves to a core of their own before anything
 * else. A thread whose pin is refused logs an error, stays alive, and fails {@link #requirePinned}: no work runs on it
 * unnoticed. A separate thread checks once a second whether the pins still hold, so that no work waits for the check.
 */
public final class PinnedThreads implements ThreadFactory, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PinnedThreads.class);
    private static final long WATCH_MILLIS = 1000;

    private final CoreAffinity affinity;
    private final List<Integer> cores;
    private final List<PinnedThread> made = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService watch;

    /** @param cores a core for each thread, in order; at least as many as there will be threads at once */
    public PinnedThreads(CoreAffinity affinity, List<Integer> cores) {
        this.affinity = affinity;
        this.cores = List.copyOf(cores);
        this.watch = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "pin-watch");
            thread.setDaemon(true);
            return thread;
        });
        watch.scheduleWithFixedDelay(this::look, WATCH_MILLIS, WATCH_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public Thread newThread(Runnable work) {
        int place = made.size();
        PinnedThread thread = new PinnedThread(work, "pinned-" + (place + 1), cores.get(place % cores.size()));
        made.add(thread);
        return thread;
    }

    private void look() {
        for (PinnedThread each : made) {
            try {
                each.look();
            } catch (UncheckedIOException ended) { // the thread has ended since isAlive()
                LOG.debug("{} cannot be looked up", each.getName(), ended);
            } catch (Throwable failed) { // even OutOfMemoryError: a scheduled task that throws is not run again
                LOG.warn(
                        "{} cannot be looked up: {}",
                        each.getName(),
                        failed.getClass().getName());
            }
        }
    }

    /**
     * Checks that the current thread, one of these, was pinned to its core when it was last checked.
     *
     * @throws PinRefused where it was not: the pin was refused, or another program has moved the thread and not moved
     *     it back
     */
    public void requirePinned() {
        String refusal = ((PinnedThread) Thread.currentThread()).refusal;
        if (refusal != null) {
            throw new PinRefused(refusal);
        }
    }

    /** Ends the checks, not the threads. */
    @Override
    public void close() {
        watch.shutdownNow();
    }

    private final class PinnedThread extends Thread {
        private final int core;
        private volatile Supplier<BitSet> pin;
        private volatile String refusal;

        PinnedThread(Runnable work, String name, int core) {
            super(work, name);
            this.core = core;
        }

        @Override
        public void run() {
            try {
                pin = affinity.pinCurrentThread(core);
                LOG.info("{} is pinned to core {}", getName(), core);
            } catch (PinRefused refused) {
                refuse(refused.getMessage());
            }
            super.run();
        }

        private void refuse(String reason) {
            refusal = reason;
            LOG.error("PIN REFUSED: {}; every request to the strategy pinned fails on {}", reason, getName());
        }

        void look() {
            if (pin == null || !isAlive()) {
                return;
            }
            BitSet now = pin.get();
            boolean pinned = now.cardinality() == 1 && now.get(core);
            if (pinned && refusal != null) {
                refusal = null;
                LOG.info("{} is pinned to core {} again", getName(), core);
            } else if (!pinned && refusal == null) {
                refuse("the pin to core " + core + " was lost: the thread may run on cores " + now);
            }
        }
    }
}
