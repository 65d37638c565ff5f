package org.restbench.settings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The settings of the workload messages.
 *
 * @param url {@code postgresql://user@host:port/name}, null where there is no database: nothing else counts then
 * @param passwordFile whose first line is the user's password, with nothing around it, null for none
 * @param connections kept to the database
 * @param maxMessageCharacters code points of a message
 * @param receiptSeconds that what was answered to a request with a key is remembered
 * @param freePath on the file system of the database's data, null where the database is elsewhere
 * @param minFreeBytes there, for messages to be taken
 */
public record DatabaseSettings(
        URI url,
        Path passwordFile,
        int connections,
        int maxMessageCharacters,
        int receiptSeconds,
        Path freePath,
        long minFreeBytes) {
    /** Read anew each time, and kept nowhere here; null where there is none. */
    public String password() {
        try {
            return passwordFile == null
                    ? null
                    : Files.readAllLines(passwordFile).stream()
                            .findFirst()
                            .orElse("")
                            .strip();
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
