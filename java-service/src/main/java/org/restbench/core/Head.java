package org.restbench.core;

import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * What a request says before its body.
 *
 * @param rawPath as it was sent, without the query
 * @param rawQuery as it was sent, null where there is none
 * @param contentType null where there is none
 * @param declaredBytes length of the body, 0 where it has none, -1 where it is not known
 * @param isWanted whether its client still waits, as far as the framework can tell
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
    /** Of a request that is answered at once. */
    public static final BooleanSupplier ALWAYS_WANTED = () -> true;
}
