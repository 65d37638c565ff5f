package org.restbench.affinity;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes threads that give way to others of the service: each takes a higher nice value before anything else, which
 * needs no privilege. Not the highest, and not the policy {@code SCHED_IDLE}: both also lose to whatever else the
 * machine does (with SCHED_IDLE, next to others' work, throughput was two thirds of that at nice value 5), and small
 * requests were served no sooner. A thread that was refused it says so and works on, as nothing is wrong but the turn
 * it gets.
 */
public final class BackgroundThreads implements ThreadFactory {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundThreads.class);

    /** A third of the weight of a thread with nice value 0 (sched(7)). */
    static final int NICE = 5;

    /** In {@code /proc/[pid]/stat}, counted from 0 behind the thread's name, which may hold anything (proc(5)). */
    private static final int NICE_FIELD = 16;

    private final String prefix;
    private final Runnable giveWay;
    private final AtomicInteger made = new AtomicInteger();
    private volatile boolean refused;

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
        Runnable lowered = () -> {
            lowerPriority();
            work.run();
        };
        return new Thread(lowered, prefix + made.incrementAndGet());
    }

    /** Whether the operating system has refused a low priority to one of its threads. */
    public boolean isRefused() {
        return refused;
    }

    private void lowerPriority() {
        giveWay.run();
        if (niceOfCurrentThread() < NICE) { // by the kernel's word
            refused = true;
            String name = Thread.currentThread().getName();
            LOG.warn("LOW PRIORITY REFUSED: {} is scheduled as others; small requests may wait for its work", name);
        }
    }

    private static void askToGiveWay() {
        try {
            if (niceOfCurrentThread() < NICE) {
                LibC.INSTANCE.setpriority(LibC.PRIO_PROCESS, LibC.CURRENT_THREAD, NICE);
            }
        } catch (LinkageError noLibrary) {
            LOG.debug("the C library cannot be called", noLibrary); // what the kernel says afterwards is reported
        }
    }

    /** From the kernel, and not from what was asked for. */
    static int niceOfCurrentThread() {
        Path stat = Path.of("/proc/thread-self/stat");
        try {
            String line = Files.readString(stat);
            return Integer.parseInt(line.substring(line.lastIndexOf(')') + 2).split(" ")[NICE_FIELD]);
        } catch (IOException unreadable) {
            throw new UncheckedIOException("cannot read " + stat + " (the service needs Linux)", unreadable);
        }
    }

    /** {@code setpriority(2)}: on Linux a nice value is a thread's, though POSIX has it a process's. */
    private interface LibC extends Library {
        int PRIO_PROCESS = 0;
        int CURRENT_THREAD = 0;
        LibC INSTANCE = Native.load("c", LibC.class);

        int setpriority(int which, int who, int nice);
    }
}
