package org.restbench.codec;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A query string's parameters, and the open segments of the path. Text with a broken escape is kept as it is, as a
 * parameter that is never read does no harm.
 *
 * @param parameters all values of each parameter, in order
 * @param maxDelayMillis the longest delay that a request may ask for
 * @param path the values of the path's open segments, as they were sent
 */
public record Query(Map<String, List<String>> parameters, int maxDelayMillis, List<String> path) {
    public static final Query NONE = new Query(Map.of(), 0, List.of());

    private static final String DELAY = "delay";
    private static final String MILLIS = "[0-9]{1,6}";

    /** @param raw as it was sent, null where the request has none */
    public Query(String raw, int maxDelayMillis, List<String> path) {
        this(parsed(raw), maxDelayMillis, path);
    }

    private static Map<String, List<String>> parsed(String raw) {
        if (raw == null) {
            return Map.of();
        }
        Map<String, List<String>> parameters = new HashMap<>();
        for (String pair : raw.split("&")) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals));
            String value = decode(pair.substring(equals < 0 ? pair.length() : equals + 1));
            parameters.computeIfAbsent(name, first -> new ArrayList<>(1)).add(value);
        }
        return parameters;
    }

    public List<String> values(String name) {
        return parameters.getOrDefault(name, List.of());
    }

    /** Milliseconds to wait before the request runs; empty where none, or an invalid number, is asked for. */
    public OptionalInt delayMillis() {
        List<String> asked = values(DELAY);
        if (asked.size() != 1 || !asked.get(0).matches(MILLIS)) {
            return OptionalInt.empty();
        }
        int millis = Integer.parseInt(asked.get(0));
        return millis <= maxDelayMillis ? OptionalInt.of(millis) : OptionalInt.empty();
    }

    /** The message of 003, which comes right after the kernel's; null where no invalid delay is asked for. */
    public String delayFault() {
        return values(DELAY).isEmpty() || delayMillis().isPresent()
                ? null
                : "delay: must be a whole number of milliseconds from 0 to " + maxDelayMillis;
    }

    private static String decode(String escaped) {
        try {
            return URLDecoder.decode(escaped, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException brokenEscape) {
            return escaped;
        }
    }
}
