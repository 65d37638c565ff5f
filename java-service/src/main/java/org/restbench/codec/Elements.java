package org.restbench.codec;

import static org.restbench.codec.BodyText.EACH_BYTE;
import static org.restbench.codec.BodyText.HIGH_BITS;
import static org.restbench.codec.BodyText.WORDS;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.restbench.memory.MemoryBudget;

/** A growing array of 64-bit integers, filled from lists of decimal numbers. The only class that parses such lists. */
final class Elements {
    private static final long COMMAS = ',' * EACH_BYTE;
    private static final long ZERO_DIGITS = '0' * EACH_BYTE;

    /** Added to a word, it sets the highest bit of each byte that is above 9. */
    private static final long ABOVE_9 = (0x80 - 10) * EACH_BYTE;

    private static final int FEW = 16;

    /** Unused elements that are worth a copy to release them: 1 MiB. */
    private static final int WORTH_A_COPY = 1 << 17;

    /** Numbers of up to this many digits fit 32 bits. */
    private static final int INT_DIGITS = 9;

    /** Numbers of up to this many digits fit 64 bits, so that they need no check for overflow. */
    private static final int SURELY_FIT_DIGITS = 18;

    private final MemoryBudget.Hold memory;
    private long[] values = new long[FEW];
    private int kept;
    private int dropped;
    private boolean keeps = true;

    /** @param memory of the request, from which the array takes its memory */
    Elements(MemoryBudget.Hold memory) {
        this.memory = memory;
        memory.grow(FEW * Long.BYTES);
    }

    int size() {
        return dropped + kept;
    }

    /** The values from index 0, with unused room after them. Not a copy. */
    long[] values() {
        return values;
    }

    /** From now on elements are only counted: the request has a fault, so the values are not needed. */
    void keepNone() {
        keeps = false;
    }

    void add(long value) {
        if (kept == values.length) {
            makeRoom();
        }
        values[kept++] = value;
    }

    private void makeRoom() {
        if (keeps) {
            reserve(2L * kept);
        } else {
            dropped += kept;
            kept = 0;
        }
    }

    /** Makes room for this many values in all, so that growing does not copy. */
    void reserve(long capacity) {
        if (capacity > values.length && keeps) {
            resize((int) Math.min(capacity, Integer.MAX_VALUE - 8));
        }
    }

    /** Releases the unused room after the values, where it is large enough to be worth a copy. */
    void trim() {
        if (values.length - kept > WORTH_A_COPY) {
            resize(kept);
        }
    }

    private void resize(int capacity) {
        memory.grow((long) capacity * Long.BYTES);
        long before = (long) values.length * Long.BYTES;
        values = Arrays.copyOf(values, capacity);
        memory.shrink(before);
    }

    /**
     * Adds the elements of the string that is the reader's current token. Nearly always they are read directly from the
     * body; a string with escapes is unescaped first.
     *
     * @param from offset of the string's text, after the quote
     * @return whether each element is a 64-bit integer; those before the first that is none have been added
     */
    boolean addString(JsonReader json, int from) {
        int before = size();
        if (addList(json.body, from)) {
            return true;
        }
        byte[] plain = unescaped(json.body, from, json.endOfString(from - 1, Integer.MAX_VALUE));
        if (plain == null) {
            return false;
        }
        kept = keeps ? before : 0;
        dropped = before - kept;
        return addList(plain, 0);
    }

    /** The text without escapes, null where it has none; an escape that no list can hold becomes {@code x}. */
    private static byte[] unescaped(byte[] body, int from, int to) {
        byte[] plain = new byte[to - from];
        int length = 0;
        for (int i = from; i < to; i++) {
            if (body[i] == '\\') {
                int unit = BodyText.unit(body, i);
                plain[length++] = unit >= ' ' && unit <= '9' && unit != '"' ? (byte) unit : (byte) 'x';
                i += unit < 0 ? 1 : 5;
            } else {
                plain[length++] = body[i];
            }
        }
        return length == plain.length ? null : plain;
    }

    /** Adds a list's elements; returns whether all are 64-bit integers, as {@link #addString}. */
    boolean addText(String list) {
        byte[] text = new byte[list.length() + 1];
        for (int i = 0; i < list.length(); i++) {
            char unit = list.charAt(i);
            text[i] = unit < 0x80 && unit != '"' ? (byte) unit : (byte) 'x';
        }
        text[list.length()] = '"';
        return addList(text, 0);
    }

