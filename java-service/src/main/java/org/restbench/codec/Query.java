package org.restbench.codec;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * A query string's parameters, read once. A broken escape stands for itself: a parameter nobody asks for does no harm.
 */
public final class Query {
    private static final String DELAY = "delay";
    private static final String MILLIS = "[0-9]{1,6}";

    /** No parameters. */
    public static final Query NONE = new Query(null, 0);

    private final List<Parameter> parameters = new ArrayList<>(2);
    private final List<String> path;
    private final OptionalInt delayMillis;
    private final String delayFault;

    private record Parameter(String name, String value) {
        static Parameter of(String pair) {
            int equals = pair.indexOf('=');
            return equals < 0
                    ? new Parameter(decode(pair), "")
                    : new Parameter(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
        }
    }

    /** Of a path that leaves nothing open. */
    public Query(String raw, int maxDelayMillis) {
        this(raw, maxDelayMillis, List.of());
    }

    /**
     * @param raw as it was sent, null where the request has none
     * @param maxDelayMillis the longest delay that a request may ask for
     * @param path the segments of the path that its operation leaves open, as they were sent
     */
    public Query(String raw, int maxDelayMillis, List<String> path) {
        if (raw != null) {
            for (String pair : raw.split("&")) {
                parameters.add(Parameter.of(pair));
            }
        }
        this.path = path;
        List<String> asked = values(DELAY);
        delayMillis = delayMillis(asked, maxDelayMillis);
        delayFault = asked.isEmpty() || delayMillis.isPresent()
                ? null
                : "delay: must be a whole number of milliseconds from 0 to " + maxDelayMillis;
    }

    private static OptionalInt delayMillis(List<String> asked, int maxDelayMillis) {
        if (asked.size() != 1 || !asked.get(0).matches(MILLIS)) {
            return OptionalInt.empty();
        }
        int millis = Integer.parseInt(asked.get(0));
        return millis <= maxDelayMillis ? OptionalInt.of(millis) : OptionalInt.empty();
    }

    /** All values of a parameter, in order. */
    public List<String> values(String name) {
        List<String> values = new ArrayList<>(1);
        for (Parameter each : parameters) {
            if (each.name.equals(name)) {
                values.add(each.value);
            }
        }
        return values;
    }

    /** The segments of the path that its operation leaves open. */
    List<String> path() {
        return path;
    }

    /** Milliseconds that the request asks to wait before it is worked on; empty where it does not, or wrongly. */
    public OptionalInt delayMillis() {
        return delayMillis;
    }

    /** The message of 003 where the delay is wrong, null where it is right or not asked for: right after the kernel. */
    public String delayFault() {
        return delayFault;
    }

    private static String decode(String escaped) {
        try {
            return URLDecoder.decode(escaped, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException brokenEscape) {
            return escaped;
        }
    }
}
