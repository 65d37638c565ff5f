package org.restbench.execution;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

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
     *
     * @param waited as for {@link Loops#open}; where it throws, nothing is taken
     */
    int take(int wanted, LongConsumer waited) {
        int granted = Math.min(wanted, threads);
        long start = System.nanoTime();
        try {
            if (free.tryAcquire(granted, 0, TimeUnit.NANOSECONDS)) { // behind those that wait, unlike tryAcquire(int)
                return granted;
            }
            free.acquire(granted);
        } catch (InterruptedException interrupted) {
            throw Tasks.interrupted(interrupted);
        }
        try {
            waited.accept(System.nanoTime() - start);
        } catch (Throwable refused) {
            giveBack(granted);
            throw refused;
        }
        return granted;
    }

    void giveBack(int granted) {
        free.release(granted);
    }
}
