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
