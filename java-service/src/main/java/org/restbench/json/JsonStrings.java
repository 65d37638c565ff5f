package org.restbench.json;

import java.nio.charset.StandardCharsets;

/** The text of JSON strings: from their escaped bytes and back. */
public final class JsonStrings {
    private JsonStrings() {}

    /** The text between two quotes of a well-formed JSON text, the quotes at {@code from - 1} and {@code to}. */
    static String decode(byte[] text, int from, int to) {
        String raw = new String(text, from, to - from, StandardCharsets.UTF_8);
        int escape = raw.indexOf('\\');
        if (escape < 0) {
            return raw;
        }
        StringBuilder plain = new StringBuilder(raw.length());
        int start = 0;
        for (; escape >= 0; escape = raw.indexOf('\\', start)) {
            plain.append(raw, start, escape);
            char kind = raw.charAt(escape + 1);
            plain.append(kind == 'u' ? (char) Integer.parseInt(raw, escape + 2, escape + 6, 16) : unescaped(kind));
            start = escape + (kind == 'u' ? 6 : 2);
        }
        return plain.append(raw, start, raw.length()).toString();
    }

    /** Whether there is an escape between two quotes of a text. */
    static boolean isEscaped(byte[] text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text[i] == '\\') {
                return true;
            }
        }
        return false;
    }

    /** As {@link #decode}, in UTF-8 and with no other memory than the result's. */
    static byte[] unescape(byte[] text, int from, int to) {
        byte[] plain = new byte[unescape(text, from, to, null)];
        unescape(text, from, to, plain);
        return plain;
    }

    /** @param plain null to be told its length only */
    private static int unescape(byte[] text, int from, int to, byte[] plain) {
        int length = 0;
        for (int next = from; next < to; ) {
            int bytes = 1;
            int raw = 1;
            int character = text[next];
            if (character == '\\') {
                raw = rawLength(text, next);
                character = escaped(text, next, raw);
                bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
            }
            if (plain != null) {
                write(character, bytes, plain, length);
            }
            next += raw;
            length += bytes;
        }
        return length;
    }

    private static int rawLength(byte[] text, int escape) {
        if (text[escape + 1] != 'u') {
            return 2;
        }
        return Character.isHighSurrogate((char) unit(text, escape)) ? 12 : 6;
    }

    private static int escaped(byte[] text, int escape, int rawLength) {
        return switch (rawLength) {
            case 2 -> unescaped((char) text[escape + 1]);
            case 6 -> unit(text, escape);
            default -> Character.toCodePoint((char) unit(text, escape), (char) unit(text, escape + 6));
        };
    }

    private static int unit(byte[] text, int escape) {
        int unit = 0;
        for (int i = escape + 2; i < escape + 6; i++) {
            unit = unit << 4 | Character.digit(text[i], 16);
        }
        return unit;
    }

    private static void write(int character, int bytes, byte[] plain, int at) {
        if (bytes == 1) {
            plain[at] = (byte) character;
            return;
        }
        int lead = 0xf00 >> bytes & 0xff;
        plain[at] = (byte) (lead | character >> 6 * (bytes - 1));
        for (int i = 1; i < bytes; i++) {
            plain[at + i] = (byte) (0x80 | character >> 6 * (bytes - 1 - i) & 0x3f);
        }
    }

    private static char unescaped(char kind) {
        return switch (kind) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> kind;
        };
    }

    /** The text as a JSON string with its quotes, escaped as {@code JSON.stringify} does. */
    public static String quote(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        text.chars().forEach(unit -> appendEscaped(quoted, (char) unit));
        return quoted.append('"').toString();
    }

    private static void appendEscaped(StringBuilder quoted, char unit) {
        switch (unit) {
            case '"' -> quoted.append("\\\"");
            case '\\' -> quoted.append("\\\\");
            case '\b' -> quoted.append("\\b");
            case '\f' -> quoted.append("\\f");
            case '\n' -> quoted.append("\\n");
            case '\r' -> quoted.append("\\r");
            case '\t' -> quoted.append("\\t");
            default -> appendPlainOrControl(quoted, unit);
        }
    }

    private static void appendPlainOrControl(StringBuilder quoted, char unit) {
        if (unit < ' ') {
            quoted.append(String.format("\\u%04x", (int) unit));
        } else {
            quoted.append(unit);
        }
    }
}
