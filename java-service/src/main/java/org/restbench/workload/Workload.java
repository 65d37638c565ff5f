package org.restbench.workload;

/**
 * Business logic in three stages, which knows nothing of threads. An instance belongs to one request (its options are
 * in it); the stages are called once each, in order, perhaps on different threads.
 *
 * @param <I> the parsed request
 * @param <O> the result
 */
public interface Workload<I, O> {
    /** What compute's operations are: in work of one kind each takes about the same time. */
    String kind();

    /** @throws InvalidRequest with the contract's code */
    I parse(byte[] body);

    /** How many operations compute has before it, so that a strategy can choose by the size of the work. */
    long operations(I input);

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
