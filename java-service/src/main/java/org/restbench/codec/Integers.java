package org.restbench.codec;

import org.restbench.json.JsonCursor;

/** 64-bit signed integers in decimal digits. The one place that knows what fits. */
public final class Integers {
    /** Below it a number cannot be multiplied by ten. */
    private static final long LOWEST_TENTH = Long.MIN_VALUE / 10;

    private Integers() {}

    /**
     * The JSON number that comes next; moves behind it.
     *
     * @throws Irregular where it is no number, has a fraction or an exponent, or does not fit 64 bits
     */
    public static long read(JsonCursor cursor, byte[] body) {
        byte first = cursor.peek();
        if (first != '-' && (first < '0' || first > '9')) {
            throw Irregular.FOUND;
        }
        int from = cursor.offset();
        return parse(body, from, cursor.skipNumber());
    }

    /**
     * The 64-bit integer {@code -?[0-9]+} that fills the bytes from {@code from} to {@code to}.
     *
     * @throws Irregular where it is none
     */
    public static long parse(byte[] text, int from, int to) {
        boolean negative = from < to && text[from] == '-';
        int first = negative ? from + 1 : from;
        if (first >= to) {
            throw Irregular.FOUND;
        }
        long value = 0; // negative throughout: the lowest number has no positive twin
        for (int i = first; i < to; i++) {
            int digit = text[i] - '0';
            if (digit < 0 || digit > 9 || value < LOWEST_TENTH) {
                throw Irregular.FOUND;
            }
            value = value * 10 - digit;
            if (value > 0) {
                throw Irregular.FOUND;
            }
        }
        if (!negative && value == Long.MIN_VALUE) {
            throw Irregular.FOUND;
        }
        return negative ? value : -value;
    }
}
