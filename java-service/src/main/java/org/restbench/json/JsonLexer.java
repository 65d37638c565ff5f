package org.restbench.json;

/**
 * Where the tokens of a JSON text end: strings, numbers and literals of RFC 8259 over UTF-8 bytes, nothing more
 * lenient. Well-formed UTF-8 and paired surrogates are part of it. No state: every method takes an offset and returns
 * the one behind the token, or throws {@link MalformedJson}.
 */
final class JsonLexer {
    private final byte[] text;

    JsonLexer(byte[] text) {
        this.text = text;
    }

    /** The byte at an offset; 0, which no token may hold, behind the end. */
    byte at(int offset) {
        return offset < text.length ? text[offset] : 0;
    }

    int skipSpace(int offset) {
        int next = offset;
        for (byte b = at(next); b == ' ' || b == '\n' || b == '\r' || b == '\t'; b = at(next)) {
            next++;
        }
        return next;
    }

    /** From an opening quote to behind the closing one. */
    int string(int offset) {
        int next = offset + 1;
        for (byte b = at(next); b != '"'; b = at(next)) {
            if (b == '\\') {
                next = escape(next);
            } else if (b >= ' ') {
                next++;
            } else if (b < 0) {
                next = multiByte(next);
            } else {
                throw malformed(next < text.length ? "a control character in a string" : "the text is cut off", next);
            }
        }
        return next + 1;
    }

    private int escape(int offset) {
        byte kind = at(offset + 1);
        if (kind != 'u') {
            if (kind <= 0 || "\"\\/bfnrt".indexOf(kind) < 0) {
                throw malformed("an unknown escape", offset);
            }
            return offset + 2;
        }
        int unit = hex(offset + 2);
        if (Character.isHighSurrogate((char) unit) && at(offset + 6) == '\\' && at(offset + 7) == 'u') {
            if (Character.isLowSurrogate((char) hex(offset + 8))) {
                return offset + 12;
            }
        }
        if (Character.isSurrogate((char) unit)) {
            throw malformed("a lone surrogate", offset);
        }
        return offset + 6;
    }

    private int hex(int offset) {
        int unit = 0;
        for (int i = offset; i < offset + 4; i++) {
            int digit = at(i) < 0 ? -1 : Character.digit(at(i), 16);
            if (digit < 0) {
                throw malformed("an escape without four hexadecimal digits", offset);
            }
            unit = unit << 4 | digit;
        }
        return unit;
    }

    /** One character of two to four bytes: the table of well-formed sequences of Unicode, section 3.9. */
    private int multiByte(int offset) {
        int lead = at(offset) & 0xff;
        int second = at(offset + 1) & 0xff;
        int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        int lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        int highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        boolean good = lead >= 0xc2 && lead <= 0xf4 && second >= lowest && second <= highest;
        for (int i = 2; i < length; i++) {
            good &= (at(offset + i) & 0xc0) == 0x80;
        }
        if (!good) {
            throw malformed("invalid UTF-8", offset);
        }
        return offset + length;
    }

    /** A number, from its sign or first digit to behind its last digit. */
    int number(int offset) {
        int next = at(offset) == '-' ? offset + 1 : offset;
        next = at(next) == '0' ? next + 1 : digits(next);
        if (at(next) == '.') {
            next = digits(next + 1);
        }
        if (at(next) == 'e' || at(next) == 'E') {
            byte sign = at(next + 1);
            next = digits(sign == '+' || sign == '-' ? next + 2 : next + 1);
        }
        return next;
    }

    private int digits(int offset) {
        int next = offset;
        while (at(next) >= '0' && at(next) <= '9') {
            next++;
        }
        if (next == offset) {
            throw malformed("not a JSON value", offset);
        }
        return next;
    }

    int literal(int offset, String word) {
        for (int i = 0; i < word.length(); i++) {
            if (at(offset + i) != word.charAt(i)) {
                throw malformed("not a JSON value", offset);
            }
        }
        return offset + word.length();
    }

    static MalformedJson malformed(String what, int offset) {
        return new MalformedJson(what, offset);
    }
}
