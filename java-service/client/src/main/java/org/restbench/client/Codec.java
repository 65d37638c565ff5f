package org.restbench.client;

/** What goes over the wire for an input, and what comes back: S and D. Pure: many threads at once use one. */
public interface Codec<I, O> {
    /** The message of an input; any exception is this call's failure in S. */
    byte[] encode(I input, Loop loop);

    /** What an answer says; {@link MalformedAnswer} where it is neither a result nor an error of the service. */
    O decode(Answer answer, Loop loop) throws ServiceRefused;
}
