package org.restbench.settings;

import java.util.regex.Pattern;

/** A setting the service cannot start with: one line with the variable, its value and what is allowed. */
public final class InvalidSetting extends RuntimeException {
    private static final Pattern UNPRINTABLE = Pattern.compile("\\p{Cntrl}");

    public InvalidSetting(String variable, String value, String allowed) {
        this(variable + "='" + escaped(value) + "'", allowed);
    }

    /** @param what the variable alone, as its value may hold a password */
    InvalidSetting(String what, String allowed) {
        super(what + ": must be " + allowed, null, false, false);
    }

    /** Without what would begin another line or do something to a terminal. */
    private static String escaped(String value) {
        return UNPRINTABLE
                .matcher(value)
                .replaceAll(
                        found -> String.format("\\\\x%02x", (int) found.group().charAt(0)));
    }
}
