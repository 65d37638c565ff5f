package org.restbench.core;

/** A request is turned away for what is no fault of its JSON. Carries no stack trace: it is an answer. */
public final class RequestRefused extends RuntimeException {
    private final transient Refusal refusal;

    public RequestRefused(Refusal refusal) {
        super(null, null, false, false);
        this.refusal = refusal;
    }

    Refusal refusal() {
        return refusal;
    }
}
