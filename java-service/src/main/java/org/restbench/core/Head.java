package org.restbench.core;

import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * The head of a request: what precedes the body.
 *
 * @param rawPath as it was sent, without the query
 * @param rawQuery as it was sent, null where there is none
 * @param contentType null where there is none
 * @param declaredBytes length of the body, 0 where there is no body, -1 where the length is not known
 * @param isWanted whether the client still waits, as far as the framework can tell
 * @param headers the value of any header by its name, null where there is none
 */
public record Head(
        String method,
        String rawPath,
        String rawQuery,
        String contentType,
        long declaredBytes,
        BooleanSupplier isWanted,
        UnaryOperator<String> headers) {
    /** {@link #isWanted} of a request that is answered at once. */
    public static final BooleanSupplier ALWAYS_WANTED = () -> true;
}
