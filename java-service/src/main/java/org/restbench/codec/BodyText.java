package org.restbench.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/** Checks that a body must pass before it is read as JSON, and that Jackson does not make. */
final class BodyText {
    static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    static final long EACH_BYTE = 0x0101_0101_0101_0101L;
    static final long HIGH_BITS = 0x80 * EACH_BYTE;
    private static final long BACKSLASHES = '\\' * EACH_BYTE;
    private static final int DECODED_AT_ONCE = 8192;

    private BodyText() {}

    /** Whether Jackson reads the body right: UTF-8, no byte order mark, each escaped surrogate in a pair. */
    static boolean isSound(byte[] body) {
        return !looksEncoded(body) && (isPlain(body) || isUtf8(body) && loneSurrogate(body, 0) < 0);
    }

    /** Whether the body is all ASCII without a backslash, as nearly all bodies are. Looks at eight bytes at a time. */
    private static boolean isPlain(byte[] body) {
        long found = 0;
        int next = 0;
        for (; next <= body.length - Long.BYTES; next += Long.BYTES) {
            long word = (long) WORDS.get(body, next);
            long other = word ^ BACKSLASHES;
            found |= word | other - EACH_BYTE & ~other; // sets the highest bit of a byte that is 0, a backslash
        }
        boolean plain = (found & HIGH_BITS) == 0;
        for (; next < body.length; next++) {
            plain &= body[next] >= 0 && body[next] != '\\';
        }
        return plain;
    }

    /** Whether Jackson would skip a byte order mark, or take the body for UTF-16 or 32 by its first bytes. */
    static boolean looksEncoded(byte[] body) {
        for (int i = 0; i < Math.min(4, body.length); i++) {
            if (body[i] == 0) {
                return true;
            }
        }
        return body.length > 0 && (body[0] & 0xff) >= 0xef; // EF BB BF, FE FF, FF FE; JSON never begins so
    }

    static boolean isUtf8(byte[] body) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer bytes = ByteBuffer.wrap(body);
        CharBuffer characters = CharBuffer.allocate(DECODED_AT_ONCE);
        CoderResult result;
        do {
            characters.clear();
            result = decoder.decode(bytes, characters, true);
        } while (result.isOverflow());
        return !result.isError();
    }

    /** Whether the nesting is too deep: counts the brackets outside of strings, whatever else is wrong. */
    static boolean isTooDeep(byte[] body) {
        int depth = 0;
        boolean inString = false;
        for (int i = 0; i < body.length; i++) {
            switch (body[i]) {
                case '"' -> inString = !inString;
                case '\\' -> i += inString ? 1 : 0;
                case '[', '{' -> depth += inString ? 0 : 1;
                case ']', '}' -> depth -= inString ? 0 : 1;
                default -> {}
            }
            if (depth > Json.MAX_DEPTH) {
                return true;
            }
        }
        return false;
    }

    /**
     * The text with each escaped lone surrogate replaced by a private-use character, a different one for each: Jackson
     * refuses lone surrogates in names as if the text were malformed.
     */
    static byte[] withoutLoneSurrogates(byte[] body) {
        byte[] text = body;
        for (int at = loneSurrogate(body, 0); at >= 0; at = loneSurrogate(body, at + 6)) {
            text = text == body ? body.clone() : text;
            text[at + 2] = 'e'; // U+D800 becomes U+E800, which is for private use
        }
        return text;
    }

    /** The next escape, in well-formed JSON, that is a lone surrogate; -1 where there is none. */
    private static int loneSurrogate(byte[] body, int from) {
        for (int i = from; i < body.length; i++) {
            if (body[i] == '\\') {
                int unit = unit(body, i);
                boolean pair = isBetween(unit, Character.MIN_HIGH_SURROGATE, Character.MAX_HIGH_SURROGATE)
                        && isBetween(unit(body, i + 6), Character.MIN_LOW_SURROGATE, Character.MAX_LOW_SURROGATE);
                if (!pair && isBetween(unit, Character.MIN_SURROGATE, Character.MAX_SURROGATE)) {
                    return i;
                }
                i += pair ? 11 : 1;
            }
        }
        return -1;
    }

    private static boolean isBetween(int unit, char lowest, char highest) {
        return unit >= lowest && unit <= highest;
    }

    /** The UTF-16 unit of an escape such as {@code \}{@code u0031}; negative where there is none. */
    static int unit(byte[] text, int escape) {
        if (escape + 6 > text.length || text[escape] != '\\' || text[escape + 1] != 'u') {
            return -1;
        }
        int unit = 0;
        for (int i = escape + 2; i < escape + 6; i++) {
            unit = unit << 4 | Character.digit(text[i], 16); // stays negative after a byte that is no digit
        }
        return unit;
    }
}
