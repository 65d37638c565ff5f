package org.restbench.core;

import java.util.Collection;
import java.util.Map;
import org.restbench.workload.RequestId;

/**
 * Why a request has no result, independent of the protocol that the reply is written in.
 *
 * @param status of HTTP, for protocols that prescribe no other
 * @param requestId null where there is none to echo
 * @param headers of the reply
 */
public record Refusal(ErrorCode code, int status, String message, RequestId requestId, Map<String, String> headers) {
    private static final Map<String, String> LATER = Map.of("Retry-After", "1");

    /**
     * A refusal with the status of its code. With status 503 a header asks the client to try again after one second.
     */
    public static Refusal of(ErrorCode code, String message, RequestId requestId) {
        return new Refusal(code, code.status(), message, requestId, code.status() == 503 ? LATER : Map.of());
    }

    /** A refusal with 008. */
    static Refusal busy(String message) {
        return of(ErrorCode.BUSY, message, null);
    }

    /** A refusal with 009 for a path without a route. */
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

    /** A refusal with 002 and the status that a server has decided on. */
    static Refusal byServer(int status) {
        String message = "the request is refused with status " + status;
        return new Refusal(ErrorCode.MALFORMED, status, message, null, Map.of());
    }
}
