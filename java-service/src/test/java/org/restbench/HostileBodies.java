package org.restbench;

import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Bodies that cost much more memory than they are long, each in a way of its own. */
final class HostileBodies {
    private static final int MANY = 200_000;

    /** With what each is: elements of one digit, a name for each few bytes, escapes, rows, a product, a wrong end. */
    static final List<String> ALL = List.of(
            elementTimesRow("1,".repeat(MANY) + "1", 1 + MANY),
            "{" + names() + "\"requestId\":1}",
            elementTimesRow("\\u0031,".repeat(MANY / 4) + "1", 1 + MANY / 4),
            "{\"requestId\":1,\"matrixOne\":{\"columnCount\":1,\"rows\":[" + rows(50_000)
                    + "]},\"matrixTwo\":{\"columnCount\":1,\"rows\":[{\"value\":\"1\"}]}}",
            columnTimesRow(900),
            elementTimesRow("1,".repeat(MANY) + "x", 1 + MANY));

    private HostileBodies() {}

    /** One element times a row of these values. */
    static String elementTimesRow(String values, int columns) {
        return "{\"requestId\":1,\"matrixOne\":{\"columnCount\":1,\"rows\":[{\"value\":\"1\"}]},"
                + "\"matrixTwo\":{\"columnCount\":" + columns + ",\"rows\":[{\"value\":\"" + values + "\"}]}}";
    }

    private static String names() {
        return IntStream.range(0, MANY / 2)
                .mapToObj(i -> "\"" + Integer.toString(i, 36) + "\":1,")
                .collect(Collectors.joining());
    }

    private static String rows(int count) {
        return String.join(",", Collections.nCopies(count, "{\"value\":\"1\"}"));
    }

    /** A short body that asks for n × n elements. */
    static String columnTimesRow(int n) {
        return "{\"requestId\":1,\"matrixOne\":{\"columnCount\":1,\"rows\":[" + rows(n)
                + "]},\"matrixTwo\":{\"columnCount\":" + n + ",\"rows\":[{\"value\":\"" + "1,".repeat(n - 1)
                + "1\"}]}}";
    }
}
