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
    /** The server, once it serves. */
    public interface Listener {
        int port();
    }
}
