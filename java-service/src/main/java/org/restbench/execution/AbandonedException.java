package org.restbench.execution;

/** The client of a request was gone before its turn: it was not run, and nobody waits for an answer. */
public final class AbandonedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AbandonedException() {
        super("the client is gone: the request was not run", null, false, false);
    }
}
