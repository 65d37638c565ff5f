package org.restbench.web;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A query string's parameters. The container's own reading of them refuses a request for a broken escape in any of
 * them; here a broken escape stands for itself, as a parameter nobody asks for must do no harm.
 */
final class Query {
    private Query() {}

    /**
     * All values of a parameter, in order.
     *
     * @param query null where the request has none
     */
    static List<String> values(String query, String name) {
        List<String> values = new ArrayList<>(1);
        if (query == null) {
            return values;
        }
        for (String pair : query.split("&")) {
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
