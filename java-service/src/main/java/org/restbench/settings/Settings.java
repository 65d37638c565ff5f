package org.restbench.settings;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * All settings of the service, read from the environment once.
 *
 * @param host address to listen on ({@code RESTBENCH_HOST})
 * @param port to listen on, 0 for any free one ({@code RESTBENCH_PORT})
 * @param maxBodyBytes largest request body ({@code RESTBENCH_MAX_BODY_BYTES})
 * @param maxInFlight most requests worked on at once ({@code RESTBENCH_MAX_IN_FLIGHT})
 * @param pinnedWorkers threads of the strategy pinned, a core each ({@code RESTBENCH_PINNED_WORKERS}; 1 as in the
 *     study)
 * @param pipelineQueue requests that may wait before each stage of the strategy pipeline
 *     ({@code RESTBENCH_PIPELINE_QUEUE}; a few are enough to keep the slowest stage, which decides the throughput, from
 *     ever waiting, and each one more only holds memory)
 */
public record Settings(String host, int port, int maxBodyBytes, int maxInFlight, int pinnedWorkers, int pipelineQueue) {

    /** So that the response to a product as large as {@link #mostProductElements} still fits one Java array. */
    private static final int LARGEST_BODY_LIMIT = 192 << 20;

    /** @throws InvalidSetting at the first bad value */
    public static Settings from(Map<String, String> environment) {
        return new Settings(
                host(environment),
                integer(environment, "RESTBENCH_PORT", 8080, 0, 65_535),
                integer(environment, "RESTBENCH_MAX_BODY_BYTES", 64 << 20, 1, LARGEST_BODY_LIMIT),
                integer(environment, "RESTBENCH_MAX_IN_FLIGHT", 256, 1, 4096),
                integer(environment, "RESTBENCH_PINNED_WORKERS", 1, 1, 1024),
                integer(environment, "RESTBENCH_PIPELINE_QUEUE", 4, 1, 4096));
    }

    private static String host(Map<String, String> environment) {
        String host = environment.getOrDefault("RESTBENCH_HOST", "127.0.0.1");
        try {
            InetAddress.getByName(host);
            return host;
        } catch (UnknownHostException unknown) {
            throw new InvalidSetting("RESTBENCH_HOST", host, "an address or the name of this machine");
        }
    }

    private static int integer(Map<String, String> environment, String variable, int unset, int lowest, int highest) {
        String value = environment.get(variable);
        if (value == null) {
            return unset;
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= lowest && number <= highest) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // told below, as is a number outside the range
        }
        throw new InvalidSetting(variable, value, "an integer from " + lowest + " to " + highest);
    }

    /**
     * Elements of the largest product: each takes at least two bytes of the response, which may be as large as a body.
     */
    public int mostProductElements() {
        return Math.max(1, maxBodyBytes / 2);
    }

    /** For {@code /health}: what the service was started with. */
    public Map<String, Object> shown(Cores cores) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("maxBodyBytes", maxBodyBytes);
        shown.put("maxInFlight", maxInFlight);
        shown.put("pinnedWorkers", pinnedWorkers);
        shown.put("pinnedCores", cores.pinned());
        shown.put("pipelineQueue", pipelineQueue);
        return shown;
    }
}
