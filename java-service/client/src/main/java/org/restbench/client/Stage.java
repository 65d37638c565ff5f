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
    P;

    private static final Stage[] ALL = values();

    /** The one that follows; there is none after P. */
    public Stage next() {
        return ALL[ordinal() + 1];
    }

    /** The one before; there is none before S. */
    public Stage before() {
        return ALL[ordinal() - 1];
    }
}
