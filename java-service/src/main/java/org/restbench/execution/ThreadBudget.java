package org.restbench.execution;

import java.util.concurrent.Semaphore;

/**
 * The threads that all requests' loops together may have at once. A loop that needs more than are left waits, first
 * come, first served: it cannot starve, as a request that has threads gives them back without waiting for more. (So no
 * loop may be started within another's body.)
 */
record ThreadBudget(int threads, Semaphore free) {
    ThreadBudget(int threads) {
        this(threads, new Semaphore(threads, true));
    }

    /** The threads a loop that would like so many may have: never more than there are. Waits until they are free. */
    int take(int wanted) {
        int granted = Math.min(wanted, threads);
        try {
            free.acquire(granted);
        } catch (InterruptedException interrupted) {
            throw Tasks.interrupted(interrupted);
        }
        return granted;
    }

    void giveBack(int granted) {
        free.release(granted);
    }
}
