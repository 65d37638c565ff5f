package org.restbench.codec;

import java.util.Arrays;
import org.restbench.json.JsonCursor;
import org.restbench.memory.MemoryBudget;

/** A growing array of 64-bit integers, filled from lists of decimal numbers. The one place that knows such lists. */
final class Elements {
    private static final int FEW = 16;

    /** One MiB of them. */
    private static final int WORTH_A_COPY = 1 << 17;

    /** Numbers of up to this many digits fit 32 bits. */
    private static final int INT_DIGITS = 9;

    /** And of up to this many 64 bits: no check for overflow. */
    private static final int SURELY_FIT_DIGITS = 18;

    private final MemoryBudget.Hold memory;
    private long[] values = new long[FEW];
    private int size;
    /** Without memory: how many were dropped so far. */
    private int dropped;

    /** @param memory of the request, which the array takes its own from; null to count the elements and keep none */
    Elements(MemoryBudget.Hold memory) {
        this.memory = memory;
        if (memory != null) {
            memory.grow(FEW * Long.BYTES);
        }
    }

    int size() {
        return dropped + size;
    }

    /** The values read so far from index 0, with room behind them. Not a copy. */
    long[] values() {
        return values;
    }

    /** Forgets the values from an index on. */
    void truncate(int newSize) {
        size = memory == null ? 0 : newSize;
        dropped = newSize - size;
    }

    void add(long value) {
        if (size == values.length) {
            makeRoom();
        }
        values[size++] = value;
    }

    private void makeRoom() {
        if (memory == null) {
            dropped += size;
            size = 0;
        } else {
            reserve(size * 2L);
        }
    }

    /** Makes room for this many values in all, so that growing does not copy. */
    void reserve(long capacity) {
        if (capacity > values.length) {
            resize((int) Math.min(capacity, Integer.MAX_VALUE - 8));
        }
    }

    /** Gives back the room behind the values, where that is worth a copy. */
    void trim() {
        if (values.length - size > WORTH_A_COPY) {
            resize(size);
        }
    }

    private void resize(int capacity) {
        memory.grow((long) capacity * Long.BYTES);
        long before = (long) values.length * Long.BYTES;
        values = Arrays.copyOf(values, capacity);
        memory.shrink(before);
    }

    /**
     * Reads the elements of the string that comes next. Nearly always they stand in the body as they are; a string with
     * escapes is unescaped first.
     *
     * @throws Irregular at the first element that is no 64-bit integer; those before it have been added
     */
    void addString(JsonCursor cursor, byte[] body) {
        int before = size();
        int start = cursor.offset() + 1;
        try {
            cursor.moveTo(addList(body, start) + 1);
        } catch (Irregular escapedOrWrong) {
            truncate(before);
            byte[] unescaped = cursor.readBytes();
            byte[] quoted = Arrays.copyOf(unescaped, unescaped.length + 1);
            quoted[unescaped.length] = '"';
            if (addList(quoted, 0) != unescaped.length) { // a quote within: the last element is not all of it
                truncate(size() - 1);
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
        int next = addPlain(text, offset);
        while (next >= 0) {
            int end = addElement(text, next);
            if (text[end] == '"') {
                return end;
            }
            next = addPlain(text, end + 1);
        }
        return ~next;
    }

    /**
     * Reads elements, while there is room, that are short plain numbers, which nearly all are.
     *
     * @return the offset of the first other one; where there is none, that of the closing quote, complemented
     */
    private int addPlain(byte[] text, int offset) {
        long[] room = values;
        int count = size;
        int from = offset;
        while (count < room.length) {
            int to = from;
            int value = 0; // wraps where there are many digits, and is not used then
            for (int digit = at(text, to) - '0'; digit >= 0 && digit <= 9; digit = at(text, to) - '0') {
                value = value * 10 + digit;
                to++;
            }
            if (to == from || to - from > INT_DIGITS || !endsElement(at(text, to))) {
                break;
            }
            room[count++] = value;
            if (text[to] == '"') {
                size = count;
                return ~to;
            }
            from = to + 1;
        }
        size = count;
        return from;
    }

    private static boolean endsElement(byte next) {
        return next == ',' || next == '"';
    }

    /** Adds one element, whatever its sign, spaces and length; the offset of the comma or quote behind it. */
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
        if (!endsElement(at(text, end))) {
            throw Irregular.FOUND;
        }
        boolean surelyFits = to > first && to - first <= SURELY_FIT_DIGITS;
        add(surelyFits ? negative ? -value : value : Integers.parse(text, from, to));
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
