package org.restbench.codec;

import org.restbench.json.JsonCursor;
import org.restbench.json.MalformedJson;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * A request's body as one JSON object, read plainly: each question walks the bytes again and keeps nothing of them, so
 * that a body of any size costs no memory.
 */
public final class RequestBody {
    /** In place of an offset: the object has no such member. */
    public static final int NOT_THERE = -1;

    private RequestBody() {}

    /** @throws InvalidRequest 002 where the body is not one well-formed JSON object */
    public static void requireOneObject(byte[] body) {
        try {
            walk(body);
        } catch (MalformedJson malformed) {
            String message = "The body is not one well-formed JSON object: " + malformed.getMessage();
            throw new InvalidRequest("002", message, null);
        }
    }

    private static void walk(byte[] body) {
        JsonCursor cursor = new JsonCursor(body, 0);
        cursor.enterObject();
        while (cursor.nextMember()) {
            cursor.skipValue();
        }
        cursor.finish();
    }

    /**
     * Where a member's value begins, in a text that is known to be well-formed; {@link #NOT_THERE} without one.
     *
     * @param object the offset of the object
     */
    public static int memberOf(byte[] text, int object, String name) {
        JsonCursor cursor = new JsonCursor(text, object);
        cursor.enterObject();
        while (cursor.nextMember()) {
            if (cursor.nameIs(name)) {
                return cursor.offset();
            }
            cursor.skipValue();
        }
        return NOT_THERE;
    }

    /** The request's id, in a text that is known to be well-formed; null where it has none that is right. */
    public static RequestId requestIdOf(byte[] body) {
        int offset = memberOf(body, 0, "requestId");
        if (offset == NOT_THERE) {
            return null;
        }
        try {
            return RequestIds.read(new JsonCursor(body, offset), body);
        } catch (Irregular wrong) {
            return null;
        }
    }

    /** The id of a request that may be anything; null where it has none that is right. */
    public static RequestId identify(byte[] body) {
        try {
            walk(body);
        } catch (MalformedJson malformed) {
            return null;
        }
        return requestIdOf(body);
    }
}
