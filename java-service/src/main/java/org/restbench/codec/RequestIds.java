package org.restbench.codec;

import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonWriteFeature;

/** A request's id in JSON: a string of 1 to 128 code points, or a 64-bit integer. */
public final class RequestIds {
    static final String RULE = "requestId: must be a string of 1 to 128 characters or a 64-bit integer";

    private static final int MOST_CODE_POINTS = 128;

    private RequestIds() {}

    /** The value of the member whose name was read last; null where it is no valid id. */
    static RequestId read(JsonReader json) {
        if (json.next() == JsonToken.VALUE_NUMBER_INT) {
            return json.isLong() ? new RequestId(Long.toString(json.longValue()), true) : null;
        }
        String text = json.shortText(MOST_CODE_POINTS);
        return text == null ? null : of(text);
    }

    /** The id with this text; null where the text is no valid id. */
    public static RequestId of(String text) {
        boolean right = !text.isEmpty() && text.codePointCount(0, text.length()) <= MOST_CODE_POINTS;
        return right ? new RequestId(text, false) : null;
    }

    /** The id in any body; null where the body has no valid one. */
    static RequestId identify(byte[] body) {
        RequestId[] found = new RequestId[1];
        try {
            Json.read(body, new MemoryBudget(Long.MAX_VALUE).hold(0), json -> {
                for (String name = json.nextName(); name != null; name = json.nextName()) {
                    if (name.equals("requestId")) {
                        found[0] = read(json);
                    } else {
                        json.skipNext();
                    }
                }
                return found;
            });
        } catch (RuntimeException malformed) {
            return null;
        }
        return found[0];
    }

    /** The id as it was received, a JSON number or string; for null, {@code null}. */
    public static String asReceived(RequestId id) {
        return id == null ? "null" : id.number() ? id.text() : asString(id);
    }

    /** As {@link #asReceived}, but in printable ASCII, so that an id cannot forge a line of the log. */
    public static String inAscii(RequestId id) {
        if (id == null || id.number()) {
            return asReceived(id);
        }
        String ascii =
                Json.WRITER.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII).writeValueAsString(id.text());
        return ascii.replace("\u007f", "\\u007f"); // DEL is ASCII, so Jackson leaves it as it is
    }

    /** The id as a JSON string, even where it was a number. */
    static String asString(RequestId id) {
        return id.number() ? '"' + id.text() + '"' : quote(id.text());
    }

    /** The text as a JSON string with its quotes, escaped as {@code JSON.stringify} does. */
    public static String quote(String text) {
        return Json.WRITER.writeValueAsString(text);
    }
}
