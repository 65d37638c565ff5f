package org.restbench.framework;

import org.springframework.boot.WebApplicationType;

/**
 * A web framework and its server: what parses HTTP and calls the core.
 *
 * @param name that it is chosen by
 * @param server name and version of what parses HTTP
 * @param kind how Spring starts it
 * @param configuration its beans, a {@link Listener} among them
 */
public record Framework(String name, String server, WebApplicationType kind, Class<?> configuration) {
    /** Connections that wait in the kernel to be accepted: as many under every framework. */
    static final int BACKLOG = 1024;

    /** Largest head of a request where application.yml does not say it. */
    static final int MAX_HEADER_BYTES = 16 << 10;

    /** The server, once it serves. */
    public interface Listener {
        int port();
    }
}
