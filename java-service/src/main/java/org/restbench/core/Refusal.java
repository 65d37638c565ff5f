package org.restbench.core;

import java.util.Collection;
import java.util.Map;
import org.restbench.workload.RequestId;

/**
 * Why a request has no result, before it is written in the form of its protocol.
 *
 * @param status of HTTP, where the protocol has none of its own
 * @param requestId null where there is none to echo
 * @param headers that go with it
 */
public record Refusal(ErrorCode code, int status, String message, RequestId requestId, Map<String, String> headers) {
    private static final Map<String, String> LATER = Map.of("Retry-After", "1");

    /** With status 503 the same request may be answered a second later. */
    public static Refusal of(ErrorCode code, String message, RequestId requestId) {
        return new Refusal(code, code.status(), message, requestId, code.status() == 503 ? LATER : Map.of());
    }

    /** 008. */
    static Refusal busy(String message) {
        return of(ErrorCode.BUSY, message, null);
    }

    /** 009. */
    public static Refusal noSuchPath() {
        return of(ErrorCode.NO_ROUTE, "no such path or strategy; GET /strategies lists the strategies", null);
    }

    static Refusal wrongMethod(Collection<String> allowed) {
        String which = (allowed.size() == 1 ? "method " : "methods ") + String.join(" and ", allowed);
        Map<String, String> allow = Map.of("Allow", String.join(", ", allowed));
        return new Refusal(ErrorCode.NO_ROUTE, 405, "this path has the " + which + " only", null, allow);
    }

    static Refusal wrongMediaType(String message) {
        return new Refusal(ErrorCode.NO_ROUTE, 415, message, null, Map.of());
    }

    /** 002 with whatever status a server has decided on. */
    static Refusal byServer(int status) {
        String message = "the request is refused with status " + status;
        return new Refusal(ErrorCode.MALFORMED, status, message, null, Map.of());
    }
}
