package org.restbench.workload;

/**
 * Business logic in three stages, which knows nothing of threads. An instance belongs to one request (its options are
 * in it); the stages are called once each, in order, perhaps on different threads.
 *
 * @param <I> the parsed request
 * @param <O> the result
 */
public interface Workload<I, O> {
    /** @throws InvalidRequest with the contract's code */
    I parse(byte[] body);

    /**
     * @param loop runs the independent part of the work
     * @throws InvalidRequest where the result cannot be represented
     */
    O compute(I input, ParallelLoop loop);

    /** The response's bytes. */
    byte[] serialize(O output);

    /** The request's id, for an error that is not the request's fault; null where it cannot be read. Never throws. */
    RequestId identify(byte[] body);
}
