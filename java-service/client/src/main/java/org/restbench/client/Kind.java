package org.restbench.client;

/** What a failed call met. */
public enum Kind {
    /** There was no connection. */
    CONNECT,
    /** The deadline of the call passed. */
    TIMEOUT,
    /** The connection was closed before the end of the answer. */
    CUT_OFF,
    NOT_HTTP,
    /** The answer is larger than {@link Limits#maxAnswerBytes}. */
    TOO_LARGE,
    /** The service answered with an error. */
    REFUSED,
    /** The answer is neither a result nor an error. */
    MALFORMED,
    /** The caller's own code threw, or a codec or exchange something undeclared. */
    USER
}
