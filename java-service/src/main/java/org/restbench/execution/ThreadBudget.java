package org.restbench.execution;

import java.util.concurrent.Semaphore;

/**
 * The threads that the loops of all requests together may have at once. A loop that needs more threads than are free
 * waits, first come, first served. It cannot starve, as a request that has threads gives them back without waiting for
 * more. (So no loop may be started within the body of another.)
 */
record ThreadBudget(int threads, Semaphore free) {
    ThreadBudget(int threads) {
        this(threads, new Semaphore(threads, true));
    }

    /**
     * Takes as many threads as a loop wants, but at most the whole budget; waits until they are free. Returns how many
     * it took.
     */
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
