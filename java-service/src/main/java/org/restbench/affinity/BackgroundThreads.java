package org.restbench.affinity;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes threads that give way to all others of the service: each takes the policy {@code SCHED_IDLE} before anything
 * else, which needs no privilege. A nice value would not do: it says how much a thread gets, and one that has just been
 * woken waits all the same for the slice of whoever is running, up to a tick of the kernel's clock; of such a thread it
 * takes the core at once (sched(7), and {@code wakeup_preempt_fair} of Linux 6). One that was refused it says so and
 * works on, as nothing is wrong but the turn it gets.
 */
public final class BackgroundThreads implements ThreadFactory {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundThreads.class);

    /** In {@code /proc/[pid]/stat}, counted from 0 behind the thread's name, which may hold anything (proc(5)). */
    private static final int POLICY_FIELD = 38;

    private final String prefix;
    private final Runnable giveWay;
    private final AtomicInteger made = new AtomicInteger();

    /** @param prefix of the threads' names, before a number from 1 */
    public BackgroundThreads(String prefix) {
        this(prefix, BackgroundThreads::askToGiveWay);
    }

    /** @param giveWay lowers the current thread's priority, as far as it can */
    BackgroundThreads(String prefix, Runnable giveWay) {
        this.prefix = prefix;
        this.giveWay = giveWay;
    }

    @Override
    public Thread newThread(Runnable work) {
        return new Thread(
                () -> {
                    lowerPriority();
                    work.run();
                },
                prefix + made.incrementAndGet());
    }

    /** Whether the operating system lets its threads give way, as one finds that tries it. */
    public boolean giveWay() {
        FutureTask<Boolean> trial = new FutureTask<>(() -> {
            giveWay.run();
            return currentThreadGivesWay();
        });
        new Thread(trial, prefix + "trial").start();
        try {
            return trial.get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException("a thread's priority could not be tried", failed);
        }
    }

    private void lowerPriority() {
        giveWay.run();
        if (!currentThreadGivesWay()) {
            String name = Thread.currentThread().getName();
            LOG.warn("LOW PRIORITY REFUSED: {} is scheduled as others; small requests may wait for its work", name);
        }
    }

    private static void askToGiveWay() {
        try {
            LibC.INSTANCE.sched_setscheduler(LibC.CURRENT_THREAD, LibC.SCHED_IDLE, new int[] {0});
        } catch (LinkageError noLibrary) {
            LOG.debug("the C library cannot be called", noLibrary); // what the kernel says afterwards is told
        }
    }

    /** From the kernel, and not from what was asked for. */
    static boolean currentThreadGivesWay() {
        Path stat = Path.of("/proc/thread-self/stat");
        try {
            String line = Files.readString(stat);
            String policy = line.substring(line.lastIndexOf(')') + 2).split(" ")[POLICY_FIELD];
            return Integer.parseInt(policy) == LibC.SCHED_IDLE;
        } catch (IOException unreadable) {
            throw new UncheckedIOException("cannot read " + stat + " (the service needs Linux)", unreadable);
        }
    }

    /** {@code sched_setscheduler(2)}: on Linux a policy is a thread's. */
    private interface LibC extends Library {
        int CURRENT_THREAD = 0;
        int SCHED_IDLE = 5;
        LibC INSTANCE = Native.load("c", LibC.class);

        /** @param parameters a {@code struct sched_param}: the static priority, 0 for this policy */
        int sched_setscheduler(int thread, int policy, int[] parameters);
    }
}
