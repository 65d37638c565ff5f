package org.restbench.execution;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Lets few requests be computed by their own threads at once, first come, first served. Threads that take turns on a
 * core, as the operating system would have them do, all end late.
 */
final class Turns {
    /** Beside one a core: a core is not idle while the thread whose turn has come wakes up. */
    private static final int AHEAD = 1;

    private final Semaphore places;

    Turns(int cores) {
        places = new Semaphore(cores + AHEAD, true);
    }

    /** Requests that wait for their turn. */
    int waiting() {
        return places.getQueueLength();
    }

    /** Does the work on the current thread when its turn has come. */
    <T> T run(Supplier<T> work) {
        try {
            places.acquire();
        } catch (InterruptedException interrupted) {
            throw Tasks.interrupted(interrupted);
        }
        try {
            return work.get();
        } finally {
            places.release();
        }
    }
}
