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

    /** The one that follows; after P it is S, of another call. */
    public Stage next() {
        return ALL[(ordinal() + 1) % ALL.length];
    }

    public Stage before() {
        return ALL[(ordinal() + ALL.length - 1) % ALL.length];
    }
}
