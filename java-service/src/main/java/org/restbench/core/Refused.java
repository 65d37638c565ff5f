package org.restbench.core;

/** A request is turned away for what is no fault of its JSON. Carries no stack trace: it is an answer. */
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Reply reply;

    Refused(Reply reply) {
        super(null, null, false, false);
        this.reply = reply;
    }

    Reply reply() {
        return reply;
    }
}
