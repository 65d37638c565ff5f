package org.restbench.workload.matrix;

import java.math.BigInteger;

/**
 * A matrix of 64-bit integers.
 *
 * @param rows at least 1
 * @param columns at least 1
 * @param values rows × columns, row-major, from index 0; the array may be longer. Shared, not copied: nothing writes to
 *     it once the matrix is handed on.
 */
public record Matrix(int rows, int columns, long[] values) {
    public int size() {
        return rows * columns;
    }

    /** The fewest bits so that every value is from {@code -2^bits} (inclusive) to {@code 2^bits} (exclusive). */
    int bits() {
        long any = 0;
        for (int i = 0; i < size(); i++) {
            any |= values[i] ^ values[i] >> Long.SIZE - 1; // the bits that differ from the sign
        }
        return Long.SIZE - Long.numberOfLeadingZeros(any);
    }

    /** The largest absolute value; that of -2^63 does not fit a long. */
    BigInteger largest() {
        long least = 0;
        long most = 0;
        for (int i = 0; i < size(); i++) {
            least = Math.min(least, values[i]);
            most = Math.max(most, values[i]);
        }
        return BigInteger.valueOf(least).negate().max(BigInteger.valueOf(most));
    }

    /** The most characters, sign included, of a number from {@code -2^bits} to {@code 2^bits} (exclusive). */
    static int characters(int bits) {
        return (int) (bits * Math.log10(2)) + 2; // the digit that this rounds away, and the sign
    }

    /** An upper bound of the characters of each value in decimal. */
    public int characters() {
        return characters(bits());
    }
}
