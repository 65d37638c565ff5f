package org.restbench.workload;

import java.util.List;

/**
 * Business logic: from an input to an output. One object for the life of the service, used by many threads at once. It
 * knows nothing of bytes on the wire, threads, or the memory of others: where it has independent work it asks for a
 * loop.
 *
 * @param <I> a decoded request, its options among it
 * @param <O> the result
 */
public interface Workload<I, O> extends AutoCloseable {
    /** What bounds the work that one request may ask for. */
    enum Bound {
        /** The service's limit of operations in plain loops. */
        LOOP_OPERATIONS,
        /** The service's limit of operations. */
        OPERATIONS,
        /** Its memory: there is nothing larger than what fits. */
        MEMORY
    }

    /** In the path and in metrics. */
    String name();

    /** What compute's operations are: in work of one kind each takes about the same time. */
    default String kind(I input) {
        return name();
    }

    /** How many operations compute has before it. */
    long operations(I input);

    /** By which limit these operations are refused. */
    default Bound bound(I input) {
        return Bound.OPERATIONS;
    }

    /** The loops that compute will run, for the limit of threads; none where memory bounds the work. */
    default List<ParallelLoop.Size> loops(I input) {
        return List.of();
    }

    /** Bytes of memory that computing and encoding hold in addition to the body and the input, at most. */
    long workingBytes(I input);

    /** What in the request needs that memory, for the message that refuses it. */
    default String subject(I input) {
        return "the request";
    }

    /**
     * @param loop runs the independent part of the work
     * @throws InvalidRequest where the result cannot be represented
     */
    O compute(I input, ParallelLoop loop);

    /** Whether there is a loop in compute: one that is a single step has nothing to cut. */
    default boolean hasLoops() {
        return true;
    }

    /**
     * Whether a loop's units may each be a task of their own. Where they are far smaller than the grain that the
     * workload asks for, a strategy that cuts all loops so does not take it.
     */
    default boolean takesSingleUnits() {
        return true;
    }

    /** Whether compute mostly waits (for a database, a delay) and needs no core meanwhile. */
    default boolean isBlocking() {
        return false;
    }

    /** Gets ready what compute needs, before the first request. */
    default void open() {}

    /** Gives back what it holds, after the last request. */
    @Override
    default void close() {}
}
