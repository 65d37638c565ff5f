package org.restbench.workload.matrix;

import org.restbench.json.JsonCursor;
import org.restbench.json.MalformedJson;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * Says what is wrong with a request that {@link MatrixReader} turned away. Plain and slow: it reads the body once for
 * each code, in the contract's order (002, 003, 005, 004), and keeps nothing of it in memory, however large it is.
 */
final class FaultFinder {
    private static final int NOT_THERE = -1;

    private final byte[] body;

    private FaultFinder(byte[] body) {
        this.body = body;
    }

    /**
     * @param kernelKnown whether the query asks for a kernel that there is
     * @return the first fault in the contract's order
     * @throws IllegalStateException where there is none: then the reader was wrong to turn the request away
     */
    static InvalidRequest find(byte[] body, boolean kernelKnown) {
        FaultFinder finder = new FaultFinder(body);
        try {
            finder.requireOneObject();
        } catch (MalformedJson malformed) {
            return new InvalidRequest(
                    "002", "The body is not one well-formed JSON object: " + malformed.getMessage(), null);
        }
        RequestId id = finder.requestId();
        try {
            finder.requireMembers(id, kernelKnown);
            finder.requireMatrices();
        } catch (MatrixFault fault) {
            return new InvalidRequest(fault.code(), fault.getMessage(), id);
        }
        throw new IllegalStateException("the reader turned a request away in which nothing is wrong");
    }

    /** The id of a request that may be anything; null where it has none that is right. */
    static RequestId requestIdOf(byte[] body) {
        FaultFinder finder = new FaultFinder(body);
        try {
            finder.requireOneObject();
        } catch (MalformedJson malformed) {
            return null;
        }
        return finder.requestId();
    }

    private void requireOneObject() {
        JsonCursor cursor = new JsonCursor(body, 0);
        cursor.enterObject();
        while (cursor.nextMember()) {
            cursor.skipValue();
        }
        cursor.finish();
    }

    private RequestId requestId() {
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

    private void requireMembers(RequestId id, boolean kernelKnown) {
        if (!kernelKnown) {
            throw new MatrixFault("003", "kernel: must be given at most once, as loops or native");
        }
        if (id == null) {
            throw new MatrixFault("003", "requestId: must be a string of 1 to 128 characters or a 64-bit integer");
        }
        matrix("matrixOne").requireShape();
        matrix("matrixTwo").requireShape();
    }

    private void requireMatrices() {
        matrix("matrixOne").requireIntegers();
        matrix("matrixTwo").requireIntegers();
        matrix("matrixOne").requireWidths();
        matrix("matrixTwo").requireWidths();
    }

    private MatrixFaults matrix(String name) {
        return new MatrixFaults(body, name, memberOf(body, 0, name));
    }

    /**
     * Where a member's value begins, in a text that is known to be well-formed.
     *
     * @param object the offset of the object
     * @return {@code -1} where it has no such member
     */
    static int memberOf(byte[] text, int object, String name) {
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
}
