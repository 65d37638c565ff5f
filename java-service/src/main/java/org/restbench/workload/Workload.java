package org.restbench.workload;

import java.util.List;

/**
 * Business logic that computes an output from an input. One object exists for the life of the service; many threads use
 * it at once. A workload knows nothing of wire formats, threads or the memory of other requests. It runs independent
 * work in a loop that the strategy provides.
 *
 * @param <I> a decoded request, including its options
 * @param <O> the result
 */
public interface Workload<I, O> extends AutoCloseable {
    /** The limit on the work that one request may ask for. */
    enum Bound {
        /** The service's limit on operations in plain loops. */
        LOOP_OPERATIONS,
        /** The service's limit on operations. */
        OPERATIONS,
        /** The service's memory alone: there is no work larger than what fits. */
        MEMORY
    }

    /** The workload's name in paths and metrics. */
    String name();

    /** The kind of compute's operations: operations of the same kind take about the same time each. */
    default String kind(I input) {
        return name();
    }

    /** The number of operations that compute will do. */
    long operations(I input);

    /** The limit by which these operations are refused. */
    default Bound bound(I input) {
        return Bound.OPERATIONS;
    }

    /** The loops that compute will run, to check the limit of threads; empty where memory bounds the work. */
    default List<ParallelLoop.Size> loops(I input) {
        return List.of();
    }

    /** Largest number of bytes that compute and encoding hold in addition to the body and the input. */
    long workingBytes(I input);

    /** The part of the request that needs this memory, for the message of a refusal. */
    default String subject(I input) {
        return "the request";
    }

    /** @throws InvalidRequest where the result cannot be represented */
    O compute(I input, ParallelLoop loop);

    /** Whether compute runs a loop. A computation of a single step has nothing to divide. */
    default boolean hasLoops() {
        return true;
    }

    /** Whether a unit may be a task of its own; else strategies that make each unit a task do not offer it. */
    default boolean takesSingleUnits() {
        return true;
    }

    /** Whether compute mostly waits (for a database, a delay) and needs no core meanwhile. */
    default boolean isBlocking() {
        return false;
    }

    /** Prepares what compute needs, before the first request. */
    default void open() {}

    /** Releases what the workload holds, after the last request. */
    @Override
    default void close() {}
}
