package org.restbench.codec;

import org.restbench.json.JsonCursor;
import org.restbench.json.JsonStrings;
import org.restbench.workload.RequestId;

/** Reads a request's id: a string of 1 to 128 code points, or a 64-bit integer. */
public final class RequestIds {
    /** For the message of a request without one. */
    public static final String RULE = "requestId: must be a string of 1 to 128 characters or a 64-bit integer";

    private static final int MOST_CODE_POINTS = 128;

    /** Two escapes of six bytes for each code point, and the quotes: whatever is longer need not be unescaped. */
    private static final int MOST_BYTES = 12 * MOST_CODE_POINTS + 2;

    private RequestIds() {}

    /** @throws Irregular where the value that comes next is no request id */
    public static RequestId read(JsonCursor cursor, byte[] body) {
        return cursor.peek() == '"'
                ? string(cursor, body)
                : new RequestId(Long.toString(Integers.read(cursor, body)), true);
    }

    /** As it was received, a JSON number or string. */
    public static String asReceived(RequestId id) {
        return id.number() ? id.text() : asString(id);
    }

    /** As a JSON string, whatever it was. */
    public static String asString(RequestId id) {
        return JsonStrings.quote(id.text());
    }

    private static RequestId string(JsonCursor cursor, byte[] body) {
        int from = cursor.offset();
        if (cursor.skipString() - from > MOST_BYTES) {
            throw Irregular.FOUND;
        }
        String text = new JsonCursor(body, from).readString();
        if (text.isEmpty() || text.codePointCount(0, text.length()) > MOST_CODE_POINTS) {
            throw Irregular.FOUND;
        }
        return new RequestId(text, false);
    }
}
