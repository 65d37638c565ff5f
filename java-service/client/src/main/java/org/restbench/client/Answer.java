package org.restbench.client;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A complete answer of the service: HTTP status, headers and body. */
public record Answer(int status, Map<String, List<String>> headers, byte[] body) {
    /** The first value of a header; the case of the name does not matter. Empty where the answer has no such header. */
    public Optional<String> header(String name) {
        return headers.entrySet().stream()
                .filter(header -> name.equalsIgnoreCase(header.getKey()))
                .flatMap(header -> header.getValue().stream())
                .findFirst();
    }
}
