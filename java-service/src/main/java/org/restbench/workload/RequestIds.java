package org.restbench.workload;

import org.restbench.json.JsonCursor;

/** Reads a request's id: a string of 1 to 128 code points, or a 64-bit integer. */
public final class RequestIds {
    /** For the message of a request without one. */
    public static final String RULE = "requestId: must be a string of 1 to 128 characters or a 64-bit integer";

    private static final int MOST_CODE_POINTS = 128;

    private RequestIds() {}

    /** @throws Irregular where the value that comes next is no request id */
    public static RequestId read(JsonCursor cursor, byte[] body) {
        return cursor.peek() == '"'
                ? string(cursor.readString())
                : new RequestId(Long.toString(Integers.read(cursor, body)), true);
    }

    private static RequestId string(String text) {
        if (text.isEmpty() || text.codePointCount(0, text.length()) > MOST_CODE_POINTS) {
            throw Irregular.FOUND;
        }
        return new RequestId(text, false);
    }
}
