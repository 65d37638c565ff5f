package org.restbench.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Writes numbers of up to six digits: two steps of three digits from a table, put together in one word whose lowest
 * byte is the first character. No loop over digits, at whose end a processor guesses wrong where lengths vary.
 */
final class SixDigits {
    /** Numbers below it have at most six digits. */
    static final int BOUND = 1_000_000;

    private static final int HALF = 1000;
    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** 2^38 / 1000: its product, shifted back, is the quotient of any number below {@link #BOUND}. */
    private static final long INVERSE_OF_HALF = (1L << 38) / HALF + 1;

    /** The digits of six ASCII characters, and a bit behind the fifth: the last digit is no leading zero. */
    private static final long FIVE_DIGITS = 0x0f_0f0f_0f0fL;

    private static final long SIXTH = 1L << 40;
    private static final int[] THREE_DIGITS = threeDigits();

    private SixDigits() {}

    /** Whether there is room for {@link #write} at an offset. */
    static boolean fit(byte[] text, int offset) {
        return offset <= text.length - Long.BYTES;
    }

    /**
     * Writes a number below {@link #BOUND}, a comma, and zero bytes up to eight bytes from where it begins.
     *
     * @return the offset behind the comma
     */
    static int write(int value, byte[] text, int offset) {
        int upper = (int) (value * INVERSE_OF_HALF >>> 38);
        long digits = THREE_DIGITS[upper] | (long) THREE_DIGITS[value - upper * HALF] << 24;
        int leadingZeros = Long.numberOfTrailingZeros(digits & FIVE_DIGITS | SIXTH) >>> 3;
        WORDS.set(text, offset, (digits | (long) ',' << 48) >>> 8 * leadingZeros);
        return offset + 7 - leadingZeros;
    }

    private static int[] threeDigits() {
        int[] characters = new int[HALF];
        for (int i = 0; i < HALF; i++) {
            characters[i] = '0' + i / 100 | '0' + i / 10 % 10 << 8 | '0' + i % 10 << 16;
        }
        return characters;
    }
}
