package org.restbench.core;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.restbench.codec.RequestIds;

/** A complete reply. The framework that gets one sends it and calls {@link #sent}, even where sending fails. */
public final class Reply implements Core.OpenResult {
    static final String JSON = "application/json";

    /** Content-Security-Policy of a reply that is data: a browser that shows it loads and runs nothing. */
    static final String DATA = "default-src 'none'; frame-ancestors 'none'";

    private final int status;
    private final Map<String, String> headers;
    private final byte[] body;
    private final AtomicReference<Runnable> release = new AtomicReference<>();

    private Reply(int status, Map<String, String> headers, byte[] body) {
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    private static Map<String, String> headers(String contentType, String policy) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", contentType);
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Cache-Control", "no-store");
        headers.put("Content-Security-Policy", policy);
        headers.put("Referrer-Policy", "no-referrer");
        return headers;
    }

    static Reply page(String contentType, String policy, byte[] body) {
        return new Reply(200, headers(contentType, policy), body);
    }

    static Reply answer(byte[] body, String serverTiming, Map<String, String> more) {
        Reply answer = of(200, JSON, more, body);
        answer.headers.put("Server-Timing", serverTiming);
        return answer;
    }

    /** @param more headers in addition to those of every reply */
    public static Reply of(int status, String contentType, Map<String, String> more, byte[] body) {
        Map<String, String> headers = headers(contentType, DATA);
        headers.putAll(more);
        return new Reply(status, headers, body);
    }

    static Reply error(Refusal refusal) {
        String json = "{\"requestId\":" + RequestIds.asReceived(refusal.requestId()) + ",\"errorCode\":\""
                + refusal.code().code() + "\",\"errorMessage\":" + RequestIds.quote(refusal.message()) + "}";
        return of(refusal.status(), JSON, refusal.headers(), json.getBytes(StandardCharsets.UTF_8));
    }

    public int status() {
        return status;
    }

    /** All headers but Date, Connection and Content-Length. */
    public Map<String, String> headers() {
        return Collections.unmodifiableMap(headers);
    }

    /** Never empty. */
    public byte[] body() {
        return body;
    }

    /** Writes the body, and calls {@link #sent} before the last byte. */
    public void writeTo(OutputStream out) throws IOException {
        out.write(body, 0, body.length - 1);
        sent();
        out.write(body, body.length - 1, 1);
    }

    Reply releasing(Runnable action) {
        release.set(action);
        return this;
    }

    /**
     * Releases the request's place in flight and its memory; further calls do nothing. To be called before the last
     * byte is written: a client that has the whole reply then finds its place free, and one that does not read it keeps
     * the place.
     */
    public void sent() {
        Runnable action = release.getAndSet(null);
        if (action != null) {
            action.run();
        }
    }
}
