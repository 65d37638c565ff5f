package org.restbench.web;

import java.util.Map;

/** The request is turned away before any workload sees it. Carries no stack trace: it is an answer. */
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Reply reply;

    private Refused(Reply reply) {
        super(null, null, false, false);
        this.reply = reply;
    }

    Reply reply() {
        return reply;
    }

    static Refused noSuchPath() {
        String message = "No such path or strategy; GET /strategies lists the strategies";
        return new Refused(Reply.error(ErrorCode.NO_ROUTE, message, null));
    }

    static Refused wrongMethod(String allowed) {
        String message = "This path has the method " + allowed + " only";
        return new Refused(Reply.error(ErrorCode.NO_ROUTE, 405, message, null, Map.of("Allow", allowed)));
    }

    static Refused notJson() {
        String message = "Content-Type must be application/json";
        return new Refused(Reply.error(ErrorCode.NO_ROUTE, 415, message, null, Map.of()));
    }

    static Refused tooLarge(int limitBytes) {
        String message = "The body is larger than the limit of " + limitBytes + " bytes (RESTBENCH_MAX_BODY_BYTES)";
        return new Refused(Reply.error(ErrorCode.TOO_LARGE, message, null));
    }

    static Refused busy(int limit) {
        String message = "The service is at its limit of " + limit + " requests in flight (RESTBENCH_MAX_IN_FLIGHT)";
        return new Refused(Reply.busy(message));
    }

    static Refused cutOff() {
        String message = "The body ended before its announced length, or could not be received";
        return new Refused(Reply.error(ErrorCode.MALFORMED, message, null));
    }
}
