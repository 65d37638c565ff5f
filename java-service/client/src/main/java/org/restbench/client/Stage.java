package org.restbench.client;

/** The stages of a call, in their order. */
public enum Stage {
    /** The input is encoded as a message. */
    S,
    /** The message is sent, and the answer is waited for. */
    C,
    /** The answer is decoded to an output. */
    D,
    /** The caller's code processes the output. */
    P;

    private static final Stage[] ALL = values();

    /** The stage that follows; after P it is S, of another call. */
    public Stage next() {
        return ALL[(ordinal() + 1) % ALL.length];
    }

    public Stage before() {
        return ALL[(ordinal() + ALL.length - 1) % ALL.length];
    }
}
