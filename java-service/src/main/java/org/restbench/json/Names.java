package org.restbench.json;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * The names of one object's members, to notice one that comes twice. Keeps only where each stands in the text: at most
 * two bytes for a byte of an object made of nothing but short members, where a set of strings takes fifteen. Names are
 * hashed as polynomials at a random point modulo a prime, so that nobody can choose many with the same hash.
 */
final class Names {
    private static final long PRIME = (1L << 61) - 1;
    private static final long POINT = new SecureRandom().nextLong(1L << 32, PRIME);
    private static final int FEW = 16;
    private static final int FREE = 0;

    private final byte[] text;
    private final JsonLexer lexer;
    private int first;
    /** Offsets of names in places that follow from their hashes; allocated for the second name. */
    private int[] places = {};

    private int count;

    Names(byte[] text, JsonLexer lexer) {
        this.text = text;
        this.lexer = lexer;
    }

    /**
     * Adds the name whose first byte, behind its quote, stands at an offset; false where the object has it already.
     *
     * @param firstOfObject forgets the names of the object before
     */
    boolean add(int offset, boolean firstOfObject) {
        if (firstOfObject) {
            first = offset;
            count = 1;
            return true;
        }
        if (count == 1) {
            clear();
            put(first);
        } else if (count > places.length / 4 * 3) {
            grow();
        }
        count++;
        return put(offset);
    }

    private void clear() {
        if (places.length == FEW) {
            Arrays.fill(places, FREE);
        } else {
            places = new int[FEW];
        }
    }

    private void grow() {
        int[] before = places;
        places = new int[2 * before.length];
        for (int offset : before) {
            if (offset != FREE) {
                put(offset);
            }
        }
    }

    private boolean put(int offset) {
        int mask = places.length - 1;
        int place = (int) hash(offset) & mask;
        while (places[place] != FREE) {
            if (same(places[place], offset)) {
                return false;
            }
            place = place + 1 & mask;
        }
        places[place] = offset;
        return true;
    }

    private boolean same(int one, int two) {
        int oneEnd = end(one);
        int twoEnd = end(two);
        if (JsonStrings.isEscaped(text, one, oneEnd) || JsonStrings.isEscaped(text, two, twoEnd)) {
            return Arrays.equals(JsonStrings.unescape(text, one, oneEnd), JsonStrings.unescape(text, two, twoEnd));
        }
        return Arrays.equals(text, one, oneEnd, text, two, twoEnd);
    }

    private long hash(int offset) {
        int end = end(offset);
        return JsonStrings.isEscaped(text, offset, end)
                ? hash(JsonStrings.unescape(text, offset, end))
                : hash(text, offset, end);
    }

    private static long hash(byte[] unescaped) {
        return hash(unescaped, 0, unescaped.length);
    }

    private static long hash(byte[] bytes, int from, int to) {
        long hash = 1;
        for (int i = from; i < to; i++) {
            hash = timesPoint(hash) + (bytes[i] & 0xff);
        }
        return hash % PRIME;
    }

    /** Below 2^61 + 2^3, as is what it is given plus a byte. */
    private static long timesPoint(long hash) {
        long high = Math.multiplyHigh(hash, POINT);
        long low = hash * POINT;
        long sum = (low & PRIME) + (low >>> 61 | high << 3);
        return (sum & PRIME) + (sum >>> 61);
    }

    private int end(int offset) {
        return lexer.string(offset - 1) - 1;
    }
}
