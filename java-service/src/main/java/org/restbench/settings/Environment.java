package org.restbench.settings;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;

/** The variables a service is started with, each read with its default and what is allowed. */
record Environment(Map<String, String> variables) {
    /** @throws InvalidSetting where it is no address of a machine */
    String host(String variable, String unset) {
        String host = variables.getOrDefault(variable, unset);
        try {
            InetAddress.getByName(host);
            return host;
        } catch (UnknownHostException unknown) {
            throw new InvalidSetting(variable, host, "an address or the name of this machine");
        }
    }

    /**
     * A file's path, null where the variable is empty.
     *
     * @throws InvalidSetting where no file can be called so
     */
    Path file(String variable, Path unset) {
        String path = variables.get(variable);
        if (path == null) {
            return unset;
        }
        try {
            return path.isEmpty() ? null : Path.of(path);
        } catch (InvalidPathException impossible) {
            throw new InvalidSetting(variable, path, "a file's path, or empty for none");
        }
    }

    /** @throws InvalidSetting where it is no integer from {@code lowest} to {@code highest} */
    int integer(String variable, int unset, int lowest, int highest) {
        return (int) integer(variable, (long) unset, lowest, highest);
    }

    /** As the other, in 64 bits. */
    long integer(String variable, long unset, long lowest, long highest) {
        String value = variables.get(variable);
        if (value == null) {
            return unset;
        }
        try {
            long number = Long.parseLong(value);
            if (number >= lowest && number <= highest) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // told below, as is a number outside the range
        }
        throw new InvalidSetting(variable, value, "an integer from " + lowest + " to " + highest);
    }
}
