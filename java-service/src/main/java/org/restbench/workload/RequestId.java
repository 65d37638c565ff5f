package org.restbench.workload;

import org.restbench.json.JsonStrings;

/**
 * The id a client gave its request.
 *
 * @param text the string, or the number's decimal digits
 * @param number whether it was a JSON number
 */
public record RequestId(String text, boolean number) {
    /** As it was received, a JSON number or string. */
    public String asReceived() {
        return number ? text : asString();
    }

    /** As a JSON string, whatever it was. */
    public String asString() {
        return JsonStrings.quote(text);
    }
}
