package org.restbench.affinity;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes threads of lower priority than the service's other threads: each raises its nice value before anything else,
 * which needs no privilege. Neither the highest nice value nor the policy {@code SCHED_IDLE} is used: with these, the
 * threads also come after all other programs of the machine (with SCHED_IDLE and other programs at work, throughput was
 * two thirds of that at nice value 5), and small requests were served no sooner. A thread that is refused the nice
 * value logs a warning and works on, as only its priority is wrong.
 */
public final class BackgroundThreads implements ThreadFactory {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundThreads.class);

    /** The nice value: the thread gets a third of the weight of a thread with nice value 0 (sched(7)). */
    static final int NICE = 5;

    private final String prefix;
    private final Runnable lowerPriority;
    private final AtomicInteger made = new AtomicInteger();
    private volatile boolean refused;

    /** @param prefix of the threads' names, before a number from 1 */
    public BackgroundThreads(String prefix) {
        this(prefix, BackgroundThreads::requestLowPriority);
    }

    /** @param lowerPriority lowers the current thread's priority, as far as it can */
    BackgroundThreads(String prefix, Runnable lowerPriority) {
        this.prefix = prefix;
        this.lowerPriority = lowerPriority;
    }

    @Override
    public Thread newThread(Runnable work) {
        Runnable lowered = () -> {
            lowerPriority();
            work.run();
        };
        return new Thread(lowered, prefix + made.incrementAndGet());
    }

    /** Whether the operating system has refused a low priority to one of these threads. */
    public boolean isRefused() {
        return refused;
    }

    private void lowerPriority() {
        if (!isLowered()) {
            refused = true;
            String name = Thread.currentThread().getName();
            LOG.warn("LOW PRIORITY REFUSED: {} is scheduled as others; small requests may wait for its work", name);
        }
    }

    private boolean isLowered() {
        try {
            lowerPriority.run();
            return niceOfCurrentThread() >= NICE;
        } catch (LinkageError noLibrary) { // the C library cannot be called
            return false;
        }
    }

    private static void requestLowPriority() {
        if (niceOfCurrentThread() < NICE) {
            LibC.INSTANCE.setpriority(LibC.PRIO_PROCESS, LibC.CURRENT_THREAD, NICE);
        }
    }

    /** The current thread's nice value as the kernel reports it. */
    static int niceOfCurrentThread() {
        return LibC.INSTANCE.getpriority(LibC.PRIO_PROCESS, LibC.CURRENT_THREAD);
    }

    /** On Linux each thread has a nice value of its own, though in POSIX it belongs to the process. */
    private interface LibC extends Library {
        int PRIO_PROCESS = 0;
        int CURRENT_THREAD = 0;
        LibC INSTANCE = Native.load("c", LibC.class);

        int getpriority(int which, int who);

        int setpriority(int which, int who, int nice);
    }
}
