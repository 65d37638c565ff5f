package org.restbench.execution;

/** A strategy cannot run as its name says, and rather fails than runs otherwise. The message is fit for the client. */
public final class StrategyFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StrategyFault(String message, Throwable cause) {
        super(message, cause);
    }
}
