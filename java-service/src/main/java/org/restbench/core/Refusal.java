package org.restbench.core;

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
    public static Refusal of(ErrorCode code, String message, RequestId requestId) {
        return new Refusal(code, code.status(), message, requestId, Map.of());
    }

    /** 008: the same request may be answered a second later. */
    static Refusal busy(String message) {
        return new Refusal(ErrorCode.BUSY, ErrorCode.BUSY.status(), message, null, Map.of("Retry-After", "1"));
    }

    /** 009. */
    public static Refusal noSuchPath() {
        return of(ErrorCode.NO_ROUTE, "no such path or strategy; GET /strategies lists the strategies", null);
    }

    static Refusal wrongMethod(String allowed) {
        String message = "this path has the method " + allowed + " only";
        return new Refusal(ErrorCode.NO_ROUTE, 405, message, null, Map.of("Allow", allowed));
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
