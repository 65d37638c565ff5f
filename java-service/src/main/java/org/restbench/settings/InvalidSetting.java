package org.restbench.settings;

/** A setting the service cannot start with: one line with the variable, its value and what is allowed. */
public final class InvalidSetting extends RuntimeException {
    public InvalidSetting(String variable, String value, String allowed) {
        super(variable + "=" + value + ": must be " + allowed, null, false, false);
    }
}
