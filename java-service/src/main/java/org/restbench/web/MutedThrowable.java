package org.restbench.web;

/**
 * A throwable for the log: where it was thrown and of which class, without its message, as anybody's message may quote
 * what a client sent.
 */
final class MutedThrowable extends Throwable {
    private static final long serialVersionUID = 1L;

    private MutedThrowable(Throwable thrown, Throwable mutedCause) {
        super(thrown.getClass().getName(), mutedCause, false, true);
        setStackTrace(thrown.getStackTrace());
    }

    /** Its causes are muted as well. */
    static MutedThrowable of(Throwable thrown) {
        Throwable cause = thrown.getCause();
        return new MutedThrowable(thrown, cause == null ? null : of(cause));
    }
}
