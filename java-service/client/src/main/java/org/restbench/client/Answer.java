package org.restbench.client;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An answer of the service, whole. */
public record Answer(int status, Map<String, List<String>> headers, byte[] body) {
    /** The first value of a header, in whatever case its name is. */
    public Optional<String> header(String name) {
        return headers.entrySet().stream()
                .filter(header -> name.equalsIgnoreCase(header.getKey()))
                .flatMap(header -> header.getValue().stream())
                .findFirst();
    }
}
