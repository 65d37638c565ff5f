package org.restbench.settings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The settings of the workload messages.
 *
 * @param url {@code postgresql://user@host:port/name}, null where there is no database: the others have no effect then
 * @param passwordFile file whose first line, without white space around it, is the user's password; null for none
 * @param connections number of connections that are kept to the database
 * @param maxMessageCharacters most code points of a message
 * @param receiptSeconds how long the answer to a request with a key is remembered
 * @param freePath a path on the file system of the database's data, null where the database is elsewhere
 * @param minFreeBytes free bytes on that file system without which no messages are accepted
 */
public record DatabaseSettings(
        URI url,
        Path passwordFile,
        int connections,
        int maxMessageCharacters,
        int receiptSeconds,
        Path freePath,
        long minFreeBytes) {
    /** The password, read from the file each time and not kept here; null where there is no file. */
    public String password() {
        try {
            return passwordFile == null
                    ? null
                    : Files.readAllLines(passwordFile).stream()
                            .findFirst()
                            .orElse("")
                            .strip();
        } catch (CharacterCodingException notUtf8) {
            throw new InvalidSetting("RESTBENCH_DATABASE_PASSWORD_FILE", passwordFile.toString(), "a file in UTF-8");
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
