package org.restbench.client;

/** What is done with an output: the stage P. */
@FunctionalInterface
public interface Processor<I, O, R> {
    /** The result of a call; any exception or error is this call's failure in P. */
    R process(long index, I input, O output) throws Exception;
}
