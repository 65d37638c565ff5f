package org.restbench.execution;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.restbench.workload.ParallelLoop;

/** The study's M: a fixed pool made for the request and ended with it, one task per {@code unitsPerTask} units. */
record ThreadPool(ThreadBudget budget) implements Loops {
    /** The study's upper limit of threads for one request. */
    static final int MOST_THREADS = 100;

    /** Longest wait for the pool's threads, whose tasks are done or could not be started. */
    private static final int END_SECONDS = 60;

    @Override
    public long threads(List<ParallelLoop.Size> loops) {
        return loops.isEmpty() ? 0 : threads(loops.get(0));
    }

    private static int threads(ParallelLoop.Size first) {
        return Math.min(first.tasks(), MOST_THREADS);
    }

    /** The pool has a thread for each task of the first loop, up to the limits; later loops use the same threads. */
    @Override
    public RequestLoop open(LongConsumer waited) {
        return new RequestLoop() {
            private int threads;
            private ExecutorService pool;

            @Override
            public void forEach(int units, int unitsPerTask, Body body) {
                if (pool == null) {
                    threads = budget.take(threads(new ParallelLoop.Size(units, unitsPerTask)), waited);
                    pool = Executors.newFixedThreadPool(threads, Tasks.threads("thread-pool-"));
                }
                Tasks.runAll(pool, Tasks.MOST_AT_ONCE, units, unitsPerTask, body);
            }

            @Override
            public void close() {
                if (pool != null) {
                    Tasks.end(pool, Deadline.afterSeconds(END_SECONDS));
                }
                budget.giveBack(threads);
            }
        };
    }

    /**
     * The threads that the loops of all requests together may have at once. A loop that needs more threads than are
     * free waits, first come, first served. It cannot starve, as a request that has threads gives them back without
     * waiting for more. (So no loop may be started within the body of another.)
     */
    record ThreadBudget(int threads, Semaphore free) {
        ThreadBudget(int threads) {
            this(threads, new Semaphore(threads, true));
        }

        /**
         * Waits for as many threads as a loop wants, at most the whole budget; returns how many it took.
         *
         * @param waited as for {@link Loops#open}; where it throws, nothing is taken
         */
        int take(int wanted, LongConsumer waited) {
            int granted = Math.min(wanted, threads);
            long start = System.nanoTime();
            try {
                if (free.tryAcquire(
                        granted, 0, TimeUnit.NANOSECONDS)) { // behind those that wait, unlike tryAcquire(int)
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
}
