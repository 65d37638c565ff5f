package org.restbench.codec;

import org.restbench.json.JsonCursor;

/**
 * The faults one matrix of a well-formed request can have, a method a code. Each throws {@link MatrixFault} at the
 * first.
 */
final class MatrixFaults {
    private final byte[] body;
    private final String name;
    private final int matrix;

    /**
     * @param name the member's, for messages
     * @param matrix the offset of its value, negative where it is missing
     */
    MatrixFaults(byte[] body, String name, int matrix) {
        this.body = body;
        this.name = name;
        this.matrix = matrix;
    }

    /** What a row's check is given: its place for messages, and the offset of its value. */
    @FunctionalInterface
    private interface RowCheck {
        void check(String place, int offset);
    }

    /** 003: members are there, not empty and of the right type. */
    void requireShape() {
        require(matrix >= 0 && kind(matrix) == '{', "003", name + ": must be an object with columnCount and rows");
        int columnCount = RequestBody.memberOf(body, matrix, "columnCount");
        require(
                columnCount >= 0 && isCount(columnCount),
                "003",
                name + ".columnCount: must be an integer of at least 1");
        int rows = RequestBody.memberOf(body, matrix, "rows");
        boolean filled = rows >= 0 && kind(rows) == '[' && !isEmptyArray(rows);
        require(filled, "003", name + ".rows: must be an array of at least one row");
        eachRow((place, row) -> {
            require(kind(row) == '{', "003", place + ": must be an object with value");
            int value = RequestBody.memberOf(body, row, "value");
            require(
                    value >= 0 && isFilled(value),
                    "003",
                    place + ".value: must be a non-empty string or array of integers");
        });
    }

    /** 005: every element is a 64-bit integer. */
    void requireIntegers() {
        eachRow((place, row) -> {
            Elements elements = new Elements(null);
            try {
                addRow(elements, row);
            } catch (Irregular wrong) {
                String element = place + ".value[" + elements.size() + "]";
                throw new MatrixFault("005", element + ": must be an integer that fits 64 bits");
            }
        });
    }

    /** 004: every row has as many values as columnCount says. */
    void requireWidths() {
        int columnCount = RequestBody.memberOf(body, matrix, "columnCount");
        eachRow((place, row) -> {
            Elements elements = new Elements(null);
            addRow(elements, row);
            int values = elements.size();
            require(
                    isNumber(columnCount, values),
                    "004",
                    place + ": " + values + " values, columnCount is " + shown(columnCount));
        });
    }

    private void addRow(Elements elements, int row) {
        int value = RequestBody.memberOf(body, row, "value");
        JsonCursor cursor = new JsonCursor(body, value);
        if (kind(value) == '"') {
            elements.addString(cursor, body);
        } else {
            elements.addArray(cursor, body);
        }
    }

    private void eachRow(RowCheck check) {
        JsonCursor cursor = new JsonCursor(body, RequestBody.memberOf(body, matrix, "rows"));
        cursor.enterArray();
        for (int row = 0; cursor.nextElement(); row++) {
            check.check(name + ".rows[" + row + "]", cursor.offset());
            cursor.skipValue();
        }
    }

    private byte kind(int offset) {
        return body[offset];
    }

    private boolean isEmptyArray(int array) {
        JsonCursor cursor = new JsonCursor(body, array);
        cursor.enterArray();
        return !cursor.nextElement();
    }

    private boolean isFilled(int value) {
        return kind(value) == '"' ? body[value + 1] != '"' : kind(value) == '[' && !isEmptyArray(value);
    }

    /** An integer of at least 1, however large: no sign, fraction or exponent, and not 0. */
    private boolean isCount(int offset) {
        byte first = kind(offset);
        int end = first >= '1' && first <= '9' ? new JsonCursor(body, offset).skipNumber() : offset;
        boolean digitsOnly = end > offset;
        for (int i = offset; i < end; i++) {
            digitsOnly &= body[i] >= '0' && body[i] <= '9';
        }
        return digitsOnly;
    }

    private boolean isNumber(int columnCount, int expected) {
        try {
            return Integers.read(new JsonCursor(body, columnCount), body) == expected;
        } catch (Irregular larger) {
            return false;
        }
    }

    /**
     * A columnCount for a message: digits only, as {@link #isCount} held, and no more of them than a 64-bit integer
     * has.
     */
    private String shown(int columnCount) {
        try {
            return Long.toString(Integers.read(new JsonCursor(body, columnCount), body));
        } catch (Irregular larger) {
            return "larger than 64 bits";
        }
    }

    private static void require(boolean right, String code, String message) {
        if (!right) {
            throw new MatrixFault(code, message);
        }
    }
}
