package org.restbench.execution;

/** The service is being stopped: the request was not run, or not to its end. Another instance may answer it. */
public final class StoppingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param cause null where there is none */
    StoppingException(Throwable cause) {
        super("the service is stopping", cause, false, false);
    }
}
