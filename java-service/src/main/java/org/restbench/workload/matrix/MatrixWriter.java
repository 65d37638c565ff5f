package org.restbench.workload.matrix;

import java.nio.charset.StandardCharsets;
import org.restbench.memory.MemoryBudget;

/** Writes the response's bytes: one array of exactly the right size, nothing in between. */
final class MatrixWriter {
    private static final byte[] DIGIT_PAIRS = digitPairs();

    private final byte[] bytes;
    private int end;

    private MatrixWriter(int sizeBytes) {
        bytes = new byte[sizeBytes];
    }

    /**
     * {@code {"requestId":"…","rows":[[…],…]}} without white space.
     *
     * @param memory that the bytes are taken from
     */
    static byte[] write(MatrixProduct result, MemoryBudget.Hold memory) {
        Matrix product = result.product();
        byte[] head = ("{\"requestId\":" + result.id().asString() + ",\"rows\":[").getBytes(StandardCharsets.UTF_8);
        // each element is followed by a comma or a bracket; each row has an opening bracket and one comma or the last
        // bracket
        long sizeBytes = head.length + digits(product) + product.size() + 2L * product.rows() + 1;
        memory.grow(sizeBytes);
        MatrixWriter writer = new MatrixWriter(Math.toIntExact(sizeBytes));
        System.arraycopy(head, 0, writer.bytes, 0, head.length);
        writer.end = head.length;
        writer.rows(product);
        return writer.bytes;
    }

    private static long digits(Matrix product) {
        long digits = 0;
        for (int i = 0; i < product.size(); i++) {
            digits += width(product.values()[i]);
        }
        return digits;
    }

    /** Characters of a number in decimal, its sign included. */
    private static int width(long value) {
        int sign = value < 0 ? 1 : 0;
        long negative = value < 0 ? value : -value;
        long bound = -10;
        for (int digits = 1; digits < 19; digits++, bound *= 10) {
            if (negative > bound) {
                return digits + sign;
            }
        }
        return 19 + sign;
    }

    private void rows(Matrix product) {
        int columns = product.columns();
        for (int row = 0; row < product.rows(); row++) {
            bytes[end++] = '[';
            for (int i = row * columns; i < (row + 1) * columns; i++) {
                number(product.values()[i]);
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
}
