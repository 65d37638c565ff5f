package org.restbench.execution;

import org.restbench.workload.ParallelLoop;

/** How the loops of requests are cut and run: for each request one loop object, which it uses for all its loops. */
interface Loops {
    /** All units in order, on the thread that asks. */
    Loops IN_ORDER = job -> (units, unitsPerTask, body) -> body.run(0, units);

    /** The loop of one request, with the threads that are made for it. */
    interface RequestLoop extends ParallelLoop, AutoCloseable {
        /** Ends the request's own threads. */
        @Override
        default void close() {}
    }

    RequestLoop open(Job<?, ?> job);

    /** Ends the threads that are kept between requests. */
    default void close(Deadline deadline) {}
}
