package org.restbench.codec;

import java.nio.charset.StandardCharsets;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixProduct;

/** Writes a product as JSON: one array of exactly the right size, nothing in between. */
final class MatrixWriter {
    private static final byte[] DIGIT_PAIRS = digitPairs();

    /** 10^0 to 10^18, and what is below every number that has a digit more. */
    private static final long[] POWERS_OF_10 = powersOf10();

    /** 1233 / 2^12 is log10(2), closely enough for 64 bits. */
    private static final int LOG_10_OF_2 = 1233;

    private static final int LOG_BITS = 12;

    private final byte[] bytes;
    private int end;

    private MatrixWriter(int sizeBytes) {
        bytes = new byte[sizeBytes];
    }

    /** {@code {"requestId":"…","rows":[[…],…]}} without white space. */
    static byte[] write(MatrixProduct result) {
        Matrix product = result.product();
        String start = "{\"requestId\":" + RequestIds.asString(result.id()) + ",\"rows\":[";
        byte[] head = start.getBytes(StandardCharsets.UTF_8);
        // each element is followed by a comma or a bracket; each row has an opening bracket and one comma or the last
        // bracket
        long sizeBytes = head.length + digits(product) + product.size() + 2L * product.rows() + 1;
        MatrixWriter writer = new MatrixWriter(Math.toIntExact(sizeBytes));
        System.arraycopy(head, 0, writer.bytes, 0, head.length);
        writer.end = head.length;
        writer.rows(product);
        return writer.bytes;
    }

    private static long digits(Matrix product) {
        long digits = 0;
        long[] values = product.values();
        for (int i = 0; i < product.size(); i++) {
            digits += width(values[i]);
        }
        return digits;
    }

    /** Characters of a number in decimal, its sign included. */
    private static int width(long value) {
        int sign = value < 0 ? 1 : 0;
        long magnitude = (value < 0 ? -value : value) | 1; // 0 has a digit as 1 has; no other number gets one more
        int digitsBefore = (Long.SIZE - Long.numberOfLeadingZeros(magnitude)) * LOG_10_OF_2 >>> LOG_BITS;
        return sign + digitsBefore + (magnitude >= POWERS_OF_10[digitsBefore] ? 1 : 0);
    }

    private void rows(Matrix product) {
        int columns = product.columns();
        long[] values = product.values();
        for (int row = 0; row < product.rows(); row++) {
            bytes[end++] = '[';
            for (int i = row * columns; i < (row + 1) * columns; i++) {
                number(values[i]);
                bytes[end++] = ',';
            }
            bytes[end - 1] = ']';
            bytes[end++] = ',';
        }
        bytes[end - 1] = ']';
        bytes[end] = '}';
    }

    /** Digits from the last to the first, two at a time: a division is what costs here. */
    private void number(long value) {
        end += width(value);
        int at = end;
        long rest = value < 0 ? value : -value; // negative: the lowest number has no positive twin
        while (rest <= -10) {
            int pair = (int) -(rest % 100);
            rest /= 100;
            bytes[--at] = DIGIT_PAIRS[2 * pair + 1];
            bytes[--at] = DIGIT_PAIRS[2 * pair];
        }
        if (rest != 0 || value == 0) {
            bytes[--at] = (byte) ('0' - rest);
        }
        if (value < 0) {
            bytes[--at] = '-';
        }
    }

    private static byte[] digitPairs() {
        byte[] pairs = new byte[200];
        for (int i = 0; i < 100; i++) {
            pairs[2 * i] = (byte) ('0' + i / 10);
            pairs[2 * i + 1] = (byte) ('0' + i % 10);
        }
        return pairs;
    }

    private static long[] powersOf10() {
        long[] powers = new long[20];
        powers[0] = 1;
        for (int exponent = 1; exponent < 19; exponent++) {
            powers[exponent] = 10 * powers[exponent - 1];
        }
        powers[19] = Long.MAX_VALUE;
        return powers;
    }
}
