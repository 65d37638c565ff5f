package org.restbench.client;

/** The steps of a call. */
public enum Stage {
    /** Input to message. */
    S,
    /** Sending it and waiting for the answer. */
    C,
    /** Answer to output. */
    D,
    /** What is done with the output. */
    P
}
