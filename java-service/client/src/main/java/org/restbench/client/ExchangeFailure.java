package org.restbench.client;

import java.io.IOException;

/** Why there is no answer. */
public final class ExchangeFailure extends IOException {
    private static final long serialVersionUID = 1;

    private final Kind kind;

    /** A failure of one kind, with what the transport said, or null. */
    public ExchangeFailure(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** CONNECT, TIMEOUT, CUT_OFF, NOT_HTTP or TOO_LARGE. */
    public Kind kind() {
        return kind;
    }
}