    /** Adds comma-separated integers, each with spaces allowed around it, up to the closing quote. */
    private boolean addList(byte[] text, int from) {
        int next = addPlain(text, addPairs(text, from));
        while (next >= 0) {
            next = addElement(text, next);
            if (next < 0) {
                return false;
            }
            next = text[next] == '"' ? -1 : addPlain(text, next + 1);
        }
        return true;
    }

    /**
     * Adds elements in pairs, while there is room and both have one or two digits and a comma after them, as the
     * study's have. Such a pair fits one word, and no branch depends on how many digits each element has.
     *
     * @return the offset of the first element that was not added
     */
    private int addPairs(byte[] text, int offset) {
        long[] room = values;
        int count = kept;
        int from = offset;
        for (; count < room.length - 1 && from <= text.length - Long.BYTES; count += 2) {
            long word = (long) WORDS.get(text, from); // its first byte is the lowest
            long other = word ^ COMMAS;
            long commas = other - EACH_BYTE & ~other & HIGH_BITS; // correct for the first two commas
            int first = Long.numberOfTrailingZeros(commas) & -Byte.SIZE;
            int end = Long.numberOfTrailingZeros(commas & commas - 1) & -Byte.SIZE;
            int second = end - first - Byte.SIZE;
            long digits = word ^ ZERO_DIGITS;
            long one = digits << -first >>> 48; // tens, 0 where there are none, and ones, a byte each
            long two = digits >>> first + Byte.SIZE << -second >>> 48;
            boolean isShort = ((first - Byte.SIZE | second - Byte.SIZE) & ~Byte.SIZE) == 0;
            if (!isShort || ((one | two | one + ABOVE_9 | two + ABOVE_9) & 0x8080) != 0) {
                break;
            }
            room[count] = 10 * (one & 0xff) + (one >>> Byte.SIZE);
            room[count + 1] = 10 * (two & 0xff) + (two >>> Byte.SIZE);
            from += end / Byte.SIZE + 1;
        }
        kept = count;
        return from;
    }

    /**
     * Adds short numbers without sign and spaces, while there is room.
     *
     * @return the offset of the first element that was not added; negative where the list has ended
     */
    private int addPlain(byte[] text, int offset) {
        long[] room = values;
        int count = kept;
        int from = offset;
        int last = text.length - 2;
        while (count < room.length && from < last) {
            int first = text[from] - '0';
            int second = text[from + 1] - '0';
            int isTwo = (second - 10 & ~second) >>> 31; // no branch: it would often be mispredicted
            int value = first + isTwo * (9 * first + second);
            int to = from + 1 + isTwo;
            byte end = text[to];
            while (end >= '0' && end <= '9') {
                value = value * 10 + end - '0'; // wraps where there are many digits, and is not used then
                end = at(text, ++to);
            }
            if (first < 0 || first > 9 || to - from > INT_DIGITS || end != ',' && end != '"') {
                break;
            }
            room[count++] = value;
            if (end == '"') {
                kept = count;
                return -1;
            }
            from = to + 1;
        }
        kept = count;
        return from;
    }

    /** Adds one element of any form. Returns the offset after it, negative where it is no 64-bit integer. */
    private int addElement(byte[] text, int offset) {
        int from = skipSpaces(text, offset);
        boolean negative = at(text, from) == '-';
        int first = negative ? from + 1 : from;
        int to = first;
        long value = 0; // wraps where there are many digits, and is not used then
        for (int digit = at(text, to) - '0'; digit >= 0 && digit <= 9; digit = at(text, to) - '0') {
            value = value * 10 + digit;
            to++;
        }
        int end = skipSpaces(text, to);
        if (to == first || at(text, end) != ',' && at(text, end) != '"') {
            return -1;
        }
        if (to - first > SURELY_FIT_DIGITS) {
            try {
                add(Long.parseLong(new String(text, from, to - from, StandardCharsets.US_ASCII)));
            } catch (NumberFormatException tooLarge) {
                return -1;
            }
        } else {
            add(negative ? -value : value);
        }
        return end;
    }

    private static int skipSpaces(byte[] text, int offset) {
        int next = offset;
        while (at(text, next) == ' ') {
            next++;
        }
        return next;
    }

    private static byte at(byte[] text, int offset) {
        return offset < text.length ? text[offset] : 0;
    }
}
