package org.restbench.settings;

import java.util.Map;

/**
 * How long the service waits for others.
 *
 * @param receiveSeconds for a client to send its request, however its bytes are spaced
 *     ({@code RESTBENCH_RECEIVE_TIMEOUT_SECONDS}; the largest body needs 3.4 MB/s then, the study's largest 25 kB/s)
 * @param sendSeconds for a client to take its answer ({@code RESTBENCH_SEND_TIMEOUT_SECONDS}; the same)
 * @param keepAliveSeconds until an idle connection is closed ({@code RESTBENCH_KEEP_ALIVE_SECONDS}; a user of a
 *     benchmark keeps one for a whole run, and between runs)
 * @param stopSeconds for requests in flight when the service is told to stop ({@code RESTBENCH_STOP_TIMEOUT_SECONDS};
 *     longer than a slow sender has, so that one alone is never why others are cut off)
 */
public record Deadlines(int receiveSeconds, int sendSeconds, int keepAliveSeconds, int stopSeconds) {
    private static final int HOUR = 3600;

    static Deadlines from(Environment environment) {
        return new Deadlines(
                environment.integer("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", 20, 1, HOUR),
                environment.integer("RESTBENCH_SEND_TIMEOUT_SECONDS", 20, 1, HOUR),
                environment.integer("RESTBENCH_KEEP_ALIVE_SECONDS", 300, 1, HOUR),
                environment.integer("RESTBENCH_STOP_TIMEOUT_SECONDS", 30, 1, HOUR));
    }

    void show(Map<String, Object> shown) {
        shown.put("receiveTimeoutSeconds", receiveSeconds);
        shown.put("sendTimeoutSeconds", sendSeconds);
        shown.put("keepAliveSeconds", keepAliveSeconds);
        shown.put("stopTimeoutSeconds", stopSeconds);
    }
}
