package org.restbench.core;

/** A request is refused for another reason than its content. There is no stack trace, as this is an ordinary answer. */
public final class RequestRefused extends RuntimeException {
    final transient Refusal refusal;

    public RequestRefused(Refusal refusal) {
        super(null, null, false, false);
        this.refusal = refusal;
    }
}
