package org.restbench.execution;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets as many requests as there are cores be worked on by their own threads at once, first come, first served, but for
 * those too small to be worth waiting for. Threads that take turns on a core, as the operating system would have them
 * do, all end late, and each fills the caches anew.
 */
final class Turns {
    private final Semaphore places;
    private final AtomicInteger working = new AtomicInteger();

    Turns(int cores) {
        places = new Semaphore(cores, true);
    }

    /** Requests that are being worked on now, small ones included. */
    int working() {
        return working.get();
    }

    /** Requests that wait for their turn. */
    int waiting() {
        return places.getQueueLength();
    }

    /** Begins to work on a request, when its turn has come, if it needs one; ended by closing it. */
    Turn begin(boolean needed) {
        Turn turn = new Turn();
        if (needed) {
            turn.await();
        }
        working.incrementAndGet();
        return turn;
    }

    /** A request that is being worked on. Its thread's alone. */
    final class Turn implements AutoCloseable {
        private boolean held;

        /** For a request that turned out larger than it looked. */
        void need() {
            if (!held) {
                working.decrementAndGet();
                try {
                    await();
                } finally {
                    working.incrementAndGet();
                }
            }
        }

        private void await() {
            try {
                places.acquire();
                held = true;
            } catch (InterruptedException interrupted) {
                throw Tasks.interrupted(interrupted);
            }
        }

        @Override
        public void close() {
            working.decrementAndGet();
            if (held) {
                places.release();
            }
        }
    }
}
