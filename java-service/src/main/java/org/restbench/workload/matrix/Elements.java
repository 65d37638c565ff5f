package org.restbench.workload.matrix;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.restbench.json.JsonCursor;

/** A growing array of 64-bit integers, filled from lists of decimal numbers. The one place that knows such lists. */
final class Elements {
    private long[] values = new long[16];
    private int size;

    int size() {
        return size;
    }

    /** The values read so far from index 0, with room behind them. Not a copy. */
    long[] values() {
        return values;
    }

    /** Forgets the values from an index on. */
    void truncate(int newSize) {
        size = newSize;
    }

    void add(long value) {
        if (size == values.length) {
            reserve(size * 2L);
        }
        values[size++] = value;
    }

    /** Makes room for this many values in all, so that growing does not copy. */
    void reserve(long capacity) {
        if (capacity > values.length) {
            values = Arrays.copyOf(values, (int) Math.min(capacity, Integer.MAX_VALUE - 8));
        }
    }

    /**
     * Reads the elements of the string that comes next. Nearly always they stand in the body as they are; a string with
     * escapes is unescaped first.
     *
     * @throws Irregular at the first element that is no 64-bit integer; those before it have been added
     */
    void addString(JsonCursor cursor, byte[] body) {
        int before = size;
        int start = cursor.offset() + 1;
        try {
            cursor.moveTo(addList(body, start) + 1);
        } catch (Irregular escapedOrWrong) {
            truncate(before);
            byte[] unescaped = (cursor.readString() + '"').getBytes(StandardCharsets.UTF_8);
            if (addList(unescaped, 0) != unescaped.length - 1) {
                throw Irregular.FOUND;
            }
        }
    }

    /** Reads the elements of the array that comes next; throws as {@link #addString} does. */
    void addArray(JsonCursor cursor, byte[] body) {
        cursor.enterArray();
        while (cursor.nextElement()) {
            add(Integers.read(cursor, body));
        }
    }

    /**
     * Reads comma-separated integers, each with spaces allowed around it, up to the closing quote.
     *
     * @return the offset of the closing quote
     * @throws Irregular at the first element that is no 64-bit integer; those before it have been added
     */
    private int addList(byte[] text, int offset) {
        int next = offset;
        while (true) {
            int from = skipSpaces(text, next);
            int to = endOfDigits(text, from);
            long value = Integers.parse(text, from, to);
            next = skipSpaces(text, to);
            byte behind = at(text, next);
            if (behind != ',' && behind != '"') {
                throw Irregular.FOUND;
            }
            add(value);
            if (behind == '"') {
                return next;
            }
            next++;
        }
    }

    private static int skipSpaces(byte[] text, int offset) {
        int next = offset;
        while (at(text, next) == ' ') {
            next++;
        }
        return next;
    }

    private static int endOfDigits(byte[] text, int offset) {
        int next = at(text, offset) == '-' ? offset + 1 : offset;
        while (at(text, next) >= '0' && at(text, next) <= '9') {
            next++;
        }
        return next;
    }

    private static byte at(byte[] text, int offset) {
        return offset < text.length ? text[offset] : 0;
    }
}
