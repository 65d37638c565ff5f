package org.restbench.codec;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A query string's parameters. A broken escape stands for itself: a parameter nobody asks for does no harm.
 *
 * @param raw as it was sent, null where the request has none
 */
public record Query(String raw) {
    /** No parameters. */
    public static final Query NONE = new Query(null);

    /** All values of a parameter, in order. */
    public List<String> values(String name) {
        List<String> values = new ArrayList<>(1);
        if (raw == null) {
            return values;
        }
        for (String pair : raw.split("&")) {
            int equals = pair.indexOf('=');
            if (decode(equals < 0 ? pair : pair.substring(0, equals)).equals(name)) {
                values.add(decode(pair.substring(equals < 0 ? pair.length() : equals + 1)));
            }
        }
        return values;
    }

    private static String decode(String escaped) {
        try {
            return URLDecoder.decode(escaped, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException brokenEscape) {
            return escaped;
        }
    }
}
