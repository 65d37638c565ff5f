package org.restbench.client.calls;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.codec.Matrix;
import org.restbench.client.codec.MatrixProduct;
import org.restbench.client.codec.NpbResult;
import tools.jackson.databind.JsonNode;

/**
 * What the program needs to know of a workload.
 *
 * @param cxf makes a proxy of CXF for a URL
 * @param input makes an input of a request body in its REST form
 * @param withId copies an input with another request id
 * @param isRight whether an output is right; the expected product is null where none is given
 * @param id the request id of an output
 * @param shown the part of an output that is logged, or null
 */
record Workload<I, O>(
        Codec<I, O> json,
        Codec<I, O> soap,
        Function<String, CxfProxy<I, O>> cxf,
        Function<JsonNode, I> input,
        BiFunction<I, String, I> withId,
        BiPredicate<O, Matrix> isRight,
        Function<O, String> id,
        Function<O, NpbResult> shown) {
    /** Makes an expected product of an element of the file with expected products. */
    static final Function<JsonNode, Matrix> EXPECTED = Workload::product;

    static final Workload<MatrixProduct.Input, MatrixProduct> MATRIX = new Workload<>(
            MatrixProduct.JSON,
            MatrixProduct.SOAP,
            CxfPorts::matrix,
            body -> new MatrixProduct.Input("", operand(body, "matrixOne"), operand(body, "matrixTwo")),
            (input, id) -> new MatrixProduct.Input(id, input.one(), input.two()),
            (product, expected) -> expected == null || product.rows().equals(expected),
            MatrixProduct::requestId,
            product -> null);

    static final Workload<NpbResult.Input, NpbResult> NPB = new Workload<>(
            NpbResult.JSON,
            NpbResult.SOAP,
            CxfPorts::npb,
            body -> new NpbResult.Input("", text(body, "kernel"), text(body, "class"), flag(body, "generate")),
            (input, id) -> new NpbResult.Input(id, input.kernel(), input.npbClass(), input.generate()),
            (result, none) -> result.verified(),
            NpbResult::requestId,
            result -> result);

    static Workload<?, ?> of(String name) {
        return switch (name) {
            case "matrix" -> MATRIX;
            case "npb" -> NPB;
            default -> throw new IllegalArgumentException("workload: must be matrix or npb, is " + name);
        };
    }

    private static Matrix operand(JsonNode body, String name) {
        List<String> rows = body.required(name)
                .required("rows")
                .valueStream()
                .map(row -> row.required("value").asString())
                .toList();
        return Matrix.parse(rows, Loop.IN_ORDER);
    }

    private static Matrix product(JsonNode rows) {
        long[] values = rows.valueStream()
                .flatMap(JsonNode::valueStream)
                .mapToLong(JsonNode::asLong)
                .toArray();
        return new Matrix(rows.required(0).size(), values);
    }

    private static String text(JsonNode body, String name) {
        return body.hasNonNull(name) ? body.get(name).asString() : null;
    }

    private static Boolean flag(JsonNode body, String name) {
        return body.hasNonNull(name) ? body.get(name).asBoolean() : null;
    }
}
