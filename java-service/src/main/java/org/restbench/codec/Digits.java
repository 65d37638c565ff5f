package org.restbench.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import tools.jackson.core.io.NumberOutput;

/**
 * Decimal numbers in text, eight bytes at a time: a word of 64 bits holds as many characters, the first in its lowest
 * byte. Nothing here branches on how many digits a number has, which no processor foresees.
 */
final class Digits {
    /** A word of an array of bytes, at any offset. */
    static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    static final long EACH_BYTE = 0x0101_0101_0101_0101L;
    static final long HIGH_BITS = 0x80 * EACH_BYTE;

    /** Room that {@link #put} needs. */
    static final int MOST_BYTES = 24;

    private static final long ZEROS = '0' * EACH_BYTE;

    /** A byte above 9 gets its highest bit from this. */
    private static final long UP_TO_NINE = 0x76 * EACH_BYTE;

    /** Below it all numbers have up to eight digits. */
    private static final int FEW_BITS = 26;

    private Digits() {}

    /** How many digits a word begins with, 0 to 8. */
    static int count(long word) {
        long digits = word ^ ZEROS;
        return Long.numberOfTrailingZeros((digits + UP_TO_NINE | digits) & HIGH_BITS) / Byte.SIZE;
    }

    /** The number that a word begins with. @param count its digits, at least 1 */
    static long value(long word, int count) {
        long digits = (word ^ ZEROS) << Long.SIZE - Byte.SIZE * count; // zeros before it, nothing behind
        long pairs = digits * (10 << 8 | 1) >>> 8 & 0x00ff_00ff_00ff_00ffL;
        long fours = pairs * (100 << 16 | 1) >>> 16 & 0x0000_ffff_0000_ffffL;
        return fours * (10_000L << 32 | 1) >>> 32;
    }

    /**
     * Writes a number; of the {@link #MOST_BYTES} from its beginning, those behind it may be written too.
     *
     * @return the offset behind it
     */
    static int put(long number, byte[] text, int offset) {
        if (number >>> FEW_BITS != 0) {
            return NumberOutput.outputLong(number, text, offset);
        }
        long thousands = number / 10_000;
        long fours = thousands | number - thousands * 10_000 << 32;
        long hundreds = fours * 10_486 >>> 20 & 0x0000_007f_0000_007fL; // 10486 / 2^20 is a hundredth, closely enough
        long pairs = hundreds | fours - hundreds * 100 << 16;
        long tens = pairs * 103 >>> 10 & 0x000f_000f_000f_000fL; // 103 / 2^10 is a tenth, closely enough
        long digits = tens | pairs - tens * 10 << 8;
        int leading = Long.numberOfTrailingZeros(digits | 1L << 56) / Byte.SIZE; // of 0 the last digit stays
        WORDS.set(text, offset, (digits | ZEROS) >>> Byte.SIZE * leading);
        return offset + Long.BYTES - leading;
    }
}
