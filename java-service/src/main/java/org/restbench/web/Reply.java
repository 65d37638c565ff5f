package org.restbench.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.restbench.codec.RequestIds;
import org.restbench.json.JsonStrings;
import org.restbench.workload.RequestId;

/**
 * A whole JSON response, ready to be written.
 *
 * @param headers beside Content-Type and Content-Length
 */
record Reply(int status, Map<String, String> headers, byte[] body) {
    /** Headers of whatever may be sent again a second later. */
    static final Map<String, String> RETRY = Map.of("Retry-After", "1");

    static Reply product(byte[] body, String serverTiming) {
        return new Reply(200, Map.of("Server-Timing", serverTiming), body);
    }

    /** @param requestId null where there is none to echo */
    static Reply error(ErrorCode code, String message, RequestId requestId) {
        return error(code, code.status(), message, requestId, Map.of());
    }

    /** 008: the same request may be answered a second later. */
    static Reply busy(String message) {
        return error(ErrorCode.BUSY, ErrorCode.BUSY.status(), message, null, RETRY);
    }

    static Reply error(ErrorCode code, int status, String message, RequestId requestId, Map<String, String> headers) {
        String json = "{\"requestId\":" + (requestId == null ? "null" : RequestIds.asReceived(requestId))
                + ",\"errorCode\":\"" + code.code() + "\",\"errorMessage\":" + JsonStrings.quote(message) + "}";
        return new Reply(status, headers, json.getBytes(StandardCharsets.UTF_8));
    }

    void writeTo(HttpServletResponse response) throws IOException {
        writeTo(response, () -> {});
    }

    /**
     * @param almost run before the last byte is sent: a client that has the whole answer finds it done, and one that
     *     does not take its answer keeps it from being done
     */
    void writeTo(HttpServletResponse response, Runnable almost) throws IOException {
        response.setStatus(status);
        headers.forEach(response::setHeader);
        response.setContentType("application/json");
        response.setContentLength(body.length);
        OutputStream out = response.getOutputStream();
        out.write(body, 0, body.length - 1);
        almost.run();
        out.write(body, body.length - 1, 1);
        response.flushBuffer(); // so that the answer has left when the container takes the request for done
    }
}
