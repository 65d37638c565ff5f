package org.restbench.execution;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Lets few requests be computed by their own threads at once, first come, first served. Threads that take turns on a
 * core, as the operating system would have them do, all end late.
 */
final class Turns {
    /**
     * Beside one a core, which is else idle while the thread whose turn has come wakes up: with none and with one of
     * them throughput was 0.8 and 0.93 of that without turns (medium and high); with three p95 was longer.
     */
    private static final int AHEAD = 2;

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
