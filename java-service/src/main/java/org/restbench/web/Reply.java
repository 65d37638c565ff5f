package org.restbench.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.restbench.json.JsonStrings;
import org.restbench.workload.RequestId;

/**
 * A whole JSON response, ready to be written.
 *
 * @param headers beside Content-Type and Content-Length
 */
record Reply(int status, Map<String, String> headers, byte[] body) {
    static Reply product(byte[] body, String serverTiming) {
        return new Reply(200, Map.of("Server-Timing", serverTiming), body);
    }

    /** @param requestId null where there is none to echo */
    static Reply error(ErrorCode code, String message, RequestId requestId) {
        return error(code, code.status(), message, requestId, Map.of());
    }

    static Reply error(ErrorCode code, int status, String message, RequestId requestId, Map<String, String> headers) {
        String json = "{\"requestId\":" + (requestId == null ? "null" : requestId.asReceived()) + ",\"errorCode\":\""
                + code.code() + "\",\"errorMessage\":" + JsonStrings.quote(message) + "}";
        return new Reply(status, headers, json.getBytes(StandardCharsets.UTF_8));
    }

    void writeTo(HttpServletResponse response) throws IOException {
        response.setStatus(status);
        headers.forEach(response::setHeader);
        response.setContentType("application/json");
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
